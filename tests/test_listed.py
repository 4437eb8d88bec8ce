"""A release is born from its feed: what an index file lists and nobody wrote down has builds, and is said to be new."""

import shutil
from datetime import date
from pathlib import Path

import pytest
from conftest import ROOT, Run

from compatkb.authoring.listed import UNREVIEWED, born_as, unreviewed, with_listed
from compatkb.schema import IndexFile, ProductFile, Stage

WHEELS = {"cp311": ["manylinux_2_28_x86_64"]}


def entry(version: str, day: str, **more: object) -> dict[str, object]:
    """Return a release of an index file, uploaded on a day of 2026."""
    return {"version": version, "uploaded": f"2026-{day}T00:00:00Z", "wheels": WHEELS, **more}


def joined(listed: list[dict[str, object]], *releases: dict[str, object], **product: object) -> ProductFile:
    """Return a product with some releases and `[[listed]]`, after its index file has been added."""
    head = {"id": "gear", "name": "Gear", "role": "package", "scheme": "pep440", "rank": 1, "distribution": "some_gear"}
    file = ProductFile.model_validate({
        "product": head | product, "source": {"index": {"channel": "default", "file": "gear", "seen": "2026-11-01"}},
        "release": [{"version": "1.0", "sources": ["index"], "build": [
            {"version": "1.0", "channels": ["default"], "devices": ["cpu"], "sources": ["index"],
             "compiled-for": [{"device": "cuda", "label": "cu1", "os": ["linux"], "arch": ["x86_64"], "sources": ["index"]}]},
        ]}],
        "listed": listed,
    })  # fmt: skip
    index = IndexFile.model_validate({"distribution": "some-gear", "seen": "2026-11-01", "release": list(releases)})
    return with_listed((file,), (index,))[0]


SCOPE = {"complete": [{"what": "release", "of": "gear<9", "until": "2026-11-01", "sources": ["index"]}]}
FAMILY: dict[str, object] = {"devices": ["cpu", "xpu"], "sources": ["index"], "reviewed": "1.1"}


def test_born_as_the_one_before() -> None:
    """Inside a complete scope a release that nobody wrote down is for what the one before was for, its labels unknown."""
    file = joined([], entry("1.0", "01-01"), entry("1.1", "02-02", file="some_gear-1.1-py3-none-any.whl"), **SCOPE)
    newest = file.release[0]
    assert (newest.version, newest.build[0].channels, newest.build[0].devices) == ("1.1", ("default",), ("cpu",))
    assert [(kind.device, kind.label, kind.basis) for kind in newest.build[0].compiled_for] == [("cuda", None, "inferred")]
    assert file.source[newest.sources[0]].file == "some_gear-1.1-py3-none-any.whl"
    assert [(a.of, a.kind, a.since) for a in file.advisory] == [("gear===1.1", UNREVIEWED, date(2026, 2, 2))]
    assert [str(version) for version in unreviewed(file)] == ["1.1"]


def test_only_where_the_product_is_complete() -> None:
    """A product that lists a choice gets nothing that it does not name, nor what is older than all that it names."""
    assert [r.version for r in joined([], entry("1.1", "02-02")).release] == ["1.0"]
    assert [r.version for r in joined([], entry("9.1", "02-02"), **SCOPE).release] == ["1.0"]
    file = joined([], entry("0.9", "02-02"), **SCOPE)
    assert [r.version for r in file.release] == ["1.0"]
    assert born_as(file, "0.9") is None


