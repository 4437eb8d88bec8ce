"""The reviewer of Markdown: every kind of planted defect is found at its place, and clean documents give nothing."""

from collections.abc import Callable
from datetime import date

import pytest
from conftest import clock
from markdown_defects import review, rules

from compatkb.check import check
from compatkb.check.document import CheckContext, TextDocument
from compatkb.check.markdown.grammar import columns_of
from compatkb.store.reader import Snapshot

DAY = date(2024, 8, 26)

CLEAN = """\
# Images

Images of `intel/intel-extension-for-pytorch`. Keys are mounted at `/root/.ssh/id_rsa`.

## XPU

| Tag(s) | PyTorch | IPEX | Driver | Port |
|---|---|---|---|---|
| `2.1.40-xpu-pip-base`, `2.1.40-xpu` | [v2.1.0] | [v2.1.40+xpu] | [914] | 8888 |
| `2.1.10-xpu-pip-jupyter` | [v2.1.0] | [v2.1.10+xpu] | 736 | 8888 |

```bash
docker run -it --rm -p 8888:8888 \\
    -v $PWD/id_rsa:/root/.ssh/id_rsa \\
    intel/intel-extension-for-pytorch:2.1.40-xpu
```

## CPU

| Tag(s) | PyTorch | IPEX | oneCCL | Released |
|---|---|---|---|---|
| `2.4.0-pip-base`, `latest` | [v2.4.0] | [v2.4.0+cpu] | | 2024-08-20 |
| `2.3.0-pip-multinode` | [v2.3.0] | [v2.3.0+cpu] | [v2.3.0][ccl-v2.3.0] | 2024-05-14 |
| `2.3.0-idp-multinode` | [v2.3.0] | [v2.3.0+cpu] | [v2.3.0][ccl-v2.3.0] | 2024-05-14 |

IPEX 2.3.0 is used with PyTorch 2.3.0.

```sh
chmod 600 id_rsa
pip install torch==2.4.0 intel-extension-for-pytorch==2.4.0
```

[v2.1.0]: https://github.com/pytorch/pytorch/releases/tag/v2.1.0
[v2.3.0]: https://github.com/pytorch/pytorch/releases/tag/v2.3.0
[v2.4.0]: https://github.com/pytorch/pytorch/releases/tag/v2.4.0
[v2.1.40+xpu]: https://github.com/intel/intel-extension-for-pytorch/releases/tag/v2.1.40%2Bxpu
[v2.1.10+xpu]: https://github.com/intel/intel-extension-for-pytorch/releases/tag/v2.1.10%2Bxpu
[v2.3.0+cpu]: https://github.com/intel/intel-extension-for-pytorch/releases/tag/v2.3.0%2Bcpu
[v2.4.0+cpu]: https://github.com/intel/intel-extension-for-pytorch/releases/tag/v2.4.0%2Bcpu
[ccl-v2.3.0]: https://github.com/intel/torch-ccl/releases/tag/v2.3.0%2Bcpu
[914]: https://dgpu-docs.intel.com/releases/stable_914_33_20240730.html
"""


def test_clean_document_gives_nothing(facts: Snapshot) -> None:
    """A document whose facts are right gives no finding of any level."""
    assert review(facts, CLEAN, DAY).findings == ()


