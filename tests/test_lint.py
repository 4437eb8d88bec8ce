"""Every rule of lint: silent on good data, loud at the right line on a planted fault."""

import copy
import json
import os
import re
import tomllib
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Run, last_read
from good_data import Content
from good_data import good as plain_data
from good_data import written as plain_files

from compatkb.authoring.build_knowledge import build_knowledge
from compatkb.authoring.canonical import canonical
from compatkb.authoring.lint import CHECKS, LOADS, LintReport, lint, lint_loaded
from compatkb.authoring.lint.exceptions import LONGEST
from compatkb.authoring.loader import LARGEST, load, parse, read
from compatkb.core.findings import Finding
from compatkb.errors import DataError

TODAY = date(2026, 11, 21)
SAID = ROOT / "tests" / "cases" / "lint" / "said.json"
Data = dict[str, Content]
TORCH, IPEX, OS, HARDWARE = (f"products/{name}.toml" for name in ("torch", "ipex", "os", "hardware"))
IMAGES, INDEX, CHANNELS, ROUTES = "images/ext.toml", "index/torch.toml", "channels.toml", "routes.toml"


FEATURE, TIMELINE, EVIDENCE = "features/compile.toml", "timeline.toml", "evidence/2026-11.jsonl"
MORE = {
    FEATURE: """
[feature]
id = "compile"
name = "torch.compile"
product = "torch"
aliases = ["dynamo"]
needs = [{ product = "numpy", sources = ["page"] }]

[source]
page = { url = "https://example.org/compile", at = "Devices", seen = 2026-11-01 }
post = { repo = "pytorch/pytorch", ref = "v2.1.0", path = "docs/compile.rst", at = 3, seen = 2026-11-01 }

[[statement]]
id = "cpu"
of = "torch==2.1.0"
status = "supported"
when = { device = ["cpu"] }
sources = ["page"]

[[statement]]
id = "xpu"
of = "torch>=2.1,<2.2"
status = "beta"
when = { device = ["xpu"] }
vendor-builds = true
sources = ["post"]

[[statement]]
id = "no-xpu"
of = "torch<2.1"
status = "not-supported"
when = { device = ["xpu"] }
sources = ["post"]

[[statement]]
id = "old-cpu"
of = "torch==2.0.0"
status = "supported"
when = { device = ["cpu"] }
sources = ["page"]

[[statement]]
id = "no-old-cpu"
of = "torch<2.1"
status = "not-supported"
when = { device = ["cpu"] }
sources = ["post"]

[[dispute]]
id = "old-cpu"
about = "whether 2.0 has it"
claims = ["old-cpu", "no-old-cpu"]
decision = "old-cpu"
reason = "The page is newer."
decided = 2026-11-01
""",
    TIMELINE: """
[[vendor]]
id = "maker"
name = "Maker"

[source]
talk = { repo = "maker/ext", thread = "issues/9", seen = 2026-11-01 }
plan = { url = "https://example.org/plans", at = "Next", seen = 2026-11-01 }

[[event]]
id = "ext-2.1.10"
who = "maker"
kind = "release"
title = "The extension for GPUs"
of = "ipex==2.1.10"

[[event]]
id = "ext-end"
who = "maker"
kind = "end-of-life"
title = "The extension ends"
of = "ipex"
sources = ["talk"]

[[event]]
id = "next"
who = "maker"
kind = "milestone"
title = "The next cards"
on = 2027-01-01
precision = "year"
announced = 2026-05-01
sources = ["plan"]

[[dispute]]
id = "next-year"
about = "when the next cards come"
of = ["next"]
positions = ["the text: 2027", "the chart beside it: 2028"]
decision = "2027"
reason = "The chart is older."
decided = 2026-11-01
sources = ["plan", "plan"]
""",
}
SAYS: Content = {
    "about": "a",
    "reason": "r",
    "decided": date(2026, 11, 1),
    "positions": ["one", "two"],
    "decision": "one",
}
"""What a dispute says that is not between claims, without `of` and `sources`."""


def columned(data: Data, columns: list[str], product: str = "ipex") -> None:
    """Give the tag tables a column, and a dispute the columns that it decides."""
    data[IMAGES]["column"] = [{"id": "ipex", "title": "IPEX", "product": product}]
    data[IMAGES]["dispute"][0].update(columns=columns)


def good() -> Data:
    """Return the content of every file, by path; each call a new one."""
    data = {**plain_data(), **{path: tomllib.loads(text) for path, text in MORE.items()}}
    data[IMAGES]["dispute"] = [{**SAYS, "id": "what-is-inside", "of": ["2.1.20-xpu"], "sources": ["table", "table"]}]
    data[CHANNELS]["dispute"] = [{**SAYS, "id": "what-it-carries", "of": ["extra"], "sources": ["readme", "readme"]}]
    data[EVIDENCE] = {"lines": [observation()]}
    return data


def observation(**fields: Any) -> Content:
    """Return a line of evidence: an import of a pair that belongs together."""
    plain = {
        "level": "import",
        "outcome": "ok",
        "packages": {"torch": "2.1.0+xpu", "ext-for-torch": "2.1.20+xpu"},
        "python": "3.11",
        "platform": "linux-x86_64",
        "device": "xpu",
        "index": "extra",
        "checked": "2026-11-01",
        "tool": "python",
    }
    return {**plain, **fields}


def observe(data: Data, **fields: Any) -> None:
    """Add a line of evidence."""
    data[EVIDENCE]["lines"].append(observation(**fields))


def written(data: Data) -> dict[str, bytes]:
    """Return the files as they stand on disk."""
    files = plain_files({path: content for path, content in data.items() if path != EVIDENCE})
    lines = "".join(f"{json.dumps(line)}\n" for line in data[EVIDENCE]["lines"])
    return {**files, EVIDENCE: lines.encode()}


def statement(data: Data, number: int = 0) -> Content:
    """Return a statement: on torch 2.1.0 and cpu, 2.1 and xpu, none before 2.1 on xpu, and two disputed ones."""
    found: Content = data[FEATURE]["statement"][number]
    return found


def event(data: Data, number: int = 0) -> Content:
    """Return an event: a release, an end of life, a plan."""
    found: Content = data[TIMELINE]["event"][number]
    return found


def state(data: Data, **fields: Any) -> None:
    """Add a statement on the feature, on xpu."""
    plain = {"id": "more", "when": {"device": ["xpu"]}, "vendor-builds": True, "sources": ["page"]}
    data[FEATURE]["statement"].append({**plain, **fields})


def second_feature(data: Data, **head: Any) -> None:
    """Add another feature."""
    more = copy.deepcopy(data[FEATURE])
    more["feature"] |= {"id": "graphs", "name": "graphs", "aliases": ["inductor"], **head}
    data["features/graphs.toml"] = {**more, "dispute": [], "statement": more["statement"][:3]}


def forget_post(data: Data) -> None:
    """Have a source of a feature that nothing cites."""
    for number in (1, 2, 4):
        statement(data, number)["sources"] = ["page"]


def release(data: Data, path: str, number: int = 0) -> Content:
    """Return a release of a file."""
    found: Content = data[path]["release"][number]
    return found


def build(data: Data, path: str, number: int = 0, position: int = 0) -> Content:
    """Return a build of a file."""
    found: Content = data[path]["release"][number]["build"][position]
    return found


def vary(data: Data, **fields: Any) -> None:
    """Give the newest torch a build by its label, on the extra index."""
    rows = [{"os": ["linux"], "python": ["3.11"], "sources": ["list"]}]
    row = {"device": "cpu", "labels": ["mkl"], "channels": ["extra"], "wheels": rows, "sources": ["list"], **fields}
    release(data, TORCH)["variant"] = [row]


def claim(data: Data, number: int = 0) -> Content:
    """Return a claim of ipex: torch for 2.1.10 and 2.1.20, hardware, numpy, Python, and two disputed ones."""
    found: Content = data[IPEX]["claim"][number]
    return found


def more_claims(data: Data, **fields: Any) -> None:
    """Add a claim to the file of its product: ipex or torch."""
    path, source = (TORCH, "list") if fields["of"].startswith("torch") else (IPEX, "plan")
    data[path].setdefault("claim", []).append({"id": "more", "sources": [source], **fields})