def test_builds_on_other_indexes_are_as_before() -> None:
    """A label of the two newest releases goes on as inferred, with what was said of machines; variants in a series alone."""
    index, xpu = ("index",), {"channels": ["xpu-index"], "devices": ["xpu"], "sources": ["index"]}
    wheels = [{"os": ["linux"], "python": ["3.9"], "sources": index}]
    releases = [
        {
            "version": version,
            "sources": index,
            "build": [
                {"version": version, "channels": ["default"], "devices": ["cpu"], "sources": index},
                *({"version": f"{version}+{label}", "wheels": wheels, **xpu} for label in labels),
            ],
            "variant": [{"device": "cuda", "labels": ["cu1"], "sources": index}],
        }
        for version, labels in (("1.0", ["xpu"]), ("1.1", ["xpu", "odd"]))
    ]
    claims = [
        {"id": f"{to}-{of}", "kind": "verified", "of": f"gear=={of}+xpu", "to": [f"{to}==a"], "sources": index}
        for of in ("1.0", "1.1")
        for to in ("card", "shaft")
    ]
    head = {"name": "Gear", "role": "package", "scheme": "pep440", "rank": 1}
    gear = {"product": {"id": "gear", "distribution": "gear", **head, **SCOPE}, "release": releases, "claim": claims}
    card = {"product": {**head, "id": "card", "role": "dimension", "scheme": "listed"}}
    files = [ProductFile.model_validate(file) for file in (gear, card, {"product": {**head, "id": "shaft"}})]
    listing = {"distribution": "gear", "seen": "2026-11-01", "release": [entry("1.1.1", "02-02"), entry("1.2", "03-03")]}
    file = with_listed(files, [IndexFile.model_validate(listing)])[0]
    newest, patch = file.release[:2]
    assert [(b.version, b.wheels[0].python, b.wheels[0].basis) for b in newest.build[1:]] == [
        ("1.2+xpu", ("3.11",), "inferred")
    ]
    assert ([v.labels for v in patch.variant], newest.variant) == ([("cu1",)], ())
    assert [(c.of, c.to, c.basis) for c in file.claim[4:]] == [
        (f"gear=={version}+xpu", ("card==a",), "inferred") for version in ("1.1.1", "1.2")
    ]  # fmt: skip
    assert {a.of for a in file.advisory if "+" in a.of} == {"gear===1.1.1+xpu", "gear===1.2+xpu"}


def test_listed_family() -> None:
    """`[[listed]]` is of all that is not written; what came out after the reviewed release is new, whatever its number."""
    listed = (entry("1.0", "01-01"), entry("1.1", "02-02"), entry("1.0.1", "03-03"), entry("1.2", "01-02"))
    file = joined([FAMILY], *listed)
    assert [(r.version, r.build[0].devices) for r in file.release] == [
        ("1.2", ("cpu", "xpu")), ("1.1", ("cpu", "xpu")), ("1.0.1", ("cpu", "xpu")), ("1.0", ("cpu",)),
    ]  # fmt: skip
    assert [str(version) for version in unreviewed(file)] == ["1.0.1"]


def test_source_only_is_of_what_has_no_wheel() -> None:
    """A family that is `source-only` is of releases without a wheel, any other of those with one; both may be narrowed."""
    sources = FAMILY | {"stage": "source-only"}
    releases = (entry("1.1", "02-02"), entry("1.2", "02-02", wheels={}), entry("2.0", "02-02"))
    file = joined([FAMILY | {"releases": "<2"}, sources], *releases)
    assert [(r.version, r.build[0].stage) for r in file.release] == [
        ("1.2", Stage.SOURCE_ONLY), ("1.1", Stage.STABLE), ("1.0", Stage.STABLE),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["releases", "reviewed"])
def test_unreadable_versions_are_refused(name: str) -> None:
    """What names no versions is a fault of the file, with its field."""
    with pytest.raises(ValueError, match=f"`{name}`"):
        joined([FAMILY | {name: "newest of all"}])


@pytest.mark.long
def test_users_are_told(tmp_path: Path, cold_run: object) -> None:
    """A release that refresh wrote into an index file answers at once, and each answer says that nobody has reviewed it."""
    data = tmp_path / "data"
    shutil.copytree(ROOT / "data", data)
    path = data / "index" / "torch.toml"
    text = path.read_text(encoding="utf-8")
    newest = text.split("[[release]]")[1]
    born = newest.replace("2.15.0", "2.15.7").replace("2026-10-28", "2026-11-20")
    path.write_text(text.replace("[[release]]", f"[[release]]{born}[[release]]", 1), encoding="utf-8")
    assert callable(cold_run)
    for words in (("resolve", "torch==2.15.7", "--device", "cpu"), ("explain", "torch===2.15.7", "--device", "cpu")):
        answer: Run = cold_run(*words, "--data", str(data))
        assert "torch 2.15.7: new, not reviewed" in " ".join(answer.out.split()), answer.out
    plain: Run = cold_run("resolve", "torch", "--device", "cpu", "--data", str(data))
    assert "2.15.7" not in plain.out.splitlines()[0]
