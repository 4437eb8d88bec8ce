"""Faults planted into the real data, one at a time: loader or lint must see each.

`python tests/mutations.py` plants them all and writes docs/lint-mutations.md; tests/test_mutations.py plants a sample.
A mutation is a slip that a curator could make. It is planted into the parsed content and written back as it would
stand in the file, with everything else in canonical form, so that nothing is caught for its layout alone.
"""

import copy
import random
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from conftest import last_read
from pydantic import ValidationError

from compatkb.authoring.canonical import text_of
from compatkb.authoring.lint import LOADS, lint_loaded
from compatkb.authoring.loader import DataDocument, Loaded, LoadProblem, model_of, parse, parse_document, read
from compatkb.core.findings import Finding

ROOT = Path(__file__).resolve().parent.parent
TODAY = last_read()  # the day on which nothing in the data lies ahead
SEED = 20261121
EACH = 4
"""How many mutations of each kind a full run plants."""

Content = dict[str, Any]


class Fault(NamedTuple):
    """A planted fault: the file, its new content or bytes (None: it is gone), and a new name where it was renamed."""

    path: str
    said: str
    content: Content | bytes | None
    renamed: str | None = None


class Result(NamedTuple):
    """What became of a fault: the rules that saw it, `loads` where the data no longer load."""

    kind: str
    path: str
    said: str
    rules: tuple[str, ...]


@cache
def shipped() -> tuple[dict[str, Content], Loaded]:
    """Return the content of the data files by path, and the files as loaded."""
    contents = read(ROOT / "data")
    loaded = parse(contents)
    assert not loaded.problems
    return {path: tomllib.loads(text.decode()) for path, text in contents.items() if path.endswith(".toml")}, loaded


@cache
def before() -> frozenset[tuple[str, str, str]]:
    """Return the findings in the data as they are: what is there anyway sees no fault."""
    return frozenset(map(_told, lint_loaded(Loaded(shipped()[1].documents, (), ()), TODAY).findings))


def _told(finding: Finding) -> tuple[str, str, str]:
    return finding.rule, finding.path, finding.message


# -- where faults go ----------------------------------------------------------------------------------------------


class Planter:
    """Chooses places at random and changes copies of the content."""

    def __init__(self, seed: str) -> None:
        self.pick = random.Random(seed)
        self.data = shipped()[0]

    def file(self, folder: str, fits: Callable[[Content], object] = bool) -> tuple[str, Content]:
        """Return a file of a folder that fits, with a copy of its content."""
        names = [path for path in self.data if path.startswith(folder) and fits(self.data[path])]
        path = self.pick.choice(names)
        return path, copy.deepcopy(self.data[path])

    def record(self, folder: str, key: str, fits: Callable[[Content], object] = bool) -> tuple[str, Content, Content]:
        """Return a file, a copy of its content, and a record of the list `key` in it that fits."""
        counts = {p: sum(1 for r in c.get(key, ()) if fits(r)) for p, c in self.data.items() if p.startswith(folder)}
        paths = [path for path, count in counts.items() if count]
        path = self.pick.choices(paths, [min(counts[p], 60) for p in paths])[0]
        content = copy.deepcopy(self.data[path])
        return path, content, self.pick.choice([record for record in content[key] if fits(record)])

    def build(self, fits: Callable[[Content], object] = bool) -> tuple[str, Content, Content, Content]:
        """Return a file, a copy of its content, a release and a build of it that fits."""
        path, content, release = self.record("products/", "release", lambda r: any(fits(b) for b in r.get("build", ())))
        return path, content, release, self.pick.choice([b for b in release["build"] if fits(b)])

    def source(self, fits: Callable[[Content], object] = bool) -> tuple[str, Content, str]:
        """Return a file, a copy of its content, and the id of a source that fits."""
        path, content = self.file("", lambda c: any(fits(s) for s in c.get("source", {}).values()))
        return path, content, self.pick.choice([n for n, s in content["source"].items() if fits(s)])