def source(data: Data, path: str, name: str) -> Content:
    """Return a source of a file."""
    found: Content = data[path]["source"][name]
    return found


def exempt(data: Data, **fields: Any) -> None:
    """Add an exception."""
    plain = {"rule": "end-of-life", "subject": "torch", "reason": "known", "until": date(2027, 1, 1)}
    data.setdefault("exceptions.toml", {"exception": []})["exception"].append({**plain, **fields})


def rename(data: Data, old: str, new: str) -> None:
    """Give a file another name."""
    data[new] = data.pop(old)


def moment(year: int, month: int = 1, day: int = 1) -> Content:
    """Return the day of a release."""
    return {"on": date(year, month, day), "sources": ["plan"]}


def repeat_requirement(data: Data) -> None:
    """Leave one build of torch, and claim what its metadata require."""
    data[TORCH]["release"][0]["build"].pop()
    data[IMAGES]["tag"][0]["contains"].pop()
    data[IPEX]["install"].clear()
    for number in (0, 1):
        claim(data, number)["to"] = ["torch==2.1.0"]
    more_claims(data, kind="needs", of="torch==2.1.0", to=["numpy==1.26.4"])


def call_otherwise(data: Data) -> None:
    """Have the maker of a build label it by another release, and say so."""
    build(data, TORCH, 0, 1).update(version="2.0.1a0+xpu", maker="maker", note="Labelled so.")
    for number in (0, 1):
        claim(data, number)["to"] = ["torch==2.0.1a0+xpu"]
    data[IMAGES]["tag"][0]["contains"].pop()


def rename_index(data: Data) -> None:
    """Have an index file of which no product has the distribution."""
    data["index/numpy.toml"]["distribution"] = "nump"


def upload_late(data: Data) -> None:
    """Have a runtime uploaded after what pins it."""
    late = release(data, "index/numpy.toml", 1)
    late["uploaded"] = late["uploaded"].replace(month=11)


def hide(data: Data) -> None:
    """Have a product that nothing names."""
    head = {"id": "lone", "name": "lone", "role": "leaf", "scheme": "pep440", "rank": 99}
    data["products/lone.toml"] = {"product": head, "source": {}}


