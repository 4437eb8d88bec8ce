"""The contracts of doctor and diagnose: answers fit docs/schema (of real texts in `test_diagnose`), pages name every field."""

import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Run, clock
from jsonschema import Draft202012Validator, FormatChecker

from compatkb.doctor.diagnose import diagnose
from compatkb.doctor.machine import Graphics, Installed, Machine
from compatkb.doctor.verdict import examine
from compatkb.output.diagnosis import diagnosis_json, present_diagnosis
from compatkb.output.doctor_report import examination_json, present_examination
from compatkb.output.documents import SCHEMA
from compatkb.store.reader import Snapshot

DAY = date(2026, 11, 21)
NAMES = ("doctor", "diagnose")
CONTRACTS: dict[str, dict[str, Any]] = {
    name: json.loads((ROOT / f"docs/schema/{name}.schema.json").read_text(encoding="utf-8")) for name in NAMES
}
RESOLVE: dict[str, Any] = json.loads((ROOT / "docs/schema/resolve.schema.json").read_text(encoding="utf-8"))
INTEL = Graphics("0000:03:00.0", "8086", "56a0", "i915")
XPU = (Installed("torch", "2.8.0+xpu"), Installed("torchvision", "0.23.0+xpu"))
MACHINES = {
    "nothing": Machine("test", "3.12", "linux", arch="x86_64", graphics=(INTEL,)),
    "nobody-could-tell": Machine("test", None, None, packages=(Installed("torch", None),)),
    "works": Machine("test", "3.12", "linux", arch="x86_64", release=("ubuntu", "22.04"), packages=XPU, graphics=(INTEL,)),
    "mismatched": Machine(
        "test", "3.11", "linux", arch="x86_64", packages=(*XPU, Installed("intel-extension-for-pytorch", "2.1.10+xpu"))
    ),
    "ended": Machine(
        "test", "3.12", "linux", arch="x86_64", packages=(*XPU, Installed("intel-extension-for-pytorch", "2.8.10+xpu"))
    ),
    "unknown-build": Machine("test", "3.12", "windows", arch="x86_64", packages=(Installed("torch", "2.8.0+cu126"),)),
    "drivers": Machine(
        "test",
        "3.12",
        "linux",
        arch="x86_64",
        packages=XPU,
        graphics=(INTEL,),
        drivers=(("intel-opencl-icd", "25.18.33578.15-1146~22.04"),),
    ),
}


def faults(name: str, answer: Any) -> list[str]:
    """Return where an answer leaves its contract."""
    validator = Draft202012Validator(CONTRACTS[name], format_checker=FormatChecker())
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(answer)]


@pytest.mark.parametrize("name", NAMES)
def test_schema_is_valid_and_closed(name: str) -> None:
    """Each schema is JSON Schema 2020-12, has our number, and no object admits a field that it does not name."""
    contract = CONTRACTS[name]
    Draft202012Validator.check_schema(contract)
    assert contract["properties"]["schema"]["const"] == SCHEMA
    for found in (contract, *contract["$defs"].values()):
        assert found["additionalProperties"] is False
        assert found["required"] == list(found["properties"])


@pytest.mark.parametrize("name", NAMES)
def test_shared_objects_are_those_of_resolve(name: str) -> None:
    """A request, a source, a warning and the fields of a stack are what docs/json.md says of them."""
    shared, ours = RESOLVE["$defs"], CONTRACTS[name]["$defs"]
    assert all(ours[part] == shared[part] for part in ("request", "source", "warning"))
    assert ours["stack"]["properties"] == {
        field: shared["stack"]["properties"][field] for field in ours["stack"]["properties"]
    }


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_doctor_fits(facts: Snapshot, machine: Machine) -> None:
    """What is said of any machine fits, also of one of which nearly nothing is known."""
    assert (
        faults("doctor", json.loads(examination_json(present_examination(facts, examine(facts, machine, clock()), DAY)))) == []
    )


def test_doctor_of_this_interpreter_fits(run: Callable[..., Run]) -> None:
    """What the command prints of the interpreter that runs it fits."""
    assert faults("doctor", json.loads(run("doctor", "--format", "json").out)) == []


def test_diagnose_of_a_denial_fits(run: Callable[..., Run], tmp_path: Path) -> None:
    """A text with versions, a requirement and a denial fills every part, and fits."""
    path = tmp_path / "log.txt"
    path.write_text(
        "needs to work with PyTorch 2.4.*, but PyTorch 2.5.1+cpu is found.\n"
        "No matching distribution found for torch==2.5.1.post0+xpu\ntorchaudio 9.9.9\n",
        encoding="utf-8",
    )
    answer = json.loads(run("diagnose", str(path), "--format", "json").out)
    assert faults("diagnose", answer) == []
    assert answer["wanted"]
    assert answer["unknown_versions"] == ["torchaudio 9.9.9"]
    assert answer["verdict"] == "does-not-work"


@pytest.mark.parametrize("name", NAMES)
def test_a_wrong_answer_does_not_fit(name: str, facts: Snapshot) -> None:
    """A field too many, one too few and a word that is not on a list are found."""
    made = examination_json(present_examination(facts, examine(facts, MACHINES["works"], clock()), DAY))
    cause = present_diagnosis(facts, diagnose(facts, "libsycl.so.7: x", clock()), DAY)
    answer = json.loads(made if name == "doctor" else diagnosis_json(cause))
    assert faults(name, answer) == []
    assert faults(name, answer | {"more": 1})
    assert faults(name, {key: value for key, value in answer.items() if key != "as_of"})
    assert faults(name, answer | {"verdict": "maybe"})


def fields(contract: dict[str, Any]) -> Iterator[str]:
    """Yield the fields of a contract, but for those that docs/json.md explains."""
    for found in (
        contract,
        *(o for part, o in contract["$defs"].items() if part not in ("request", "stack", "source", "warning")),
    ):
        yield from found["properties"]


@pytest.mark.parametrize("name", NAMES)
def test_fields_are_documented(name: str) -> None:
    """The command's page names every field and its schema, and doctor's page every rule."""
    page = (ROOT / f"docs/{name}.md").read_text(encoding="utf-8")
    assert f"schema/{name}.schema.json" in page
    assert [field for field in fields(CONTRACTS[name]) if f"`{field}`" not in page] == []
    if name == "doctor":
        assert all(
            f"| `{rule}`" in page or f"`{rule}`" in page
            for rule in CONTRACTS[name]["$defs"]["remark"]["properties"]["rule"]["enum"]
        )