PLANTED = [
    ("link-version", "/v2.1.40%2Bxpu", "/v2.1.30%2Bxpu"),
    ("link-version", "pytorch/releases/tag/v2.3.0", "pytorch/releases/tag/v2.4.0"),
    ("link-version", "[v2.3.0][ccl-v2.3.0] | 2024-05-14 |\n\nIPEX", "[v2.2.0][ccl-v2.3.0] | 2024-05-14 |\n\nIPEX"),
    ("link-version", "stable_914_33_20240730", "LTS_803.29_20240131"),
    ("link-version", "v2.3.0%2Bcpu\n[v2.4", "v2.3.0%2Bxpu\n[v2.4"),
    ("link-branch", "extension-for-pytorch/releases/tag/v2.4.0%2Bcpu", "extension-for-pytorch/tree/main"),
    ("link-branch", "extension-for-pytorch/releases/tag/v2.4.0%2Bcpu", "extension-for-pytorch/releases/latest"),
    ("link-prerelease", "torch-ccl/releases/tag/v2.3.0%2Bcpu", "torch-ccl/releases/tag/v2.3.0%2Bcpu%2Brc1"),
    ("image-tag-unlisted", "`2.4.0-pip-base`", "`2.4.0-pip-bse`"),
    ("image-tag-unlisted", "pytorch:2.1.40-xpu", "pytorch:2.1.45-xpu"),
    ("image-tag-spelling", "`2.3.0-pip-multinode`", "`2.1.0-idp-mulitnode`"),
    ("image-contents", "| `2.4.0-pip-base`, `latest` | [v2.4.0]", "| `2.4.0-pip-base`, `latest` | [v2.3.0]"),
    ("versions-together", "| `2.4.0-pip-base`, `latest` | [v2.4.0]", "| | [v2.3.0]"),
    ("versions-differ", "| `2.3.0-idp-multinode` | [v2.3.0] ", "| `2.3.0-idp-multinode` | v2.3.1 "),
    ("driver-verified", "| `2.1.10-xpu-pip-jupyter` | [v2.1.0] | [v2.1.10+xpu] | 736", "| | [v2.1.0] | [v2.1.10+xpu] | 647"),
    ("advisory", "[v2.1.10+xpu] | 736", "v2.1.20+xpu | 803.29"),
    ("date-impossible", "2024-08-20", "2024-02-30"),
    ("date-impossible", "2024-08-20", "2025-08-20"),
    ("date-impossible", "2024-08-20", "2024-01-20"),
    ("install-unpublished", "torch==2.4.0", "torch==2.4.7"),
    ("install-together", "torch==2.4.0", "torch==2.3.0"),
    ("command-file", "chmod 600 id_rsa", "chmod 600 id_rsa configs"),
]  # fmt: skip


@pytest.mark.parametrize(("rule", "right", "wrong"), PLANTED, ids=[f"{rule}-{n}" for n, (rule, *_) in enumerate(PLANTED)])
def test_planted_defect_is_found(facts: Snapshot, rule: str, right: str, wrong: str) -> None:
    """A defect planted into the clean document is found by its rule, on a line that it touches."""
    assert CLEAN.count(right) >= 1
    text = CLEAN.replace(right, wrong, 1)
    found = [finding for finding in review(facts, text, DAY).findings if finding.rule == rule]
    assert found, rules(review(facts, text, DAY))
    source = text.splitlines()
    for finding in found:
        assert 1 <= finding.line <= len(source)
        assert finding.column
        assert finding.column <= len(source[finding.line - 1]) + 1


def test_a_rule_that_is_off_hides_nothing(facts: Snapshot) -> None:
    """A version that was never released is not what the image holds, whether or not releases are looked at as such."""
    text = CLEAN.replace("| `2.4.0-pip-base`, `latest` | [v2.4.0]", "| `2.4.0-pip-base`, `latest` | v2.4.7", 1)
    found = check([TextDocument("README.md", text)], CheckContext(facts, clock(DAY))).findings
    assert [(f.rule, f.subject) for f in found if f.subject == "v2.4.7"] == [("image-contents", "v2.4.7")]
    as_series = text.replace("v2.4.7", "v2.4", 1)
    assert "image-contents" not in rules(review(facts, as_series, DAY))


@pytest.mark.parametrize("change", [lambda t: t.replace("\n", "\r\n"), lambda t: "> " + t.replace("\n", "\n> ")])
def test_places_hold_in_other_shapes(facts: Snapshot, change: Callable[[str], str]) -> None:
    """Findings keep their lines with other line ends and inside a quote."""
    text = CLEAN.replace("`2.4.0-pip-base`", "`2.4.0-pip-bse`")
    (finding,) = review(facts, change(text), DAY).findings
    plain = review(facts, text, DAY).findings[0]
    assert (finding.rule, finding.line) == ("image-tag-unlisted", plain.line)
    line = change(text).splitlines()[finding.line - 1]
    assert finding.end_column
    assert line[finding.column - 1 : finding.end_column - 1] == "2.4.0-pip-bse"