Fault = tuple[str, Callable[[Data], object], str, str]
ISSUE: Content = {
    "issue": [
        {
            "id": "x",
            "title": "something fails",
            "effect": "crash",
            "where": [{"product": "torch", "range": ">=2"}],
            "cures": [{"to": "torch>=2.1"}],
            "state": "fixed",
            "read": date(2026, 1, 1),
            "sources": ["https://github.com/pytorch/pytorch/issues/1"],
        }
    ]
}
FAULTS: dict[str, Fault] = {
    # rule, what is planted, text of the line that is named, what the message says
    "cure-inside-its-range": ("known-issues", lambda d: d.update({"issues/x.toml": ISSUE}), "cures = ", "has the issue"),
    "file-of-a-product": ("file-name", lambda d: rename(d, TORCH, "products/torch2.toml"), 'id = "torch"', "torch.toml"),
    "file-of-images": ("file-name", lambda d: rename(d, IMAGES, "images/other.toml"), 'id = "ext"', "ext.toml"),
    "file-of-a-feature": ("file-name", lambda d: rename(d, FEATURE, "features/other.toml"), 'id = "compile"', "compile.toml"),
    "file-of-an-index": ("file-name", lambda d: rename(d, INDEX, "index/pytorch.toml"), "distribution =", "torch.toml"),
    "no-such-product-in-a-claim": ("references", lambda d: claim(d).update(to=["tourch==2.1.0"]), '["2.1.', "tourch"),
    "no-such-channel": (
        "references",
        lambda d: build(d, TORCH).update(channels=["defualt"]),
        "channels = ",
        "defualt is no channel",
    ),
    "no-such-device": ("references", lambda d: build(d, TORCH).update(devices=["gpu"]), "devices = ", "gpu"),
    "no-such-device-of-a-variant": ("references", lambda d: vary(d, device="gpu"), "device =", "gpu"),
    "no-such-channel-of-a-variant": ("references", lambda d: vary(d, channels=["extras"]), "channels =", "extras"),
    "a-label-stands-twice": ("versions", lambda d: vary(d, labels=["xpu"]), '["2.1.', "2.1.0+xpu stands twice"),
    "a-variant-is-on-no-index": ("builds", lambda d: vary(d, channels=[]), '["2.1.', "without a channel"),
    "no-such-system": ("references", lambda d: build(d, TORCH, 0, 1)["wheels"][0].update(os=["linx"]), "os =", "linx"),
    "no-such-python": ("references", lambda d: build(d, TORCH, 0, 1)["wheels"][0].update(python=["3.7"]), "python =", "3.7"),
    "no-such-condition": ("references", lambda d: claim(d, 2)["when"].update(os=["ubuntu23.04"]), "when =", "ubuntu23.04"),
    "no-such-python-condition": ("references", lambda d: claim(d, 2)["when"].update(python=[">=3.20"]), "when =", ">=3.20"),
    "no-such-hardware-of-a-channel": (
        "references",
        lambda d: d[CHANNELS]["channel"][1].update(hardware=["min"]),
        "hardware =",
        "min",
    ),
    "no-such-provider": ("references", lambda d: d[ROUTES]["route"][0].update(provider="tourch"), "provider =", "tourch"),
    "no-such-replacement": (
        "references",
        lambda d: d[IPEX]["product"]["replaced-by"].update(product="x"),
        "replaced-by",
        "x is no",
    ),
    "no-such-step": ("references", lambda d: d[IPEX]["install"][0].update(steps=[["torch"], ["ipx"]]), "steps =", "ipx"),
    "no-such-waiver": ("references", lambda d: d[IPEX]["install"][0].update(waives=["numpy<2"]), "waives =", "numpy<2"),
    "no-such-disputed-claim": (
        "references",
        lambda d: d[IPEX]["dispute"][0].update(claims=["ipex-2.1.20-numpy-readme", "gone"]),
        "claims =",
        "gone",
    ),
    "dispute-with-itself": (
        "references",
        lambda d: d[IPEX]["dispute"][0].update(claims=["ipex-2.1.20-numpy-readme"] * 2),
        "claims =",
        "two claims",
    ),
    "no-such-product-of-a-feature": (
        "references",
        lambda d: d[FEATURE]["feature"].update(product="tourch"),
        "product =",
        "tourch",
    ),
    "no-such-product-brought": (
        "references",
        lambda d: d[FEATURE]["feature"]["needs"][0].update(product="nunpy"),
        "needs =",
        "nunpy",
    ),
    "no-such-product-in-a-statement": ("references", lambda d: statement(d).update(of="tourch==2.1.0"), "of =", "tourch"),
    "no-such-device-in-a-statement": ("references", lambda d: statement(d)["when"].update(device=["gpu"]), "when =", "gpu"),
    "no-such-disputed-statement": (
        "references",
        lambda d: d[FEATURE]["dispute"][0].update(claims=["old-cpu", "gone"]),
        "claims =",
        "gone",
    ),
    "no-such-product-disputed": (
        "references",
        lambda d: d[IPEX]["dispute"][0].update(of=["Torch 2.1"]),
        "of =",
        "Torch 2.1 is no product id",
    ),
    "no-such-tag-disputed": ("references", lambda d: d[IMAGES]["dispute"][0].update(of=["gone"]), "of =", "gone is no tag"),
    "no-such-channel-disputed": (
        "references",
        lambda d: d[CHANNELS]["dispute"][0].update(of=["gone"]),
        "of =",
        "gone is no channel",
    ),
    "no-such-event-disputed": (
        "references",
        lambda d: d[TIMELINE]["dispute"][0].update(of=["gone"]),
        "of =",
        "gone is no event",
    ),
    "claims-disputed-in-the-timeline": (
        "references",
        lambda d: d[TIMELINE]["dispute"][0].update(claims=["next"]),
        "claims =",
        "next is no claim",
    ),
    "no-such-vendor": ("references", lambda d: event(d).update(who="mkaer"), "who =", "mkaer"),
    "no-such-product-in-an-event": ("references", lambda d: event(d).update(of="ipx==2.1.10"), "of =", "ipx"),
    "no-such-culprit": ("references", lambda d: observe(d, culprit="gone"), '"culprit"', "gone"),
    "no-such-channel-observed": ("references", lambda d: observe(d, index="extar"), "extar", "extar is no channel"),
    "no-such-python-observed": ("references", lambda d: observe(d, python="3.7"), "3.7", "3.7 is no known python"),
    "no-such-tag": ("references", lambda d: d[IMAGES]["tag"][1].update({"same-as": "2.1.20"}), "same-as =", "2.1.20"),
    "no-such-tag-listed": ("references", lambda d: d[IMAGES]["listing"][0].update(tags=["2.1.30-xpu"]), "tags =", "2.1.30"),
    "no-such-column": ("references", lambda d: columned(d, ["ipx"]), "columns =", "ipx is no column"),
    "no-such-product-of-a-column": (
        "references",
        lambda d: columned(d, [], product="tork"),
        "product =",
        "tork is no product",
    ),
    "no-such-revision": ("references", lambda d: d[IMAGES]["listing"][0].update(runs=[[1, 9]]), "runs =", "1 to 9"),
    "index-of-no-product": ("references", rename_index, "distribution =", "nump"),
    "no-such-default": ("references", lambda d: d["products/arch.toml"]["product"].update(default="arm"), "default =", "arm"),
    "source-not-defined": ("sources", lambda d: claim(d).update(sources=["plan", "paln"]), '["2.1.', "paln"),
    "source-not-cited": ("sources", lambda d: d[IPEX]["source"].update(old=d[IPEX]["source"]["plan"]), "old =", "cited by no"),
    "channel-without-source": ("sources", lambda d: d[CHANNELS]["channel"][0].pop("note"), "[[channel]]", "note"),
    "source-of-a-feature-not-cited": ("sources", forget_post, "post =", "cited by no"),
    "source-of-a-feature-not-defined": ("sources", lambda d: statement(d).update(sources=["pgae"]), "sources =", "pgae"),
    "source-of-an-event-not-defined": ("sources", lambda d: event(d, 1).update(sources=["tlak"]), "sources =", "tlak"),
    "source-of-a-brought-product": (
        "sources",
        lambda d: d[FEATURE]["feature"]["needs"][0].update(sources=["pgae"]),
        "needs =",
        "pgae",
    ),
    "file-without-line": ("source-detail", lambda d: source(d, IPEX, "plan").pop("at"), "plan =", "line or heading"),
    "page-of-the-timeline-without-heading": (
        "source-detail",
        lambda d: source(d, TIMELINE, "plan").pop("at"),
        "plan =",
        "heading",
    ),
    "branch-of-a-feature": ("source-detail", lambda d: source(d, FEATURE, "post").update(ref="main"), "post =", "moves"),
    "page-without-heading": ("source-detail", lambda d: source(d, IPEX, "page").pop("at"), "page =", "heading"),
    "branch": ("source-detail", lambda d: source(d, IPEX, "plan").update(ref="main"), "plan =", "moves"),
    "no-owner": ("source-detail", lambda d: source(d, IPEX, "plan").update(repo="ext"), "plan =", "owner/name"),
    "wheel-without-digest": ("source-detail", lambda d: source(d, TORCH, "wheel").pop("sha256"), "wheel =", "sha256"),
    "short-digest": ("source-detail", lambda d: source(d, TORCH, "wheel").update(sha256="00"), "wheel =", "sha256"),
    "index-page-without-place": (
        "source-detail",
        lambda d: source(d, TORCH, "wheel").pop("at") and source(d, TORCH, "wheel").update(file="torch"),
        "wheel =",
        "looked at",
    ),
    "no-channel": ("source-detail", lambda d: source(d, TORCH, "wheel").update(channel="x"), "wheel =", "channel x"),
    "no-thread": ("source-detail", lambda d: source(d, TORCH, "talk").update(thread="7"), "talk =", "issues/1"),
    "two-documents": ("source-detail", lambda d: source(d, IPEX, "page").update(file="a"), "page =", "more than one"),
    "plain-http": ("source-detail", lambda d: source(d, IPEX, "page").update(url="http://a.b/"), "page =", "https"),
    "path-outside": ("source-detail", lambda d: source(d, IPEX, "plan").update(path="../x"), "plan =", "inside"),
    "line-zero": ("source-detail", lambda d: source(d, IPEX, "plan").update(at=0), "plan =", "count from 1"),
    "version-unreadable": ("versions", lambda d: release(d, IPEX).update(version="2.1..20"), "version =", "PEP 440"),
    "version-twice": ("versions", lambda d: release(d, IPEX, 1).update(version="2.1.20.0"), "version =", "same version"),
    "build-twice": ("versions", lambda d: d[TORCH]["release"][0]["build"].append(build(d, TORCH)), '["2.1.', "twice"),
    "build-of-another-release": ("versions", lambda d: build(d, IPEX).update(version="2.1.10+x"), '["2.1.', "no build of"),
    "build-unreadable": ("versions", lambda d: build(d, IPEX).update(version="2.1.20-+xpu"), '["2.1.', "PEP 440"),
    "name-with-another-number": ("versions", lambda d: release(d, OS, 1).update(name="Ubuntu 24.04"), "name =", "numbers"),
    "index-version-unreadable": ("versions", lambda d: release(d, INDEX, 1).update(version="two"), "version =", "PEP 440"),
    "index-version-twice": ("versions", lambda d: release(d, INDEX, 1).update(version="2.1"), "version =", "same version"),
    "index-out-of-order": ("versions", lambda d: release(d, INDEX, 1).update(version="2.2.0"), "version =", "newest first"),
    "alias-of-two-products": ("names", lambda d: d[IPEX]["product"].update(aliases=["PyTorch_Core"]), "aliases =", "torch"),
    "alias-is-a-product": ("names", lambda d: d[IPEX]["product"].update(aliases=["numpy"]), "aliases =", "numpy"),
    "rank-twice": ("names", lambda d: d[IPEX]["product"].update(rank=1), "rank =", "rank 1"),
    "claim-id-twice": ("names", lambda d: claim(d, 3).update(id="ipex-2.1.10-hardware"), "id =", "ipex-2.1.10-hardware"),
    "dispute-id-twice": ("names", lambda d: d[IPEX]["dispute"].append(d[IPEX]["dispute"][0]), "id =", "ipex-2.1.20-numpy"),
    "dispute-id-in-two-files": (
        "names",
        lambda d: d[TIMELINE]["dispute"][0].update(id="what-is-inside"),
        "id =",
        "what-is-inside already",
    ),
    "statement-twice": ("names", lambda d: statement(d, 1).update(id="cpu"), "id =", "cpu already"),
    "statement-is-a-claim": ("names", lambda d: claim(d, 3).update(id="compile-cpu"), "id =", "already stands for claim"),
    "event-twice": ("names", lambda d: event(d, 1).update(id="next"), "id =", "next already"),
    "vendor-twice": ("names", lambda d: d[TIMELINE]["vendor"].append({"id": "maker", "name": "M"}), "id =", "maker already"),
    "feature-is-a-product": (
        "names",
        lambda d: d[FEATURE]["feature"].update(id="numpy"),
        'id = "numpy"',
        "already stands for product",
    ),
    "alias-of-two-features": ("names", lambda d: second_feature(d, aliases=["Dynamo"]), "aliases =", "compile"),
    "channel-twice": ("names", lambda d: d[CHANNELS]["channel"][0].update(id="extra"), "id =", "extra"),
    "route-twice": ("names", lambda d: d[ROUTES]["route"][1].update(id="native"), "id =", "native"),
    "tag-twice": ("names", lambda d: d[IMAGES]["tag"].append(d[IMAGES]["tag"][2]), "name =", "jupyter"),
    "alias-of-two-releases": ("names", lambda d: release(d, HARDWARE, 1).update(aliases=["PVC"]), "aliases =", "max"),
    "alias-is-a-version": ("names", lambda d: release(d, IPEX).update(aliases=["2.1.10"]), "aliases =", "2.1.10"),
    "read-tomorrow": ("dates", lambda d: source(d, IPEX, "plan").update(seen=date(2026, 11, 22)), "plan =", "after today"),
    "released-tomorrow": ("dates", lambda d: release(d, IPEX).update(released=moment(2026, 12)), "released =", "after today"),
    "bounds-crossed": (
        "dates",
        lambda d: release(d, IPEX).update(released={"after": date(2024, 2, 1), "by": date(2024, 1, 1), "sources": ["plan"]}),
        "released =",
        "cannot both be",
    ),
    "ended-before-released": (
        "dates",
        lambda d: release(d, OS, 1)["eol"].update({"last-day": date(2021, 1, 1)}),
        "eol =",
        "before it came out",
    ),
    "product-ended-before-released": (
        "dates",
        lambda d: d[IPEX]["product"]["eol"].update({"last-day": date(2024, 1, 1)}),
        "[[release]]",
        "before it came out",
    ),
    "yanked-before-released": (
        "dates",
        lambda d: release(d, IPEX, 1)["yanked"].update(by=date(2023, 1, 1)),
        "yanked =",
        "before it came out",
    ),
    "decided-tomorrow": (
        "dates",
        lambda d: d[IPEX]["dispute"][0].update(decided=date(2027, 1, 1)),
        "decided =",
        "after today",
    ),
    "advisory-tomorrow": ("dates", lambda d: d[IPEX]["advisory"][0].update(since=date(2027, 1, 1)), "since =", "after today"),
    "event-tomorrow": ("dates", lambda d: event(d, 2).pop("announced"), "on =", "lies after today"),
    "announced-too-late": (
        "dates",
        lambda d: event(d, 2).update(on=date(2025, 1, 1), announced=date(2026, 5, 1)),
        "announced =",
        "after it happened",
    ),
    "announced-tomorrow": ("dates", lambda d: event(d, 2).update(announced=date(2026, 12, 1)), "announced =", "after today"),
    "position-tomorrow": (
        "dates",
        lambda d: d[TIMELINE]["dispute"][0].update(day="released", days=[date(2026, 1, 1), date(2027, 1, 1)]),
        "days =",
        "after today",
    ),
    "checked-tomorrow": ("dates", lambda d: observe(d, checked="2026-11-22"), "2026-11-22", "after today"),
    "complete-beyond-its-sources": (
        "dates",
        lambda d: d[TORCH]["product"]["complete"][0].update(until=date(2026, 11, 20)),
        "complete =",
        "last read",
    ),
    "uploaded-after-seen": (
        "dates",
        lambda d: d[INDEX].update(seen=date(2023, 6, 1)),
        "uploaded =",
        "after the index was read",
    ),
    "index-yank-before-upload": (
        "dates",
        lambda d: release(d, INDEX, 1)["yanked"].update(seen=date(2022, 1, 1)),
        "yanked =",
        "not between",
    ),
    "revision-older": (
        "dates",
        lambda d: d[IMAGES]["revision"][1].update(at=d[IMAGES]["revision"][0]["at"].replace(year=2023)),
        "at =",
        "older",
    ),
    "runs-overlap": ("dates", lambda d: d[IMAGES]["listing"][0].update(runs=[[1, 2], [2, 2]]), "runs =", "overlap"),
    "patch-older": ("release-order", lambda d: release(d, IPEX).update(released=moment(2023, 11)), "[[release]]", "2.1.10"),
    "older-than-its-need": (
        "before-required",
        lambda d: release(d, IPEX, 1).update(released=moment(2023, 9)),
        '["2.1.',
        "only on 2023-10-04",
    ),
    "older-than-its-metadata": ("before-required", upload_late, "requires =", "numpy==1.26.4"),
    "image-older-than-contents": (
        "before-required",
        lambda d: release(d, IPEX).update(released=moment(2024, 7, 2)),
        "ipex==2.1.20+xpu",
        "2.1.20",
    ),
    "unknown-exact": ("known-version", lambda d: claim(d).update(to=["torch==2.1.9"]), '["2.1.', "torch==2.1.9"),
    "unknown-build": ("known-version", lambda d: claim(d).update(to=["torch==2.1.0+cpu"]), '["2.1.', "torch==2.1.0+cpu"),
    "unknown-range": ("known-version", lambda d: claim(d).update(to=["torch>=3"]), '["2.1.', "torch>=3"),
    "unknown-runtime": ("known-version", lambda d: claim(d, 3).update(to=["numpy==1.99"]), '["2.1.', "numpy==1.99"),
    "unknown-content": (
        "known-version",
        lambda d: d[IMAGES]["tag"][2]["contains"].append({"is": "numpy==1.99", "sources": ["table"]}),
        "numpy==1.99",
        "numpy==1.99",
    ),
    "unknown-advice": ("known-version", lambda d: d[IPEX]["advisory"][0].update(of="ipex==2.0.0"), "of =", "ipex==2.0.0"),
    "unknown-replacement": (
        "known-version",
        lambda d: d[IPEX]["product"]["replaced-by"].update(version=">=3"),
        "replaced-by",
        "torch>=3",
    ),
    "unknown-requirement": (
        "known-version",
        lambda d: release(d, INDEX).update(requires=["numpy==1.99"]),
        "requires =",
        "numpy==1.99",
    ),
    "unknown-in-a-statement": ("known-version", lambda d: statement(d).update(of="torch==2.1.9"), "of =", "torch==2.1.9"),
    "unknown-in-an-event": ("known-version", lambda d: event(d).update(of="ipex==2.1.9"), "of =", "ipex==2.1.9"),
    "unknown-in-a-dispute": (
        "known-version",
        lambda d: d[IPEX]["dispute"][0].update(of=["torch==2.1.0", "torch==2.1.9"]),
        "of =",
        "torch==2.1.9",
    ),
    "unreadable-specifier": (
        "known-version",
        lambda d: d[IPEX]["product"]["replaced-by"].update(version=">=x"),
        "replaced-by",
        ">=x",
    ),
    "wheels-without-channel": ("builds", lambda d: build(d, TORCH, 0, 1).pop("channels"), "wheels =", "without a channel"),
    "wheels-of-a-source": ("builds", lambda d: build(d, TORCH, 0, 1).update(stage="source-only"), "wheels =", "no wheels"),
    "channel-of-a-tag": ("builds", lambda d: build(d, IPEX).update(stage="tag-only"), "channels =", "nothing was published"),
    "not-on-the-index": ("builds", lambda d: d[INDEX]["release"].pop(), "channels =", "lists no 2.0.0"),
    "list-not-complete": ("builds", lambda d: d[TORCH]["release"].pop(), "complete =", "lacks 2.0.0"),
    "requirement-unreadable": (
        "requirements",
        lambda d: release(d, INDEX)["requires"].append("numpy >=> 1"),
        "requires =",
        "numpy >=> 1",
    ),
    "python-bound-unreadable": (
        "requirements",
        lambda d: release(d, INDEX).update({"requires-python": "3.8 up"}),
        "requires-python =",
        "3.8 up",
    ),
    "python-tag-unreadable": (
        "requirements",
        lambda d: release(d, INDEX)["wheels"].update(python311=["any"]),
        "wheels =",
        "python311",
    ),
    "platform-unreadable": (
        "requirements",
        lambda d: release(d, INDEX)["wheels"].update(cp311=["ubuntu"]),
        "wheels =",
        "ubuntu",
    ),
    "file-of-another-version": (
        "requirements",
        lambda d: release(d, INDEX).update(file="torch-2.0.0-cp311-cp311-linux_x86_64.whl"),
        "file =",
        "no wheel of torch 2.1.0",
    ),
    "needs-two-versions": (
        "contradiction",
        lambda d: more_claims(d, kind="needs", of="ipex==2.1.10", to=["torch==2.0.0"]),
        '["2.1.',
        "no torch satisfies both",
    ),
    "ranges-apart": (
        "contradiction",
        lambda d: more_claims(d, kind="needs", of="ipex==2.1.10", to=["numpy>=2"]),
        '["2.1.',
        "no numpy satisfies both",
    ),
    "need-breaks": (
        "contradiction",
        lambda d: more_claims(d, kind="breaks", of="ipex==2.1.10", to=["torch==2.1.0+xpu"], reason="It fails."),
        '["2.1.',
        "breaks with all",
    ),
    "need-breaks-the-other-way": (
        "contradiction",
        lambda d: more_claims(d, kind="breaks", of="torch==2.1.0", to=["ipex==2.1.10"], reason="It fails."),
        '["2.1.',
        "breaks with all",
    ),
    "tested-breaks": (
        "contradiction",
        lambda d: more_claims(d, kind="breaks", of="ipex==2.1.10", to=["hardware==max"], reason="It fails."),
        '["2.1.',
        "breaks with",
    ),
    "tested-excluded": (
        "contradiction",
        lambda d: more_claims(d, kind="verified", of="ipex==2.1.10", to=["numpy==2.0.0"]),
        '["2.1.',
        "tested is excluded",
    ),
    "dispute-removed": ("contradiction", lambda d: d[IPEX]["dispute"].clear(), '["2.1.', "no numpy satisfies both"),
    "stated-and-denied": (
        "contradiction",
        lambda d: state(d, of="torch>=2.0,<2.2", status="removed"),
        "[[statement]]",
        "denies it of some",
    ),
    "two-stages": ("contradiction", lambda d: state(d, of="torch==2.1.0", status="prototype"), "[[statement]]", "stages"),
    "dispute-of-statements-removed": (
        "contradiction",
        lambda d: d[FEATURE]["dispute"].clear(),
        "[[statement]]",
        "compile-no-old-cpu",
    ),
    "failed-against-a-claim": (
        "evidence-contradicts",
        lambda d: observe(d, outcome="failed-import", checked="2026-11-02"),
        "failed-import",
        "ipex-2.1.20-torch",
    ),
    "failed-at-once": (
        "evidence-contradicts",
        lambda d: observe(d, outcome="failed-run", level="run"),
        "failed-run",
        "the run failed",
    ),
    "worked-beside-what-it-excludes": (
        "evidence-contradicts",
        lambda d: observe(d, packages={"ext-for-torch": "2.1.20+xpu", "numpy": "2.0.0"}),
        "2.0.0",
        "ipex-2.1.20-numpy-readme",
    ),
    "worked-on-what-breaks": ("evidence-contradicts", lambda d: observe(d, python="3.12"), "3.12", "ipex-2.1.20-python"),
    "day-of-upload": (
        "redundant",
        lambda d: release(d, TORCH).update(released={"on": date(2023, 10, 4), "sources": ["list"]}),
        "released =",
        "same day",
    ),
    "withdrawn-in-no-order": (
        "dates",
        lambda d: release(d, TORCH, 1).update(yanked={"after": date(2026, 9, 2), "by": date(2026, 9, 1), "sources": ["list"]}),
        "yanked =",
        "after 2026-09-02 and by 2026-09-01 cannot both be",
    ),
    "withdrawn-before-its-upload": (
        "dates",
        lambda d: release(d, TORCH, 1).update(yanked={"by": date(2023, 3, 1), "sources": ["list"]}),
        "yanked =",
        "before it came out on 2023-03-15",
    ),
    "yank-of-the-index": (
        "redundant",
        lambda d: release(d, TORCH, 1).update(yanked={"by": date(2026, 10, 1), "sources": ["list"]}),
        "yanked =",
        "already says so",
    ),
    "end-of-the-product": (
        "redundant",
        lambda d: release(d, IPEX).update(eol=d[IPEX]["product"]["eol"]),
        "eol =",
        "same end of life",
    ),
    "day-of-the-release": ("redundant", lambda d: build(d, IPEX).update(released=moment(2024, 6)), "released =", "same day"),
    "wheels-of-the-index": (
        "redundant",
        lambda d: build(d, TORCH).update(wheels=[{"os": ["linux"], "python": ["3.11"], "sources": ["list"]}]),
        "wheels =",
        "index file lists",
    ),
    "runtime-of-the-index": (
        "redundant",
        lambda d: d["products/numpy.toml"].update(
            release=[{"version": "2.0.0", "sources": ["x"]}], source={"x": source(d, IPEX, "page")}
        ),
        "[[release]]",
        "already lists",
    ),
    "alias-is-the-id": ("redundant", lambda d: d[IPEX]["product"].update(aliases=["IPEX"]), "aliases =", "without an alias"),
    "alias-is-the-distribution": (
        "redundant",
        lambda d: d[IPEX]["product"].update(aliases=["ext_for_torch"]),
        "aliases =",
        "without an alias",
    ),
    "alias-is-the-version": (
        "redundant",
        lambda d: release(d, HARDWARE).update(aliases=["Max"]),
        "aliases =",
        "without an alias",
    ),
    "alias-is-the-name-of-the-feature": (
        "redundant",
        lambda d: d[FEATURE]["feature"].update(aliases=["Torch.Compile"]),
        "aliases =",
        "without an alias",
    ),
    "source-of-disputed-claims-twice": (
        "redundant",
        lambda d: d[IPEX]["dispute"][0].update(sources=["plan", "plan"]),
        "sources =",
        "twice",
    ),
    "source-cited-twice": ("redundant", lambda d: claim(d).update(sources=["plan", "plan"]), '["2.1.', "twice"),
    "contents-of-the-other-tag": (
        "redundant",
        lambda d: d[IMAGES]["tag"][1].update(contains=d[IMAGES]["tag"][0]["contains"]),
        "contains =",
        "same-as",
    ),
    "claim-twice": (
        "redundant-claim",
        lambda d: more_claims(d, kind="needs", of="ipex==2.1.10+xpu", to=["torch==2.1.0+xpu"]),
        '["2.1.',
        "says the same",
    ),
    "statement-said-twice": (
        "redundant-claim",
        lambda d: state(d, of="torch>=2.1,<2.2", status="beta"),
        "[[statement]]",
        "says the same",
    ),
    "claim-of-the-index": ("redundant-claim", repeat_requirement, '["2.1.', "index file holds"),
    "no-end-of-life": ("end-of-life", lambda d: d[TORCH]["product"].pop("eol-note"), "[product]", "eol-note"),
    "no-end-beside-others": ("end-of-life", lambda d: release(d, OS).pop("eol-note"), "[[release]]", "linux"),
    "explains-nothing": (
        "end-of-life",
        lambda d: d[IPEX]["product"].update({"eol-note": "Unknown."}),
        "eol-note =",
        "explains an absence",
    ),
    "explains-for-those-that-have-one": (
        "end-of-life",
        lambda d: d[OS]["product"].update({"eol-note": "Unknown."}),
        "eol-note =",
        "belongs to the releases",
    ),
    "unpublished-beside-an-end": (
        "end-of-life",
        lambda d: d[OS]["product"].update({"eol-rule": {"says": "Nothing.", "published": False, "sources": ["page"]}}),
        "eol-rule =",
        "some releases have one",
    ),
    "explained-twice": (
        "end-of-life",
        lambda d: release(d, TORCH).update({"eol-note": "Unknown."}),
        "eol-note =",
        "product explains",
    ),
    "letters-swapped": (
        "tag-spelling",
        lambda d: d[IMAGES]["tag"][2].update(name="2.1.20-xpu-pip-jypyter"),
        "name =",
        "'jupyter'",
    ),
    "letter-lost": ("tag-spelling", lambda d: d[IMAGES]["tag"][2].update(name="2.1.20-xpu-pip-jupter"), "name =", "'jupyter'"),
    "version-not-held": (
        "tag-contents",
        lambda d: d[IMAGES]["tag"][2].update(name="2.1.30-xpu-pip-jupyter"),
        "name =",
        "2.1.30",
    ),
    "version-not-held-by-the-other": (
        "tag-contents",
        lambda d: d[IMAGES]["tag"][1].update({"same-as": "2.1.10-xpu-pip-jupyter"}),
        "name =",
        "2.1.20",
    ),
    "another-device": ("tag-contents", lambda d: d[IMAGES]["tag"][2].update(device="cpu"), "device =", "cpu"),
    "another-option": ("tag-contents", lambda d: d[IMAGES]["tag"][2].update(option="idp"), "option =", "idp"),
    "replaced-in-a-ring": (
        "loop",
        lambda d: d[TORCH]["product"].update({"replaced-by": {"product": "ipex", "version": ">=2", "sources": ["list"]}}),
        "replaced-by",
        "ipex is replaced by torch",
    ),
    "needs-in-a-ring": (
        "loop",
        lambda d: more_claims(d, kind="needs", of="torch==2.1.0", to=["ipex==2.1.10"]),
        'id = "ipex"',
        "needs",
    ),
    "tags-in-a-ring": ("loop", lambda d: d[IMAGES]["tag"][1].update({"same-as": "2.1.20-xpu"}), "same-as", "same as"),
    "parts-in-a-ring": ("loop", lambda d: release(d, OS).update({"part-of": ["ubuntu22.04"]}), "part-of", "part of"),
    "nothing-leads-there": ("unreachable", hide, 'id = "lone"', "lone is unreachable"),
    "thread-long-unread": (
        "review",
        lambda d: source(d, TORCH, "talk").update(seen=date(2026, 1, 1)),
        "talk =",
        "last read on 2026-01-01",
    ),
    "page-of-the-timeline-long-unread": (
        "review",
        lambda d: source(d, TIMELINE, "plan").update(seen=date(2026, 1, 1)),
        "plan =",
        "last read on 2026-01-01",
    ),
    "index-long-unread": ("review", lambda d: d["index/numpy.toml"].update(seen=date(2025, 1, 1)), "seen =", "last read"),
    "open-list-long-unread": (
        "review",
        lambda d: d[TORCH]["product"]["complete"][0].update(until=date(2025, 1, 1)),
        "complete =",
        "last read",
    ),
    "revision-after-its-source": (
        "dates",
        lambda d: d[IMAGES]["revision"][1].update(at=d[IMAGES]["revision"][1]["at"].replace(year=2026, month=11, day=2)),
        "at =",
        "after the sources were read",
    ),
    "ended-before-a-bound": (
        "dates",
        lambda d: release(d, IPEX).update(released={"after": date(2026, 4, 1), "by": date(2026, 5, 1), "sources": ["plan"]}),
        "[[release]]",
        "before it came out on 2026-04-01",
    ),
    "event-of-two-names": ("names", lambda d: event(d, 2).update(id="ext-2.1.10"), "id =", "already stands for event 1"),
    "dispute-of-two-names": (
        "names",
        lambda d: d[TIMELINE]["dispute"].append({**d[TIMELINE]["dispute"][0]}),
        "id =",
        "already stands for dispute 1 of timeline.toml",
    ),
    "alias-twice": ("redundant", lambda d: d[IPEX]["product"].update(aliases=["ipx", "IPX"]), "aliases =", "IPX is found"),
    "alias-of-a-listed-release": (
        "redundant",
        lambda d: release(d, HARDWARE).update(aliases=["M-AX"]),
        "aliases =",
        "M-AX is found without an alias",
    ),
    "part-of-itself": (
        "references",
        lambda d: release(d, HARDWARE).update({"part-of": [release(d, HARDWARE)["version"]]}),
        "part-of =",
        "is part of itself",
    ),
    "no-such-series": (
        "references",
        lambda d: d[TORCH]["product"].update({"series-aliases": {"ok": "2.1", "old": "1.9"}}),
        "series-aliases",
        "1.9 is no series of torch",
    ),
    "exception-ended": ("exceptions", lambda d: exempt(d, until=date(2026, 11, 20)), "[[exception]]", "ended on"),
    "exception-idle": ("exceptions", exempt, "[[exception]]", "finds nothing"),
    "exception-for-years": ("exceptions", lambda d: exempt(d, until=date(2099, 1, 1)), "[[exception]]", "more than a year"),
    "exception-from-no-rule": ("exceptions", lambda d: exempt(d, rule="nothing"), "[[exception]]", "no rule"),
}