def cited(value: object) -> Iterator[Content]:
    """Yield every table inside a value that cites sources."""
    if isinstance(value, dict):
        if "sources" in value:
            yield value
        for inner in value.values():
            yield from cited(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from cited(inner)


def exact(term: str) -> bool:
    """Return whether a term names one version."""
    return "==" in term and "," not in term and "*" not in term


def products_of(terms: list[str]) -> set[str]:
    """Return the products that terms name."""
    return {term.split("=")[0].split("<")[0].split(">")[0].split("!")[0].strip() for term in terms}


# -- the kinds of faults ------------------------------------------------------------------------------------------


def source_deleted(at: Planter) -> Fault:
    """A source is deleted, and what cites it stays."""
    path, content, name = at.source()
    del content["source"][name]
    return Fault(path, f"source {name}", content)


def citation_deleted(at: Planter) -> Fault:
    """A record loses its only source."""
    path, content = at.file("products/", lambda c: c["source"])
    record = at.pick.choice([r for r in cited(content) if len(r["sources"]) == 1 and len(r) > 1])
    name = record.pop("sources")[0]
    return Fault(path, f"a record with {name} alone", content)


def citation_misspelt(at: Planter) -> Fault:
    """A record cites a source that is not there."""
    path, content = at.file("", lambda c: c.get("source"))
    record = at.pick.choice(list(cited(content)))
    record["sources"][0] += "-x"
    return Fault(path, f"sources {record['sources'][0]}", content)


def place_deleted(at: Planter) -> Fault:
    """A source no longer says where in the file."""
    path, content, name = at.source(lambda s: "at" in s and "path" in s)
    del content["source"][name]["at"]
    return Fault(path, f"source {name}", content)


def ref_moving(at: Planter) -> Fault:
    """A source names a branch instead of a commit."""
    path, content, name = at.source(lambda s: "ref" in s)
    content["source"][name]["ref"] = at.pick.choice(["main", "master", "HEAD"])
    return Fault(path, f"source {name}", content)


def digest_garbled(at: Planter) -> Fault:
    """The digest of a wheel is cut short or gone."""
    path, content, name = at.source(lambda s: "sha256" in s)
    source = content["source"][name]
    source["sha256"] = source["sha256"][:-1]
    return Fault(path, f"source {name}", content)


def releases_swapped(at: Planter) -> Fault:
    """Two releases swap their versions."""
    path, content = at.file("products/", lambda c: len(c.get("release", ())) > 1)
    number = at.pick.randrange(len(content["release"]) - 1)
    one, two = content["release"][number], content["release"][number + 1]
    one["version"], two["version"] = two["version"], one["version"]
    return Fault(path, f"{one['version']} and {two['version']}", content)


def index_versions_swapped(at: Planter) -> Fault:
    """Two releases of an index file swap their versions."""
    path, content = at.file("index/", lambda c: len(c["release"]) > 1)
    number = at.pick.randrange(len(content["release"]) - 1)
    one, two = content["release"][number], content["release"][number + 1]
    one["version"], two["version"] = two["version"], one["version"]
    return Fault(path, f"{one['version']} and {two['version']}", content)


def requirements_swapped(at: Planter) -> Fault:
    """Two claims of a kind swap what they need."""

    def fits(record: Content) -> bool:
        return record["kind"] == "needs" and all(exact(t) for t in record["to"]) and len(products_of(record["to"])) == 1

    path, content, one = at.record("products/", "claim", lambda r: fits(r) and products_of(r["to"]) & {"torch", "ipex"})
    others = [r for r in content["claim"] if fits(r) and products_of(r["to"]) == products_of(one["to"])]
    others = [r for r in others if r["to"] != one["to"] and r["of"] != one["of"]]
    if not others:
        return requirements_swapped(at)
    two = at.pick.choice(others)
    one["to"], two["to"] = two["to"], one["to"]
    return Fault(path, f"claims {one['id']} and {two['id']}", content)


def version_garbled(at: Planter) -> Fault:
    """A version gets a character that it cannot have."""
    path, content, record = at.record("products/", "release", lambda r: r["version"][0].isdigit())
    old = record["version"]
    record["version"] = at.pick.choice([old.replace(".", "..", 1), f"{old}.x", f"{old}/", old.replace(".", ",", 1), f"{old} "])
    if record["version"] == old:
        record["version"] = f"{old}/"
    return Fault(path, f"{old} as {record['version']}", content)


def version_unquoted(at: Planter) -> Fault:
    """A version stands without quotes, so that TOML reads a number."""
    path, content, record = at.record(
        "products/", "release", lambda r: r["version"].count(".") == 1 and "t" not in r["version"]
    )
    try:
        record["version"] = float(record["version"])
    except ValueError:
        return version_unquoted(at)
    return Fault(path, str(record["version"]), content)


def tag_misspelt(at: Planter) -> Fault:
    """A letter of an image tag is dropped or swapped, in the tag and wherever it is listed."""
    path, content, record = at.record("images/", "tag", lambda r: sum(c.isalpha() for c in r["name"]) > 5)
    old = record["name"]
    places = [n for n in range(len(old) - 1) if old[n].isalpha() and old[n + 1].isalpha() and old[n] != old[n + 1]]
    n = at.pick.choice(places)
    swapped = old[:n] + old[n + 1] + old[n] + old[n + 2 :]
    new = at.pick.choice([swapped, old[:n] + old[n + 1 :]])
    return Fault(path, f"{old} as {new}", _renamed_tag(content, old, new))


def tag_misspelt_once(at: Planter) -> Fault:
    """A tag is misspelt where it is listed, and spelt right elsewhere."""
    path, content, record = at.record("images/", "listing", lambda r: r["table"] != "services")
    old = record["tags"][0]
    n = at.pick.randrange(len(old) - 1)
    record["tags"][0] = old[:n] + old[n + 1 :]
    return Fault(path, f"{old} as {record['tags'][0]}", content)


def tag_version_changed(at: Planter) -> Fault:
    """A tag carries another version than what it holds, wherever it is listed."""
    path, content, record = at.record("images/", "tag", lambda r: r["name"][0].isdigit() and "contains" in r)
    old = record["name"]
    head, _, tail = old.partition("-")
    number, _, rest = head.partition(".")
    new = f"{int(number) + 1}.{rest}-{tail}"
    return Fault(path, f"{old} as {new}", _renamed_tag(content, old, new))


def _renamed_tag(content: Content, old: str, new: str) -> Content:
    for tag in content["tag"]:
        tag["name"] = new if tag["name"] == old else tag["name"]
        if tag.get("same-as") == old:
            tag["same-as"] = new
    for listing in content["listing"]:
        listing["tags"] = [new if name == old else name for name in listing["tags"]]
    return content


def released_in_future(at: Planter) -> Fault:
    """A release comes out next year."""
    path, content, record = at.record("products/", "release", lambda r: r.get("released", {}).get("on"))
    record["released"]["on"] = TODAY + timedelta(days=at.pick.randrange(2, 400))
    return Fault(path, f"{record['version']} on {record['released']['on']}", content)


def released_years_off(at: Planter) -> Fault:
    """The year of a release is wrong by two."""
    years = at.pick.choice([-2, 2])

    def fits(record: Content) -> bool:
        day = record.get("released", {}).get("on")
        return bool(day) and day.year + years <= TODAY.year - 1

    path, content, record = at.record("products/", "release", fits)
    day = record["released"]["on"]
    record["released"]["on"] = day + timedelta(days=365 * years)
    return Fault(path, f"{record['version']} on {record['released']['on']} instead of {day}", content)


def upload_years_off(at: Planter) -> Fault:
    """The year of an upload is wrong by two."""
    path, content, record = at.record("index/", "release", lambda r: r["uploaded"].year < TODAY.year - 2)
    record["uploaded"] += timedelta(days=730)
    return Fault(path, f"{record['version']} on {record['uploaded'].date()}", content)


def ended_before_released(at: Planter) -> Fault:
    """A release is out of support before it came out."""
    path, content, record = at.record("products/", "release", lambda r: "eol" in r and r.get("released", {}).get("on"))
    record["eol"]["last-day"] = record["released"]["on"] - timedelta(days=at.pick.randrange(1, 1000))
    return Fault(path, f"{record['version']} until {record['eol']['last-day']}", content)


def read_in_future(at: Planter) -> Fault:
    """A source was read tomorrow."""
    path, content, name = at.source()
    content["source"][name]["seen"] = TODAY + timedelta(days=at.pick.randrange(1, 100))
    return Fault(path, f"source {name}", content)


def read_long_ago(at: Planter) -> Fault:
    """A thread or page was last read more than a year ago."""
    path, content, name = at.source(lambda s: "thread" in s or "url" in s)
    content["source"][name]["seen"] = TODAY - timedelta(days=at.pick.randrange(366, 2000))
    return Fault(path, f"source {name}", content)


def yanked_before_uploaded(at: Planter) -> Fault:
    """An index file shows a withdrawal before the upload."""
    path, content, record = at.record("index/", "release", lambda r: "yanked" in r)
    record["yanked"]["seen"] = record["uploaded"].date() - timedelta(days=at.pick.randrange(1, 400))
    return Fault(path, f"{record['version']} on {record['yanked']['seen']}", content)


def alias_doubled(at: Planter) -> Fault:
    """A release gets an alias of another one."""
    path, content, record = at.record("products/", "release", lambda r: r.get("aliases"))
    other = at.pick.choice([r for r in content["release"] if r is not record])
    other["aliases"] = [*other.get("aliases", ()), record["aliases"][0]]
    return Fault(path, f"{record['aliases'][0]} for {other['version']} too", content)


def product_alias_doubled(at: Planter) -> Fault:
    """A product gets the name of another one as an alias."""
    path, content = at.file("products/")
    other, record = at.file("products/", lambda c: c["product"]["id"] != content["product"]["id"])
    content["product"]["aliases"] = [*content["product"].get("aliases", ()), record["product"]["id"]]
    return Fault(path, f"{record['product']['id']} ({other}) for {content['product']['id']} too", content)


def claim_id_doubled(at: Planter) -> Fault:
    """A claim gets the id of another one."""
    path, content, record = at.record("products/", "claim")
    other = at.pick.choice([r for r in content["claim"] if r is not record] or [record])
    if other is record:
        return claim_id_doubled(at)
    record["id"] = other["id"]
    return Fault(path, other["id"], content)


def claim_doubled(at: Planter) -> Fault:
    """A claim is written a second time under another id."""
    path, content, record = at.record("products/", "claim")
    content["claim"].append({**copy.deepcopy(record), "id": f"{record['id']}-again"})
    return Fault(path, record["id"], content)


def claim_denied(at: Planter) -> Fault:
    """A claim says that what another one needs or saw tested breaks."""
    path, content, record = at.record(
        "products/", "claim", lambda r: r["kind"] in ("needs", "verified") and any(exact(t) for t in r["to"])
    )
    terms = [record["to"][0]] if record["kind"] == "verified" else record["to"]
    if not all(exact(t) for t in terms):
        return claim_denied(at)
    denial = {**copy.deepcopy(record), "id": f"{record['id']}-not", "kind": "breaks", "to": terms, "reason": "It fails."}
    content["claim"].append(denial)
    return Fault(path, record["id"], content)


def claim_opposed(at: Planter) -> Fault:
    """A claim needs another version than a second one, of the same thing for the same thing."""
    path, content, record = at.record("products/", "claim", lambda r: r["kind"] == "needs" and all(exact(t) for t in r["to"]))
    name = next(iter(products_of(record["to"])))
    there = at.data.get(f"products/{name}.toml", {}).get("release", ())
    named = {term.split("==")[1].split("+")[0] for term in record["to"]}
    others = [r["version"] for r in there if r["version"] not in named and r["version"].split("+")[0] not in named]
    if not others or len(products_of(record["to"])) != 1:
        return claim_opposed(at)
    opposed = {**copy.deepcopy(record), "id": f"{record['id']}-other", "to": [f"{name}=={at.pick.choice(others)}"]}
    content["claim"].append(opposed)
    return Fault(path, f"{record['id']} against {opposed['to'][0]}", content)


def dispute_deleted(at: Planter) -> Fault:
    """A dispute between claims that exclude each other is deleted, and both claims stay."""
    path, content, record = at.record("products/", "dispute", lambda r: len(r.get("claims", ())) > 1)
    kinds = {c["kind"] for c in content["claim"] if c["id"] in record["claims"]}
    if kinds == {"verified"}:  # two lists of what was tested do not exclude each other
        return dispute_deleted(at)
    content["dispute"] = [r for r in content["dispute"] if r is not record]
    return Fault(path, record["id"], content)


def decision_dangling(at: Planter) -> Fault:
    """A dispute is decided for a claim that it is not about."""
    path, content, record = at.record("products/", "dispute", lambda r: len(r.get("claims", ())) > 1)
    if "positions" in record:  # then the decision is a text of people
        return decision_dangling(at)
    record["decision"] = f"{record['decision']}x"
    return Fault(path, record["id"], content)


def release_dropped(at: Planter) -> Fault:
    """A release that a claim names exactly is deleted."""
    data = at.data
    path, content = at.file("products/", lambda c: c.get("release"))
    own = content["product"]["id"]
    terms = {t for c in data.values() for r in c.get("claim", ()) for t in (r["of"], *r["to"]) if exact(t)}
    named = {term.partition("==")[2].strip() for term in terms if term.startswith(f"{own}==")}
    there = [r for r in content["release"] if r["version"] in named]
    if not there:
        return release_dropped(at)
    record = at.pick.choice(there)
    content["release"] = [r for r in content["release"] if r is not record]
    return Fault(path, record["version"], content)


def release_doubled(at: Planter) -> Fault:
    """A release stands twice."""
    path, content, record = at.record("products/", "release")
    content["release"].insert(content["release"].index(record), copy.deepcopy(record))
    return Fault(path, record["version"], content)


def file_renamed(at: Planter) -> Fault:
    """A file gets another name."""
    path, content = at.file(at.pick.choice(["products/", "images/", "index/", "features/"]))
    return Fault(path, "renamed", content, path.replace(".toml", "-2.toml"))


def file_deleted(at: Planter) -> Fault:
    """A product that others name loses its file."""
    path, content = at.file("products/", lambda c: len(c.get("release", ())) > 10)
    return Fault(path, content["product"]["id"], None)


def note_deleted(at: Planter) -> Fault:
    """An inference loses its reason."""
    path, content = at.file("", lambda c: any(r.get("basis") == "inferred" for r in cited(c)))
    record = at.pick.choice([r for r in cited(content) if r.get("basis") == "inferred"])
    return Fault(path, f"note {record.pop('note')!r}", content)


def end_deleted(at: Planter) -> Fault:
    """An end of life, or the explanation of its absence, is deleted."""
    path, content = at.file("products/", lambda c: "eol-note" in c["product"] or any("eol" in r for r in c.get("release", ())))
    if content["product"].pop("eol-note", None):
        return Fault(path, "eol-note", content)
    record = at.pick.choice([r for r in content["release"] if "eol" in r or "eol-note" in r])
    del record["eol" if "eol" in record else "eol-note"]
    return Fault(path, f"of {record['version']}", content)


def version_unknown(at: Planter) -> Fault:
    """A claim names a version that there is not."""
    path, content, record = at.record("products/", "claim", lambda r: any(exact(t) for t in r["to"]))
    number = at.pick.choice([n for n, t in enumerate(record["to"]) if exact(t)])
    old = record["to"][number]
    head, _, version = old.partition("==")
    new = version.replace(".", ".9", 1) if "." in version else f"{version}9"
    record["to"][number] = f"{head}=={new}"
    return Fault(path, f"{old} as {record['to'][number]}", content)


def content_unknown(at: Planter) -> Fault:
    """An image holds a version that there is not."""
    path, content, record = at.record("images/", "tag", lambda r: any(exact(c["is"]) for c in r.get("contains", ())))
    held = at.pick.choice([c for c in record["contains"] if exact(c["is"])])
    held["is"] = held["is"].replace(".", ".9", 1) if "." in held["is"] else f"{held['is']}9"
    return Fault(path, f"{record['name']} with {held['is']}", content)


def product_unknown(at: Planter) -> Fault:
    """A claim names a product that there is not."""
    path, content, record = at.record("products/", "claim")
    record["to"][0] = f"x{record['to'][0]}"
    return Fault(path, f"{record['id']}: {record['to'][0]}", content)


def place_unknown(at: Planter) -> Fault:
    """A build names a channel, a device, a system or a Python that there is not."""
    path, content, _, build = at.build(lambda b: b.get("wheels") and b.get("channels"))
    rows = build["wheels"][0]
    target = at.pick.choice([build["channels"], build["devices"], rows["os"], rows["python"]])
    target[0] = f"{target[0]}9"
    return Fault(path, f"{build['version']}: {target[0]}", content)


def key_misspelt(at: Planter) -> Fault:
    """A key of a record is misspelt."""
    path, content = at.file("products/", lambda c: c.get("release"))
    record = at.pick.choice([*content["release"], *content.get("claim", ())])
    key = at.pick.choice(list(record))
    record[f"{key}s" if not key.endswith("s") else key[:-1]] = record.pop(key)
    return Fault(path, key, content)


def build_misplaced(at: Planter) -> Fault:
    """A build gets the version of another release."""
    path, content, release, build = at.build(lambda b: "maker" not in b)
    others = [r["version"] for r in content["release"] if r is not release and r.get("build")]
    if not others:
        return build_misplaced(at)
    label = "+" + build["version"].partition("+")[2] if "+" in build["version"] else ""
    old, build["version"] = build["version"], at.pick.choice(others) + label
    return Fault(path, f"{old} as {build['version']}", content)


def upload_repeated(at: Planter) -> Fault:
    """A product file repeats the day of upload."""
    listed = {c["distribution"]: c for p, c in at.data.items() if p.startswith("index/")}
    path, content = at.file(
        "products/", lambda c: c["product"].get("distribution") in listed and len(c.get("release", ())) > 1
    )
    days = {r["version"]: r["uploaded"].date() for r in listed[content["product"]["distribution"]]["release"]}
    record = at.pick.choice([r for r in content["release"] if r["version"] in days and "released" not in r] or [None])
    if record is None:
        return upload_repeated(at)
    record["released"] = {"on": days[record["version"]], "basis": "first-upload", "sources": record["sources"][:1]}
    return Fault(path, f"{record['version']} on {days[record['version']]}", content)


def chain_looped(at: Planter) -> Fault:
    """A product is replaced by itself, or a tag repeats itself."""
    if at.pick.random() < 0.5:
        path, content, record = at.record("images/", "tag", lambda r: "same-as" in r)
        record["same-as"] = record["name"]
        return Fault(path, record["name"], content)
    path, content = at.file("products/", lambda c: c.get("release"))
    name = content["product"]["id"]
    source = next(iter(content["source"]))
    content["product"]["replaced-by"] = {"product": name, "version": "", "sources": [source]}
    content["product"]["replaced-by"]["version"] = f"=={content['release'][0]['version']}"
    return Fault(path, name, content)


def requirement_garbled(at: Planter) -> Fault:
    """A requirement of an index file cannot be read."""
    path, content, record = at.record("index/", "release", lambda r: r.get("requires"))
    number = at.pick.randrange(len(record["requires"]))
    record["requires"][number] = record["requires"][number].split(";")[0].rstrip() + at.pick.choice(
        [" >=>", " ; python <", " =< 3"]
    )
    return Fault(path, record["requires"][number], content)


def exception_expired(at: Planter) -> Fault:
    """An exception is past its end, or excepts nothing."""
    path, content, record = at.record("exceptions.toml", "exception")
    if at.pick.random() < 0.5:
        record["until"] = TODAY - timedelta(days=1)
    else:
        record["subject"] = "torch release 0.0"
    return Fault(path, f"{record['rule']} until {record['until']} for {record['subject']}", content)


def statement_opposed(at: Planter) -> Fault:
    """A second statement denies what one says of a feature, or gives it another stage."""
    path, content, record = at.record("features/", "statement", lambda r: r["status"] not in ("not-supported", "removed"))
    stages = {"supported", "beta", "prototype", "not-supported", "removed"} - {record["status"]}
    other = {**copy.deepcopy(record), "id": f"{record['id']}-other", "status": at.pick.choice(sorted(stages))}
    content["statement"].append(other)
    return Fault(path, f"{record['id']} as {other['status']}", content)


def statement_reversed(at: Planter) -> Fault:
    """A second statement says that a feature is there which another one denies."""
    path, content, record = at.record("features/", "statement", lambda r: r["status"] == "not-supported")
    said = {**copy.deepcopy(record), "id": f"{record['id']}-not", "status": "supported"}
    content["statement"].append(said)
    return Fault(path, record["id"], content)


def statement_doubled(at: Planter) -> Fault:
    """A statement on a feature is written a second time, under its id or another one."""
    path, content, record = at.record("features/", "statement")
    again = copy.deepcopy(record)
    if at.pick.random() < 0.5:
        again["id"] += "-again"
    content["statement"].append(again)
    return Fault(path, f"{record['id']} as {again['id']}", content)


def statement_version_unknown(at: Planter) -> Fault:
    """A statement on a feature is of a version or product that there is not."""
    path, content, record = at.record("features/", "statement")
    old = record["of"]
    product = old.split("=")[0].split("<")[0].split(">")[0].split("~")[0]
    record["of"] = at.pick.choice([f"{product}==0.0.99", f"{product}>=99", f"x{old}"])
    return Fault(path, f"{record['id']}: {old} as {record['of']}", content)


def statement_condition_misspelt(at: Planter) -> Fault:
    """A statement on a feature holds on a device, system or hardware that there is not."""
    path, content, record = at.record(
        "features/", "statement", lambda r: set(r.get("when", {})) & {"device", "os", "hardware"}
    )
    key = at.pick.choice(sorted(set(record["when"]) & {"device", "os", "hardware"}))
    record["when"][key][0] = record["when"][key][0][:-1] + "q"
    return Fault(path, f"{record['id']}: {key} {record['when'][key][0]}", content)


def feature_alias_doubled(at: Planter) -> Fault:
    """A feature gets the name or an alias of another one."""
    path, content = at.file("features/")
    other, record = at.file("features/", lambda c: c["feature"]["id"] != content["feature"]["id"])
    name = at.pick.choice([record["feature"]["id"], *record["feature"].get("aliases", ())])
    content["feature"]["aliases"] = [*content["feature"].get("aliases", ()), name]
    return Fault(path, f"{name} ({other})", content)


def feature_product_unknown(at: Planter) -> Fault:
    """A feature is part of a product, or brought by one, that there is not."""
    path, content = at.file("features/")
    head = content["feature"]
    target, key = at.pick.choice([(head, "product"), *((brought, "product") for brought in head.get("needs", ()))])
    target[key] += "x"
    return Fault(path, target[key], content)


def event_undated(at: Planter) -> Fault:
    """An event names a release that there is not, or one that has no date."""
    path, content, record = at.record("timeline.toml", "event", lambda r: "==" in r.get("of", ""))
    old = record["of"]
    record["of"] = old.replace(".", ".9", 1)
    return Fault(path, f"{old} as {record['of']}", content)


def event_date_repeated(at: Planter) -> Fault:
    """A release in the timeline has a date of its own beside that of the product."""
    path, content, record = at.record("timeline.toml", "event", lambda r: "==" in r.get("of", "") and r["kind"] == "release")
    record["on"] = TODAY - timedelta(days=at.pick.randrange(30, 900))
    record.setdefault("sources", [next(iter(content["source"]))])
    return Fault(path, f"{record['id']} on {record['on']}", content)


def event_in_future(at: Planter) -> Fault:
    """An event lies in the future and nobody announced it, or was announced after it."""
    path, content, record = at.record("timeline.toml", "event", lambda r: "on" in r and r.get("precision") is None)
    if at.pick.random() < 0.5:
        record["on"] = TODAY + timedelta(days=at.pick.randrange(2, 400))
        record.pop("announced", None)
    else:
        record["announced"] = record["on"] + timedelta(days=at.pick.randrange(1, 20))
    return Fault(path, f"{record['id']} on {record['on']}", content)


def event_misnamed(at: Planter) -> Fault:
    """An event takes the id of another one, or belongs to nobody."""
    path, content, record = at.record("timeline.toml", "event")
    if at.pick.random() < 0.5:
        other = at.pick.choice([r for r in content["event"] if r is not record])
        record["id"] = other["id"]
    else:
        record["who"] += "x"
    return Fault(path, f"{record['id']} of {record['who']}", content)


def position_deleted(at: Planter) -> Fault:
    """A dispute loses a position, and its source stays, or the other way round."""
    folder = at.pick.choice(["products/", "images/", "timeline.toml"])
    path, content, record = at.record(folder, "dispute", lambda r: r.get("positions"))
    record[at.pick.choice(["positions", "sources"])].pop()
    return Fault(path, record["id"], content)


def concern_misspelt(at: Planter) -> Fault:
    """A dispute concerns a release, a tag or an event that there is not."""
    folder = at.pick.choice(["products/", "images/", "timeline.toml"])
    path, content, record = at.record(folder, "dispute", lambda r: r.get("of"))
    old = record["of"][0]
    record["of"][0] = f"x{old}" if folder != "products/" or not exact(old) else f"{old}9.9"
    return Fault(path, f"{record['id']}: {old} as {record['of'][0]}", content)


def dispute_id_doubled(at: Planter) -> Fault:
    """A dispute takes the id of one in another file."""
    path, content, record = at.record("products/", "dispute")
    other, _, second = at.record(at.pick.choice(["images/", "timeline.toml"]), "dispute")
    record["id"] = second["id"]
    return Fault(path, f"{second['id']} of {other}", content)


def day_of_position_wrong(at: Planter) -> Fault:
    """A dispute over a day lacks the day of a position, or one lies in the future."""
    path, content, record = at.record("products/", "dispute", lambda r: r.get("days") and r["day"] == "released")
    if at.pick.random() < 0.5:
        record["days"].pop()
    else:
        record["days"][0] = TODAY + timedelta(days=at.pick.randrange(1, 400))
    return Fault(path, record["id"], content)


def bytes_broken(at: Planter) -> Fault:
    """A line loses its closing quote, or half of a file is gone."""
    path, content = at.file("")
    text = text_of(model_of(path).model_validate(content))
    quotes = [n for n, c in enumerate(text) if c == '"']
    n = at.pick.choice(quotes)
    return Fault(path, f"quote at {n}", (text[:n] + text[n + 1 :]).encode())


def layout_changed(at: Planter) -> Fault:
    """A file has a comment, trailing blanks or records in another order."""
    path, content = at.file("")
    text = text_of(model_of(path).model_validate(content))
    how = at.pick.choice(["comment", "blanks", "order"])
    if how == "comment":
        return Fault(path, how, f"# todo\n{text}".encode())
    if how == "blanks":
        return Fault(path, how, text.replace("\n\n", "\n\n\n", 1).encode() if "\n\n" in text else f"{text}\n".encode())
    lines = text.split("\n")
    lines[1], lines[2] = lines[2], lines[1]
    return Fault(path, how, "\n".join(lines).encode())


KINDS: tuple[Callable[[Planter], Fault], ...] = (
    source_deleted, citation_deleted, citation_misspelt, place_deleted, ref_moving, digest_garbled, releases_swapped,
    index_versions_swapped, requirements_swapped, version_garbled, version_unquoted, tag_misspelt, tag_misspelt_once,
    tag_version_changed, released_in_future, released_years_off, upload_years_off, ended_before_released, read_in_future,
    read_long_ago, yanked_before_uploaded, alias_doubled, product_alias_doubled, claim_id_doubled, claim_doubled,
    claim_denied, claim_opposed, dispute_deleted, decision_dangling, release_dropped, release_doubled, file_renamed,
    file_deleted, note_deleted, end_deleted, version_unknown, content_unknown, product_unknown, place_unknown, key_misspelt,
    build_misplaced, upload_repeated, chain_looped, requirement_garbled, exception_expired, statement_opposed,
    statement_reversed, statement_doubled, statement_version_unknown, statement_condition_misspelt, feature_alias_doubled,
    feature_product_unknown, event_undated, event_date_repeated, event_in_future, event_misnamed, position_deleted,
    concern_misspelt, dispute_id_doubled, day_of_position_wrong, bytes_broken, layout_changed,
)  # fmt: skip


# -- planting and judging -----------------------------------------------------------------------------------------


def planted(fault: Fault) -> tuple[Loaded, bool]:
    """Return the data with a fault in them, and whether it shows in the layout of its file already."""
    documents = []
    problems: list[LoadProblem] = []
    for document in shipped()[1].documents:
        if document.path != fault.path:
            documents.append(document)
        elif fault.content is not None:
            path = fault.renamed or document.path
            if isinstance(fault.content, bytes):
                made = parse_document(path, fault.content, problems)
            else:
                made = _written(path, fault.content, problems)
            documents += [made] if made else []
    return Loaded(tuple(documents), (), tuple(problems)), isinstance(fault.content, bytes)


def _written(path: str, content: Content, problems: list[LoadProblem]) -> DataDocument | None:
    """Return content as a file in the order in which it was given, so that its layout is canonical but for the fault."""
    try:
        record = model_of(path).model_validate(content)
    except ValidationError as error:
        problems.append(LoadProblem(path, None, str(error).splitlines()[0]))
        return None
    return DataDocument(path, text_of(record), record)


def plant(kind: Callable[[Planter], Fault], number: int) -> Result:
    """Plant one fault of a kind and return which rules see it; the same numbers give the same fault."""
    fault = kind(Planter(f"{SEED} {kind.__name__} {number}"))
    loaded, _ = planted(fault)
    report = lint_loaded(loaded, TODAY)
    rules = {finding.rule for finding in report.findings if finding.rule == LOADS or _told(finding) not in before()}
    return Result(kind.__name__, fault.path, fault.said, tuple(sorted(rules)))


def _plant(job: tuple[int, int]) -> Result:
    kind, number = KINDS[job[0]], job[1]
    try:
        return plant(kind, number)
    except Exception as error:  # a crash is no answer: the run goes on, and the fault counts as missed
        return Result(kind.__name__, "", f"number {number} ends in {error!r}", ())


def page(results: list[Result]) -> str:
    """Return docs/lint-mutations.md: counts per kind, and what was missed."""
    by_kind: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_kind[result.kind].append(result)
    caught = sum(bool(result.rules) for result in results)
    laid_out = sum(result.rules == ("form",) for result in results)
    lines = [
        "# Does lint see faults?",
        "",
        f"`make mutations` plants {len(results)} faults into the data, one at a time, chosen at random from a fixed seed,",
        f"and runs `compatkb lint` over each. {caught} are seen ({100 * caught / len(results):.1f} %), {laid_out} of them by",
        "the rule `form` alone. What a fault is and how it is planted stands in `tests/mutations.py`; a sample runs with the",
        "tests. A wrong fact that contradicts nothing is not among the faults: only a reader of its source can see it.",
        "",
        "| fault | planted | seen | by the rules |",
        "|---|---|---|---|",
    ]
    for kind in KINDS:
        found = by_kind[kind.__name__]
        rules = Counter(rule for result in found for rule in result.rules)
        named = ", ".join(f"{rule} {count}" for rule, count in sorted(rules.items(), key=lambda item: (-item[1], item[0])))
        said = (kind.__doc__ or "").strip().rstrip(".")
        lines.append(f"| {said} | {len(found)} | {sum(bool(r.rules) for r in found)} | {named} |")
    missed = [result for result in results if not result.rules]
    lines += ["", "## Missed", ""]
    lines += [
        f"- {result.path}: {result.kind.replace('_', ' ')}: {result.said}. {WHY.get(result.kind, '')}" for result in missed
    ]
    return "\n".join(lines).rstrip() + "\n"


WHY: dict[str, str] = {
    "dispute_deleted": "One of its claims is wider than the other and does not exclude it.",
    "released_years_off": "Nothing there has an order or a day to compare it with.",
    "upload_years_off": "Nothing there has an order or a day to compare it with.",
}
"""Why faults of a kind may go unseen."""


def main() -> None:
    """Plant everything, write the page, and end with 1 where fewer than 95 % are seen."""
    jobs = [(kind, number) for kind in range(len(KINDS)) for number in range(EACH)]
    with ProcessPoolExecutor(max_workers=2) as pool:
        results = []
        for count, result in enumerate(pool.map(_plant, jobs, chunksize=4), 1):
            results.append(result)
            if not result.rules:
                print(f"missed: {result.kind}: {result.path}: {result.said}", file=sys.stderr)
            if count % 50 == 0:
                print(f"{count} of {len(jobs)}", file=sys.stderr)
    (ROOT / "docs" / "lint-mutations.md").write_text(page(results), encoding="utf-8")
    seen = sum(bool(result.rules) for result in results)
    print(f"{seen} of {len(results)} faults are seen")
    sys.exit(seen < 0.95 * len(results))


if __name__ == "__main__":
    main()
