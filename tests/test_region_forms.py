"""What the kinds of regions hold."""

import json
import re
from collections.abc import Callable

import pytest
from conftest import Run

from compatkb.docgen.kinds import RegionContents
from compatkb.errors import UsageError
from compatkb.output.python_matrix import python_matrix
from compatkb.output.writers import Code, Table, plain
from compatkb.store.reader import Snapshot

Runner = Callable[..., Run]


@pytest.mark.parametrize(
    ("kind", "arguments", "expected"),
    [
        ("imags", {}, "no kind of region; did you mean images?"),
        ("images", {"device": "gpu"}, "no image is listed so"),
        ("timeline", {"what": "party"}, "it is one of release, milestone, end-of-life"),
        ("run", {"tag": "nothing"}, "no image is listed so"),
        ("install", {"with": "container", "torch": "2.13", "device": "xpu"}, "no image that was listed"),
    ],
)
def test_wrong_tables_are_wrong_usage(kind: str, arguments: dict[str, str], expected: str, facts: Snapshot) -> None:
    """A wrong kind, argument or value says what would be right."""
    with pytest.raises(UsageError, match=re.escape(expected)):
        RegionContents(facts).content(kind, arguments)


# -- kinds ----------------------------------------------------------------------------------------------------------


def shown(facts: Snapshot, kind: str, **arguments: str) -> list[list[str]]:
    """Return the cells of a kind's tables, without heads."""
    names = {name.replace("_", "-").rstrip("-"): value for name, value in arguments.items()}
    blocks = RegionContents(facts).content(kind, names)
    return [[plain(cell) for cell in row] for block in blocks if isinstance(block, Table) for row in block.rows]


def test_timeline_region_is_what_the_command_lists(facts: Snapshot, run: Runner) -> None:
    """The region has the events of the command, in its order."""
    events = json.loads(
        run("timeline", "--vendor", "intel", "--from", "2024", "--as-of", "2026-11-21", "--format", "json").out
    )
    rows = shown(facts, "timeline", vendor="intel", as_of="2026-11-21", **{"from": "2024"})
    assert [row[0] for row in rows] == [event["date"] for event in events["events"]]
    assert all(row[2].startswith(event["title"]) for row, event in zip(rows, events["events"], strict=True))


def test_wheels_region_is_the_matrix(facts: Snapshot) -> None:
    """The table has the words of `compatkb matrix`; what is known to be missing is left empty."""
    table = python_matrix(facts, facts.products["oneccl-bind-pt"], RegionContents(facts).day)
    expected = [[row.release, *("" if cell.words == "no" else cell.words for cell in row.cells)] for row in table.rows]
    assert [[row[0].split(" ")[0], *row[1:]] for row in shown(facts, "wheels", product="oneccl-bind-pt")] == expected


def test_replacements_name_releases_that_have_the_feature(facts: Snapshot) -> None:
    """The bindings give way to XCCL from 2.8 on, on Linux; what is only inferred says so."""
    rows = {row[0]: row for row in shown(facts, "replacements")}
    assert rows["the ccl backend of the oneCCL bindings"][1:4] == [
        "the XCCL backend of torch.distributed",
        "PyTorch 2.8.0 (xpu on linux)",
        "stated",
    ]
    assert rows["the ipex backend of torch.compile"][3].startswith("inferred: ")
    assert len(rows) >= 5


def test_matrix_says_what_a_series_offers_alone(facts: Snapshot, run: Runner) -> None:
    """alone=yes shows the native build where there is one, and none where a device needs the extension."""
    rows = {
        row[0]: row for row in shown(facts, "matrix", product="torch", beside="ipex", device="xpu", alone="yes", limit="16")
    }
    assert rows["2.8"][1] == "2.8.0+xpu, with warnings"
    assert rows["2.3"][1] == "none"
    assert "2.3.110+xpu" in rows["2.3"][2]
    assert (
        json.loads(run("resolve", "--torch", "2.3", "--device", "xpu", "--format", "json").out)["stacks"][0]["route"] == "ipex"
    )


def test_install_region_in_other_managers(facts: Snapshot) -> None:
    """Conda brings Python alone, a container is one that declares the stack, PowerShell is for Windows alone."""
    conda = RegionContents(facts).content("install", {"torch": "2.8", "device": "xpu", "os": "linux", "with": "conda"})
    assert isinstance(conda[0], Code)
    assert re.match(r"conda create --name \w+ python=3\.\d+\nconda activate \w+\npython -m pip install torch==", conda[0].text)
    image = RegionContents(facts).content("install", {"ipex": "2.8.10", "device": "xpu", "os": "linux", "with": "container"})
    assert isinstance(image[0], Code)
    assert image[0].text.endswith("intel/intel-extension-for-pytorch:2.8.10-xpu-pip-base")
    windows = RegionContents(facts).content("install", {"torch": "2.8", "device": "xpu", "os": "windows"})
    assert isinstance(windows[0], Code)
    assert (conda[0].language, windows[0].language) == ("sh", "powershell")