def found(data: Data, *rules: str) -> LintReport:
    """Return what lint says of data."""
    return lint(written(data), TODAY, rules)


def line(data: Data, finding: Finding) -> str:
    """Return the text of the line that a finding names."""
    return written(data)[finding.path].decode().splitlines()[finding.line - 1]


def test_good_data_are_clean() -> None:
    """No rule has anything to say of good data."""
    assert found(good()) == LintReport((), loaded=True)


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_found(name: str) -> None:
    """A planted fault is found by its rule, at the line where it stands, with the record named.

    What findings say changes only on purpose; COMPATKB_UPDATE_GOLDEN=1 writes it down anew.
    """
    rule, planted, text, said = FAULTS[name]
    data = good()
    planted(data)
    report = found(data)
    hits = [f for f in report.findings if f.rule == rule and said in f.message]
    assert hits, report.findings
    assert text in line(data, hits[0])
    assert hits[0].subject
    level = next(check.level for check in CHECKS if rule == check.name)
    assert {finding.level for finding in hits} == {level}
    told = [f"{f.path}:{f.line} {f.rule} {f.level} of {f.subject}: {f.message} | {f.fix}" for f in report.findings]
    recorded = json.loads(SAID.read_text(encoding="utf-8"))
    if os.environ.get("COMPATKB_UPDATE_GOLDEN"):
        changed = {one: recorded.get(one, []) for one in FAULTS} | {name: told}
        SAID.write_text(json.dumps(changed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        assert told == recorded[name]


def test_each_rule_has_a_fault() -> None:
    """Every rule is shown to find something; `form` has tests of its own below."""
    assert {fault[0] for fault in FAULTS.values()} | {"form"} == {check.name for check in CHECKS}


ALLOWED: dict[str, Callable[[Data], object]] = {
    "event-of-today": lambda d: event(d, 2).pop("announced") and event(d, 2).update(on=TODAY, precision="day"),
    "ended-on-its-first-day": lambda d: d[IPEX]["product"]["eol"].update({"last-day": date(2024, 6, 1), "precision": "day"}),
    "build-of-the-last-day": lambda d: (
        build(d, IPEX).update(released=moment(2024, 6, 15))
        or d[IPEX]["product"]["eol"].update({"last-day": date(2024, 6, 15), "precision": "day"})
    ),
    "exception-for-a-year": lambda d: exempt(d, until=TODAY + LONGEST) or d[TORCH]["product"].pop("eol-note"),
    "revisions-of-one-moment": lambda d: d[IMAGES]["revision"][1].update(at=d[IMAGES]["revision"][0]["at"]),
    "series-of-whole-versions": lambda d: d[TORCH]["product"].update({"series-aliases": {"new": "2.1.0", "old": "2"}}),
    "closer-yank": lambda d: release(d, TORCH, 1).update(yanked={"by": date(2026, 9, 1), "sources": ["list"]}),
    "another-day-than-the-upload": lambda d: release(d, TORCH).update(released={"on": date(2023, 10, 5), "sources": ["list"]}),
    "label-of-its-maker": call_otherwise,
    "other-device-other-line": lambda d: (
        build(d, IPEX).update(devices=["cpu"]) or release(d, IPEX).update(released=moment(2023, 11))
    ),
    "whole-file": lambda d: source(d, IPEX, "plan").update(at="whole file"),
    "file-at-a-commit-long-unread": lambda d: source(d, IPEX, "plan").update(seen=date(2024, 1, 1)),
    "breaks-beside-what-is-needed": lambda d: more_claims(
        d, kind="breaks", of="ipex==2.1.10", to=["torch==2.0.0"], reason="It fails."
    ),
    "breaks-elsewhere": lambda d: more_claims(
        d, kind="breaks", of="ipex==2.1.10", to=["torch==2.1.0"], when={"device": ["cpu"]}, reason="It fails."
    ),
    "open-dispute": lambda d: d[IPEX]["dispute"][0].update(decision="open"),
    "dispute-over-a-date": lambda d: d[IPEX]["dispute"].append(
        {**SAYS, "id": "x", "of": ["ipex==2.1.10"], "sources": ["plan", "plan"], "decision": "the first"}
    ),
    "dispute-where-both-hold": lambda d: d[IPEX]["dispute"][0].update(decision="both"),
    "dispute-of-a-claim-and-a-position": lambda d: d[IPEX]["dispute"][0].update(
        positions=["1.26.4", "2.0.0"], sources=["plan", "page"], decision="1.26.4, as tested"
    ),
    "denied-on-another-device": lambda d: state(d, of="torch==2.1.0+xpu", status="removed", when={"device": ["cpu"]}),
    "denied-beside-what-is-there": lambda d: state(d, of="torch==2.0.0", status="removed"),
    "feature-called-as-a-product-is": lambda d: d[FEATURE]["feature"].update(aliases=["NumPy"]),
    "event-of-this-year": lambda d: event(d, 2).update(on=date(2026, 1, 1)) or event(d, 2).pop("announced"),
    "failure-with-its-culprit": lambda d: observe(d, outcome="failed-import", culprit="ipex-2.1.20-torch"),
    "failure-with-its-dispute": lambda d: observe(d, outcome="failed-import", culprit="ipex-2.1.20-numpy"),
    "failure-mended-since": lambda d: observe(d, outcome="failed-import", checked="2026-10-01"),
    "failure-of-what-nobody-claims": lambda d: observe(
        d, outcome="failed-import", packages={"torch": "2.1.0+xpu", "unknown": "1"}
    ),
    "failure-on-another-device": lambda d: (
        claim(d, 1).update(when={"device": ["xpu"]}) or observe(d, outcome="failed-run", level="run", device="cpu")
    ),
    "failed-to-resolve": lambda d: observe(d, level="resolve", outcome="conflict"),
    "failure-of-an-open-dispute": lambda d: (
        d[IPEX]["dispute"][0].update(decision="open")
        or observe(d, outcome="failed-run", packages={"ext-for-torch": "2.1.20+xpu", "numpy": "1.26.4"})
    ),
    "not-checked": lambda d: observe(d, outcome="not-checked", detail="no device"),
    "shared-import-name": lambda d: [d[p]["product"].update({"import-name": "torch_ext"}) for p in (TORCH, IPEX)],
    "product-of-an-image-alone": lambda d: (
        hide(d) or d[IMAGES]["tag"][0]["contains"].append({"is": "lone", "sources": ["table"]})
    ),
    "day-that-is-today": lambda d: source(d, IPEX, "plan").update(seen=TODAY),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_allowed(name: str) -> None:
    """What looks like a fault and is none is left alone."""
    data = good()
    ALLOWED[name](data)
    assert found(data).findings == ()


@pytest.mark.parametrize(
    ("spoil", "line_number", "fixable"),
    [
        pytest.param(lambda text: text.replace("\n\n", "\n\n\n", 1), 12, True, id="blank-line"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), 1, True, id="line-ends"),
        pytest.param(lambda text: text.replace("rank = 1", "rank=1"), 6, True, id="spacing"),
        pytest.param(lambda text: text.rstrip("\n"), 0, True, id="no-end-of-line"),
        pytest.param(lambda text: text.replace("[source]", "[source] # here"), 13, False, id="comment"),
    ],
)
def test_form(spoil: Callable[[str], str], line_number: int, fixable: bool) -> None:
    """A file that is not canonical is found at the line where it departs; `fmt` is its fix unless a comment would be lost."""
    contents = written(good())
    contents[TORCH] = spoil(contents[TORCH].decode()).encode()
    (finding,) = lint(contents, TODAY).findings
    assert (finding.rule, finding.path) == ("form", TORCH)
    assert (finding.fix == f"compatkb fmt {TORCH}") is fixable
    if line_number:
        assert abs(finding.line - line_number) <= 1


def test_releases_stand_newest_first() -> None:
    """Releases in another order than the canonical one are a matter of form."""
    data = good()
    data[TORCH]["release"].reverse()
    assert [finding.rule for finding in found(data).findings] == ["form"]


def test_exception_accepts_a_finding() -> None:
    """A valid exception takes its finding away and is counted; a star stands for any text."""
    data = good()
    data[TORCH]["product"].pop("eol-note")
    exempt(data, subject="tor*")
    assert found(data) == LintReport((), loaded=True, exempted=1)


def test_ended_exception_brings_the_finding_back() -> None:
    """After its last day an exception is a finding itself, and accepts nothing."""
    data = good()
    data[TORCH]["product"].pop("eol-note")
    exempt(data, until=date(2026, 11, 20))
    assert [finding.rule for finding in found(data).findings] == ["exceptions", "end-of-life"]
    data["exceptions.toml"]["exception"][0]["until"] = TODAY
    assert found(data).findings == ()


def test_exception_of_a_rule_that_does_not_run_is_not_idle() -> None:
    """Running one rule alone does not call the exceptions of others idle."""
    data = good()
    exempt(data)
    assert found(data, "form", "exceptions").findings == ()


def test_data_that_do_not_load() -> None:
    """Unreadable files are findings too, one per problem with its line, and nothing else is checked."""
    contents = written(good())
    contents[TORCH] = contents[TORCH].replace(b'version = "2.0.0"\nsources', b"version = 2.0\nsources")
    contents[OS] = b'[product\nid = "os"\n'
    contents[IPEX] = b"\xff\xfe"
    report = lint(contents, TODAY)
    assert not report.loaded
    assert {finding.rule for finding in report.findings} == {LOADS}
    assert {finding.path for finding in report.findings} == {TORCH, OS, IPEX}
    spoilt = next(finding for finding in report.findings if finding.path == TORCH)
    assert contents[TORCH].decode().splitlines()[spoilt.line - 1] == "version = 2.0"


def test_event_that_cannot_be_dated() -> None:
    """What keeps the timeline or a feature from resolving is found at its record, and the other rules still run."""
    data = good()
    event(data)["on"] = date(2023, 12, 1)
    data[TORCH]["product"].pop("eol-note")
    report = found(data)
    assert [finding.rule for finding in report.findings] == ["end-of-life", LOADS]
    assert not report.loaded
    assert written(data)[TIMELINE].decode().splitlines()[report.findings[1].line - 1] == "[[event]]"


def test_evidence_names_its_file_and_line() -> None:
    """A finding about evidence has the file and line of that observation, in whichever file it stands."""
    contents = written(good())
    line = json.dumps(observation(outcome="failed-run", level="run")).encode()
    contents["evidence/2026-12.jsonl"] = contents[EVIDENCE] + line + b"\n"
    (finding,) = lint(contents, TODAY).findings
    assert (finding.rule, finding.path, finding.line) == ("evidence-contradicts", "evidence/2026-12.jsonl", 2)
    assert finding.sources == ("https://github.com/maker/ext/blob/v2.1.10/README.md#L12",)


def test_evidence_of_files_read_before_has_its_number() -> None:
    """Where no places of evidence are given, a finding has the number of the observation."""
    contents = written(good())
    line = json.dumps(observation(outcome="failed-run", level="run")).encode()
    contents[EVIDENCE] += line + b"\n"
    (finding,) = lint_loaded(parse(contents), TODAY).findings
    assert (finding.rule, finding.path, finding.line) == ("evidence-contradicts", "evidence", 2)


def test_a_problem_names_the_file_of_its_claim() -> None:
    """Claims of a product and statements of a feature stand in different folders."""
    data = good()
    claim(data)["to"] = ["tourch"]
    statement(data)["of"] = "tourch==2.1.0"
    with pytest.raises(DataError) as refused:
        build_knowledge(load(Path("data"), written(data)))
    assert sorted(str(refused.value).splitlines())[:2] == [
        "features/compile.toml: claim compile-cpu: tourch is no product",
        "products/ipex.toml: claim ipex-2.1.10-torch: tourch is no product",
    ]


def test_a_file_that_is_too_large_is_not_read() -> None:
    """A file of more than the bound is a problem that says which bound."""
    contents = written(good()) | {TORCH: b" " * (LARGEST + 1)}
    assert [p.message for p in parse(contents).problems if p.path == TORCH] == ["is larger than 16 MiB, which no data file is"]


def test_a_claim_that_says_more_than_the_index_is_not_redundant() -> None:
    """A claim repeats the index only where all that it says stands there."""
    data = good()
    repeat_requirement(data)
    assert [finding.rule for finding in found(data, "redundant-claim").findings] == ["redundant-claim"]
    data[TORCH]["claim"][-1].update(to=["numpy==1.26.4", "python<3.13"])
    assert found(data, "redundant-claim").findings == ()


def test_missing_channels_are_a_finding() -> None:
    """A directory without channels.toml does not load."""
    contents = written(good())
    del contents[CHANNELS]
    report = lint(contents, TODAY)
    assert not report.loaded
    assert [finding.path for finding in report.findings] == [CHANNELS]


@pytest.mark.long
def test_shipped_data_are_clean() -> None:
    """The shipped data have no finding of any level on the day of their last reading, and no file in another form."""
    contents = read(ROOT / "data")
    report = lint(contents, last_read())
    assert report.findings == ()
    assert report.loaded


# -- the commands -------------------------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The good data on disk."""
    for path, content in written(good()).items():
        (tmp_path / "data" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / path).write_bytes(content)
    return tmp_path / "data"


def spoil(data: Path, path: str, old: str, new: str) -> None:
    """Change the text of a file."""
    text = (data / path).read_text(encoding="utf-8")
    assert old in text
    (data / path).write_text(text.replace(old, new, 1), encoding="utf-8")


def test_lint_exit_codes(data: Path, run: Callable[..., Run]) -> None:
    """0 without findings, 1 with errors, warnings count from --fail-on on, 2 for an unknown rule, 3 for data that fail."""
    words = ("lint", "--data", str(data), "--as-of", "2026-11-21")
    assert run(*words) == Run(0, "no findings\n", "")
    spoil(data, TORCH, 'thread = "issues/7", seen = 2026-11-01', 'thread = "issues/7", seen = 2026-01-01')
    assert run(*words).code == 0
    assert run(*words, "--fail-on", "warning").code == 1
    spoil(data, TORCH, "rank = 1", "rank = 2")
    assert run(*words).code == 1
    assert run(*words, "--rule", "review").code == 0
    assert run(*words, "--rule", "nonsense").code == 2
    spoil(data, TORCH, "[product]", "[product")
    assert run(*words).code == 3


def test_lint_text(data: Path, run: Callable[..., Run]) -> None:
    """A finding is one line with place, level, message and rule, then its fix, with the directory that was named."""
    spoil(data, TORCH, "rank = 1", "rank=1")
    done = run("lint", "--data", str(data), "--as-of", "2026-11-21")
    where = next(line for line in done.out.splitlines() if line.startswith(TORCH))
    assert re.fullmatch(r"products/torch\.toml:6:1: error: not in canonical form from here on \[form\]", where)
    assert f"    fix: compatkb fmt {TORCH} --data {data}\n" in done.out
    assert done.out.endswith("\n1 error\n")


def test_lint_json(data: Path, run: Callable[..., Run]) -> None:
    """JSON names every field of a finding."""
    spoil(data, IPEX, '"<2"', '">=3"')
    done = run("lint", "--data", str(data), "--as-of", "2026-11-21", "--format", "json", "--rule", "known-version")
    (finding,) = json.loads(done.out)["findings"]
    assert finding["sources"] == ["https://github.com/maker/ext/blob/v2.1.10/README.md#L12"]
    assert finding["subject"] == "ipex claim ipex-2.1.10-numpy, row 1 of constrains numpy"
    assert set(finding) == {"rule", "level", "path", "line", "column", "message", "fix", "sources", "subject"}


def test_lint_annotations(data: Path, run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """Annotations name files from the current folder, with what would end a field escaped."""
    spoil(data, IPEX, '"<2"', '">=3"')
    monkeypatch.chdir(data.parent)
    done = run("lint", "--data", "data", "--as-of", "2026-11-21", "--format", "github", "--rule", "known-version")
    assert re.fullmatch(
        r"::error file=data/products/ipex\.toml,line=\d+,col=\d+,title=known-version::numpy>=3 names .*\n", done.out
    )


def test_lint_lists_its_rules(run: Callable[..., Run]) -> None:
    """--rules lists every rule with its level."""
    lines = run("lint", "--rules").out.splitlines()
    assert [line.split()[:2] for line in lines] == [[check.name, check.level] for check in CHECKS]


def test_fmt_writes_the_form(data: Path, run: Callable[..., Run]) -> None:
    """`fmt --check` names what would change and writes nothing; `fmt` writes it; then nothing is left to do."""
    before = {path: path.read_bytes() for path in data.rglob("*.toml")}
    spoil(data, TORCH, "rank = 1", "rank=1")
    spoilt = (data / TORCH).read_bytes()
    done = run("fmt", "--check", "--data", str(data))
    assert (done.code, done.out.splitlines()[0]) == (1, f"would write {TORCH}")
    assert (data / TORCH).read_bytes() == spoilt
    assert run("fmt", IPEX, "--data", str(data)).code == 0
    assert (data / TORCH).read_bytes() == spoilt
    assert run("fmt", str(data / TORCH), "--data", str(data)).out.splitlines()[0] == f"wrote {TORCH}"
    assert {path: path.read_bytes() for path in data.rglob("*.toml")} == before
    assert run("fmt", "--check", "--data", str(data)).code == 0


def test_fmt_sorts_releases(data: Path, run: Callable[..., Run]) -> None:
    """`fmt` puts the newest release first, by its version and not by its text."""
    path = data / IPEX
    text = path.read_text(encoding="utf-8")
    spoil(data, IPEX, 'version = "2.1.20"\n', 'version = "2.1.9"\n')
    assert run("fmt", "--data", str(data)).code == 0
    found = re.findall(r'^\[\[release\]\]\nversion = "(.*)"', path.read_text(encoding="utf-8"), re.MULTILINE)
    assert found == ["2.1.10", "2.1.9"]
    assert path.read_text(encoding="utf-8") != text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        pytest.param("[source]", "# old ones\n[source]", "a comment would be lost", id="comment"),
        pytest.param("rank = 1", "rank = x", "products/torch.toml:6", id="no-toml"),
        pytest.param("rank = 1", "rnak = 1", "rnak", id="no-such-key"),
    ],
)
def test_fmt_loses_nothing(data: Path, run: Callable[..., Run], old: str, new: str, said: str) -> None:
    """Where a file cannot be read, or has a comment, `fmt` writes no file at all and exits 3."""
    spoil(data, IPEX, "rank = 2", "rank=2")
    spoil(data, TORCH, old, new)
    before = {path: path.read_bytes() for path in data.rglob("*.toml")}
    done = run("fmt", "--data", str(data))
    assert done.code == 3
    assert said in done.err
    assert {path: path.read_bytes() for path in data.rglob("*.toml")} == before


def test_fmt_refuses_other_files(data: Path, run: Callable[..., Run], tmp_path: Path) -> None:
    """A file that is no data file of the directory is wrong usage."""
    (tmp_path / "x.toml").write_text("a=1\n", encoding="utf-8")
    assert run("fmt", str(tmp_path / "x.toml"), "--data", str(data)).code == 2


@pytest.mark.long
def test_fmt_keeps_what_files_say() -> None:
    """The canonical text of every shipped file reads back as the same record, and is its own canonical text."""
    from compatkb.authoring.canonical import misshapen
    from compatkb.authoring.loader import parse

    contents = read(ROOT / "data")
    loaded = parse({path: b"".join([content, b"\n\n"]) for path, content in contents.items()})
    again = parse({document.path: canonical(document).encode() for document in loaded.documents})
    assert [document.record for document in again.documents] == [document.record for document in loaded.documents]
    assert misshapen(contents) == {}


def test_rules_are_documented() -> None:
    """docs/lint.md has a section per rule, in the order of the rules, with what, why, an example and how to mend it."""
    page = (ROOT / "docs" / "lint.md").read_text(encoding="utf-8")
    sections = re.findall(r"^### `([a-z-]+)`\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in sections] == [check.name for check in CHECKS]
    for name, text in sections:
        assert all(f"**{word}.**" in text for word in ("What", "Why", "Example", "Mend")), name


@pytest.mark.parametrize("path", sorted(good()))
def test_missing_file_is_no_crash(path: str) -> None:
    """Whichever file is missing, lint says what is wrong, and ends."""
    files = written(good())
    del files[path]
    report = lint(files, TODAY)
    assert report.findings or path.startswith(("images/", "index/", "features/", "evidence/", "timeline"))