def test_what_is_not_judged_is_told(facts: Snapshot) -> None:
    """A document that puts more versions together than are judged says so, and one that is too long to be read, too."""
    pairs = [(torch, vision) for torch in range(11) for vision in range(15, 26)]
    rows = "".join(f"| 2.{t}.{patch} | 0.{v}.0 |\n" for t, v in pairs for patch in (0, 1))
    many = f"| PyTorch | torchvision |\n|---|---|\n{rows}"
    assert "were not checked" in review(facts, many, date(2026, 11, 21)).findings[0].message
    long = review(facts, CLEAN + "\n" * 6000, DAY).findings
    assert [(finding.rule, finding.line) for finding in long] == [("unread", 5001)]


def test_a_tag_may_stand_in_tables_of_other_columns(facts: Snapshot) -> None:
    """A second table about the same images is no contradiction, unless it says something else of them."""
    more = "\n\n| Image | Python |\n|---|---|\n| `2.4.0-pip-base` | 3.10 |\n"
    assert review(facts, CLEAN + more, DAY).findings == ()
    wrong = "\n\n| Image | PyTorch |\n|---|---|\n| `2.4.0-pip-base` | 2.3.0 |\n"
    assert rules(review(facts, CLEAN + wrong, DAY)) == ["image-contents"]  # the surer of two that doubt the row


def test_decided_dispute_is_no_finding(facts: Snapshot) -> None:
    """Where sources disagree about an image, a document that sides with one of them is left alone."""
    text = CLEAN.replace("[v2.1.10+xpu] | 736", "[v2.1.10+xpu] | 803")
    assert "image-contents" not in rules(review(facts, text, DAY))


def test_foreign_images_are_left_alone(facts: Snapshot) -> None:
    """Tags of repositories that the data do not know are not called unlisted."""
    text = "| Tag | Size |\n|---|---|\n| `2.4.0-slim` | 10 |\n| `latest` | 12 |\n\n    docker run example/tool:2.4.0-slim\n"
    assert review(facts, text, DAY).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "IPEX 2.4.0 does not work with PyTorch 2.3.0.",
        "Moving from PyTorch 2.3.0 to IPEX 2.4.0 is easy.",
        "IPEX 2.4.0 needs PyTorch 2.3.0 or newer.",
        "| feature | note |\n|---|---|\n| a | [1](https://github.com/pytorch/pytorch/blob/v2.1.0/a.md) |",
        "[9999e0f6](https://github.com/intel/ai-containers/tree/9999e0f6f486315adce98659091e35b8487b9499)",
        "[Apache 2.0](https://github.com/pytorch/pytorch/blob/main/LICENSE)",
        "[v2.4](https://github.com/pytorch/pytorch/releases/tag/v2.4.1)",
        "[v2.4.0](https://github.com/intel/intel-extension-for-pytorch/releases/tag/v2.4.0%2Bcpu)",
        "```sh\npip install torch==2.4.0 --index-url https://index.example/simple\npip install -r requirements.txt -e .\n```",
        "```python\nimport torch  # 2.4.9\n```",
        "[//]: # (a remark)\n[//]: # (another)",
    ],
)
def test_sound_text_gives_nothing(facts: Snapshot, text: str) -> None:
    """What only looks like a defect is none: negations, bounds, commits, footnotes, licences, series, remarks."""
    assert rules(review(facts, text, DAY)) == []


@pytest.mark.parametrize(
    ("line", "columns"), [("|-|-|", 2), ("-|-", 2), ("| :-: |", 1), ("|-||-|", 0), ("|-|x|", 0), ("||", 0)]
)
def test_columns_of_the_line_below_a_head(line: str, columns: int) -> None:
    """A line with an empty column, or with letters, makes no table."""
    assert columns_of(line) == columns


def test_the_last_of_many_tables_is_read(facts: Snapshot) -> None:
    """Tables stand beside each other, not within each other: there may be more than text is nested deep."""
    table = "| `2.4.0-pip-base` | [v2.4.0] |\n"
    head = "| Tag(s) | PyTorch |\n|---|---|\n"
    text = f"Of `intel/intel-extension-for-pytorch`.\n\n{head}{table}\n" * 120 + f"{head}{table.replace('base', 'bse')}"
    assert "image-tag-unlisted" in rules(review(facts, text, DAY))
    assert "image-tag-unlisted" not in rules(review(facts, f"{head}{table}\n" * 120, DAY))
