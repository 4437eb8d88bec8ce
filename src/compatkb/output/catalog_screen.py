"""The screens of `show`, `list` and `eol`: what a product, release or application is, what there is, and what ends when."""

import re
from collections.abc import Iterator
from datetime import date
from functools import reduce
from operator import or_

from compatkb.core.clock import later
from compatkb.core.names import is_free_threaded
from compatkb.output import disputes, messages
from compatkb.output.catalog import Catalog, Content
from compatkb.output.documents import Edition, short, source_payloads
from compatkb.output.features import release_lines as feature_lines
from compatkb.output.issue_text import spec_in_words
from compatkb.output.labels import DEVICE, HARDWARE, SYSTEM, ranges, series_of
from compatkb.output.machine import MachineText
from compatkb.output.screen import (
    BLANK,
    HEIGHT,
    Block,
    Line,
    Row,
    columns,
    command,
    fitted,
    height_of,
    labelled,
    labelled_rows,
    wrapped,
)
from compatkb.output.things import listed, shortened
from compatkb.request.lookup import find_versions
from compatkb.store.queries.provenance import Application
from compatkb.store.records import Product
from compatkb.store.suggestions import successors

_NEWEST = 10
_SOON = 90
"""Days before an end from which it is called near."""
_STAGES = {"tag-only": "tagged, without published wheels", "source-only": "must be built from source"}
_SUCCESSORS = 4
"""Releases of a family that are named as what outlives another one."""
_BRIEF = 68
"""Letters of a remark that fit beside a day."""
_NO_END = "the vendor publishes no end of support"
_BUILDS = 3
_RELEASES = _NAMED = 2
_ALIASES = 3
_ROLES = {"companion": " (of torch)", "leaf": " (dependency)", "dimension": " (platform)"}
_COLUMNS = ("version", "released", "builds", "", "name")
_FAR = 10_000
"""Days beyond which a look ahead is one at everything."""
_AROUND = 6
"""Lines beside the ends of life: headings, columns, the foot."""
_MACHINE = f"{HARDWARE}=="
_KINDS = {
    "needs": ("requires", ""),
    "verified": ("works with", ""),
    "constrains": ("works with", "only "),
    "breaks": ("avoid", ""),
}
"""The label and the first word of what a release says of others, by the kind of claim."""
_LABELS = (
    "support", "security", "builds", "works with", "contents", "requires", "platforms", "features", "known issues", "evidence",
    "untested", "avoid",
)  # fmt: skip
"""The rows of a release, in their order."""
_UNLIMITED = 10_000
_EVERYWHERE = ("ld-linux", "libc.so", "libdl.", "libgcc_s.", "libm.so", "libpthread.", "librt.", "libstdc++.")
"""Libraries of the system itself, as their names begin."""

_FEW_NOTICES = 3


class CatalogScreen(Catalog):
    """Prints the contents of the catalog."""

    def list_lines(self, product: Product | None, device: str = "") -> list[Line]:
        """Return the products, or the versions of one, newest first, a row each; of hardware that of one device."""
        if product is None:
            known = self.products()
            shown = [(each["id"], str(each["releases"]), f"{each['name']}{_ROLES.get(each['role'], '')}") for each in known]
            return [*columns(shown, ("product", "releases", "name"), 0), *self.edition.footer("compatkb list PRODUCT")]
        rows = [_row(release) for release in self.releases(product, device)]
        used = [n for n in range(len(_COLUMNS)) if any(row[n] for row in rows)]
        lines = columns([[row[n] for n in used] for row in rows], [_COLUMNS[n] for n in used], 0)
        return [*lines, *self.edition.footer(f"compatkb show {product.id} VERSION")]

    def product_lines(self, product: Product, *, why: bool = False) -> list[Line]:
        """Return what a product is, whether it is maintained, and its newest releases; with `why` all that is known of it."""
        content = self.product(product)
        if why:
            return [*map(Line, _product_lines(product, content, self.day)), *self.edition.footer()]
        there = {element.release for element in self.facts.elements(product.id) if element.installable and element.channels}
        releases = [entry for entry in content["releases"] if entry["version"] in there] or content["releases"]
        bare = [entry["version"] for entry in content["releases"] if entry not in releases]
        name = f"{product.label}   {product.name}" if product.name != product.label else product.name
        newest = releases[0] if releases else {"version": None, "released": None}
        on = f" ({newest['released']})" if (newest["released"] or "")[:1].isdigit() else ""
        newest_of = f" · newest {newest['version']}{on}" if product.scheme != "listed" and releases else ""
        blocks = [Block(wrapped(f"{name}{newest_of}", "", "  ", "heading")), Block([BLANK])]
        blocks += labelled_rows(
            [("support", self._maintained(product, content), 0), ("security", _notices(content["security"]), 0)]
        )
        rows = columns([_brief(release, content["eol"]) for release in releases[:_NEWEST]], indent=0) if releases else []
        head = [line for n, row in enumerate(rows) for line in labelled("" if n else "released", row.text)]
        more = len(releases) - _NEWEST
        head += labelled("", f"{more} more: `compatkb list {product.id}`") if more > 0 else []
        head += labelled("", f"without wheels: {shortened(bare)}") if bare else []
        blocks.append(Block(head))
        carried = {channel for element in self.facts.elements(product.id) for channel in element.channels}
        install = f"pip install {product.distribution}" if product.distribution and content["releases"] else None
        if install and carried and "default" not in carried:
            install = f"not on the default index: compatkb resolve {product.id}"
        blocks += labelled_rows([("builds", install, 1), ("untested", _points(content), 2)])
        return self._finished(blocks, f"compatkb show {product.id} VERSION")

    def _maintained(self, product: Product, content: Content) -> str:
        """Return until when a product is supported and what replaces it, or the rule of its vendor."""
        parts = []
        if content["eol"]:
            parts.append(f"{'discontinued' if content['eol'] < self.day.isoformat() else 'until'} {content['eol']}")
        if content["replaced_by"]:
            parts.append(f"use instead: {self.successor(product.id)}")
        if rule := self.facts.product_details(product.id).eol_rule:
            parts.append(messages.support_rule(rule.published, rule.says))
        elif not parts and not any(entry["eol"] for entry in content["releases"]):
            parts.append(_NO_END)
        return "; ".join(parts)

    def _platform_lines(self, product: Product, system: str, releases: list[Content]) -> list[Line]:
        """Return the releases of a product that are documented for a system, newest first, and what it carries."""
        head = f"{product.label} on {self.value(SYSTEM, system)}   newest documented {releases[0]['version']}"
        blocks = [Block(wrapped(head, "", "  ", "heading")), Block([BLANK])]
        rows: list[Row] = [("released", line.text, 1) for line in columns(map(_brief, releases[:_NEWEST]), indent=0)]
        carried = [r for r in self.facts.guide_records("carried") if r["system"] == system]
        blocks += labelled_rows([*rows, ("contents", MachineText(self.facts).contents(carried), 0)])
        return self._finished(blocks, f"compatkb show {product.id} {releases[0]['version']}")

    def release_lines(self, product: Product, version: str, *, why: bool = False) -> list[Line]:
        """Return for the newest of some releases its days, builds, what it needs and what it works with; `why` adds the rest.

        A system in place of a version has the releases that are documented for it. Raises UsageError for no such version.
        """
        system = None if find_versions(self.facts, product, version) else self._system(version)
        if system and (documented := self.documented_on(product, system)):
            return self._platform_lines(product, system, documented)
        releases = self.chosen(product, version)
        if why:
            text = "\n".join(f"{product.id} {_release_lines(entry, self.day)}" for entry in releases)
            return [*map(Line, text.splitlines()), *self.edition.footer()]
        blocks: list[Block] = []
        said: tuple[str, str] = ("", "")
        for number, entry in enumerate(releases[:_RELEASES]):
            blocks += [Block([BLANK])] if number else []
            told = messages.first_sentence(self.support_of(product, entry)), _notices(entry["security"])
            alike = f"as {product.label} {releases[number - 1]['version']}"  # what is long is said once for both
            rows = (alike if number and text and text == before else text for text, before in zip(told, said, strict=True))
            blocks += self._one(product, entry, *rows)
            said = told
        if len(releases) > _RELEASES:
            rest = ", ".join(entry["version"] for entry in releases[_RELEASES:])
            blocks.append(Block([BLANK, *labelled("more", rest)]))
        return self._finished(blocks, "--why: sources")

    def _system(self, word: str) -> str | None:
        """Return the one system that a word means."""
        found = list(self.facts.elements(SYSTEM).of(self.facts.word(SYSTEM, word) or 0))
        return found[0].version if len(found) == 1 else None

    def _one(self, product: Product, entry: Content, support: str, security: str) -> list[Block]:
        days = [f"released {_marked(entry['released'], 'released', entry)}"] if entry["released"] else []
        if entry["eol"]:
            is_whole = entry["eol"] == self.facts.product_details(product.id).eol
            past = "discontinued" if is_whole else "end of life"
            word = past if entry["eol"] < self.day.isoformat() else "supported until"
            known_end = self.facts.release(product.id, entry["version"])
            last = messages.last_day(entry["eol"], known_end.eol_precision if known_end else None)
            days.append(f"{word} {_marked(last, 'end-of-life', entry)}")
        known = self.value(product.id, entry["version"])
        name = f"{product.label} {known}" if known == entry["version"] else known
        rows: list[Row] = [
            ("support", support, 0), ("security", security, 0), *self._build_rows(product, entry),
            *self._claim_rows(product, entry), *MachineText(self.facts).release_rows(product, entry["machine"]),
            ("requires", self._libraries(product, entry), 5),
            ("features", shortened(feature["feature"] for feature in entry["features"]), 4),
            ("evidence", entry["note"], 3), ("untested", _points(entry), 1),
        ]  # fmt: skip
        blocks = labelled_rows(sorted(rows, key=lambda row: _LABELS.index(row[0])))
        heading = Block(wrapped(f"{name}   {', '.join(days)}", "", "  ", "heading"))
        return [heading, Block([BLANK]), *blocks] if blocks else [heading]

    def _build_rows(self, product: Product, entry: Content) -> Iterator[Row]:
        """Yield the builds of a release, those for GPUs first: of many the first one, and the names of the others."""
        foreign = {element.version: element.kind for element in self.facts.elements(product.id) if element.foreign}
        builds = [build for build in entry["builds"] if build["version"] not in foreign] or list(entry["builds"])
        others = [build["version"] for build in entry["builds"] if build not in builds]
        ours = [*dict.fromkeys(device for route in self.facts.routes for device in route.devices)]
        proved = {each.version for each in self.facts.releases_of(DEVICE) if each.proof}  # what a CPU needs not be
        builds.sort(
            key=lambda build: (
                proved.isdisjoint(build["devices"]),
                min((ours.index(device) for device in build["devices"] if device in ours), default=len(ours)),
            )
        )
        most = _BUILDS if len(builds) <= _BUILDS else 1
        alike: dict[str, list[str]] = {}  # builds by their wheels
        for build in builds[:most]:
            alike.setdefault(self._wheels_of(build), []).append(self._build(build, foreign.get(build["version"])))
        for number, (wheels, heads) in enumerate(alike.items()):
            between = ": " if wheels and len(heads) > 1 else ", " if wheels else ""
            yield "builds", f"{listed(heads, ', and')}{between}{wheels}", min(number, 1)
        yield "builds", ", ".join(build["version"] for build in builds[most:]), 1
        yield "builds", f"for other devices: {', '.join(others)}" if others else "", 3

    def _claim_rows(self, product: Product, entry: Content) -> Iterator[Row]:
        """Yield what a release says of others, and others of it; what is alike under several conditions is said once."""
        told: dict[str, dict[str, list[str]]] = {label: {} for label in _LABELS}  # by label and text, under which conditions
        for kind, (label, lead) in _KINDS.items():
            for claim in (claim for claim in entry["claims"] if claim["kind"] == kind):
                if product.machine and all(term.startswith("os==") for term in claim["to"]):
                    continue  # a part of a machine is of a system by itself
                if kind == "verified" and all(term.startswith(_MACHINE) for term in claim["to"]):
                    names = [self.value(HARDWARE, term.removeprefix(_MACHINE)) for term in claim["to"]]
                    told["platforms"] |= {each.removeprefix("Intel "): [""] for each in names}
                elif named := self._named(claim):
                    condition = self._condition(claim["when"]) if claim["when"] else ""
                    told[label].setdefault(f"{lead}{named}{self._of_some(product, entry, claim)}", []).append(condition)
        told["works with"] |= {text: [""] for text in ([] if entry["builds"] else self._speakers(product, entry))}
        for label, texts in told.items():
            shown = [
                f"{text} ({' or '.join(dict.fromkeys(conditions))})" if all(conditions) else text
                for text, conditions in texts.items()
            ]
            text = shortened(shown) if label == "platforms" else "; ".join(shown)
            yield label, text, 1 if label == "works with" else 2

    def _libraries(self, product: Product, entry: Content) -> str:
        """Return what a build links, on the commonest machine for which most was read."""
        foreign = {element.version for element in self.facts.elements(product.id) if element.foreign}
        links = (link for build in entry["builds"] if build["version"] not in foreign for link in build["links"])
        link = min(links, key=self._commonness, default=None)
        needed = shortened(name for name in link["needs"] if not name.startswith(_EVERYWHERE)) if link else ""
        if not link or not needed:
            return ""
        return f"libraries at run time ({self.value('os', link['os'])}, {self.value('arch', link['arch'])}): {needed}"

    def support_of(self, product: Product, entry: Content) -> str:
        """Return what is said of the end of a release, the rule of its product, or that nobody publishes either."""
        record, rule = self.facts.release(product.id, entry["version"]), self.facts.product_details(product.id).eol_rule
        note = record.eol_note if record else None
        if entry["eol"]:
            brief = messages.first_sentence(note or "")
            last = messages.last_day(entry["eol"], record.eol_precision if record else None)
            is_bare = all(build["stage"] in _STAGES for build in entry["builds"])
            instead = f" · use instead: {other}" if is_bare and (other := self.successor(product.id)) else ""
            return (brief if 0 < len(brief) <= _BRIEF else f"no fixes after {last}") + instead
        return note or (messages.support_rule(rule.published, rule.says) if rule else _NO_END)

    def _of_some(self, product: Product, entry: Content, claim: Content) -> str:
        """Return of which builds a claim speaks, where it leaves out some that are for devices that are served."""
        own = [e for e in self.facts.elements(product.id) if e.release == entry["version"] and not e.foreign]
        masks = (
            edge.of_mask
            for to in self.facts.targets_of(product.id)
            for edge in self.facts.edges(product.id, to)
            if edge.claim == claim["id"]
        )
        mask = reduce(or_, masks, 0)
        held = [e.version for e in own if mask >> e.idx & 1]
        return f" ({', '.join(held)})" if held and len(held) < len(own) and claim["kind"] == "breaks" else ""

    def _speakers(self, product: Product, entry: Content) -> list[str]:
        """Return which releases of others are said to work with a release of `product`, by their product."""
        versions_by_label: dict[str, list[str]] = {}
        for claim in entry["claimed_by"]:
            name = re.split(r"[<>=!~\s]", claim["of"], maxsplit=1)[0]
            other = self.facts.products.get(name)
            if claim["kind"] == "verified" and other and other != product:
                versions = spec_in_words(claim["of"].removeprefix(name))
                versions_by_label.setdefault(other.label, []).append(versions)
        return [f"{name} {shortened(versions)}" for name, versions in versions_by_label.items()]

    def _commonness(self, link: Content) -> tuple[bool, int, int]:
        """Return the sort key by which what a build links is shown for the commonest machine that says most."""
        return bool(link["unlinked"]), -self.facts.families.index(link["os"]), -self.facts.grid["arch"].index(link["arch"])

    def _build(self, build: Content, kind: str | None) -> str:
        """Return a build with what it is for (the `kind` of device that it was compiled for), its state, and where it is."""
        devices = listed([self.value("device", device) for device in ([kind] if kind else build["devices"])])
        state = [_STAGES.get(build["stage"], build["stage"])] if build["stage"] != "stable" else []
        state += ["yanked"] if build["yanked"] else []
        where = listed([self._channel(channel) for channel in build["channels"]], "or")
        parts = [f"{build['version']} for {devices or 'any device'}", where, *state]
        return ", ".join(part for part in parts if part)

    def _wheels_of(self, build: Content) -> str:
        """Return the systems and Pythons of a build's wheels, those with the same Pythons together."""
        pythons: dict[str, set[str]] = {}
        archs: dict[str, set[str]] = {}
        for wheel in build["wheels"]:  # apart by architecture, and by whether they were seen
            pythons.setdefault(wheel["os"], set()).update(wheel["python"])
            archs.setdefault(wheel["os"], set()).add(wheel["arch"])
        order = self.facts.grid["python"]
        usual = {name for n, name in enumerate(self.facts.grid["arch"]) if self.facts.usual["arch"] >> n & 1}
        other = {system: f" ({', '.join(sorted(names))})" for system, names in archs.items() if not names & usual}
        alike: dict[str, list[str]] = {}
        for system, names in pythons.items():
            alike.setdefault(ranges(names, order), []).append(f"{self.value('os', system)}{other.get(system, '')}")
        return "; ".join(f"{listed(systems)} {names}" for names, systems in alike.items())

    def _channel(self, channel: str) -> str:
        known = next((c for c in self.facts.channels if c.id == channel), None)
        return channel if known is None else known.name if known.url else "default index"

    def _named(self, claim: Content) -> str:
        """Return what a claim is about: IPEX 2.8.0 or torch 2.8.*."""
        names = []
        for term in claim["to"]:
            product = next((p for p in self.facts.products.values() if term == p.id or term.startswith(f"{p.id}=")), None)
            if product and (version := term.removeprefix(product.id).lstrip("=")):
                is_named = product.scheme == "listed"
                names.append(self.value(product.id, version) if is_named else f"{product.label} {version}")
        return shortened(names)

    def _condition(self, when: str) -> str:
        """Return a condition with the names that people know: device xpu is Intel GPU."""
        parts = [part.partition(" ") for part in when.split("; ")]
        return ", ".join(", ".join(self.values(name, values.split(", "))) for name, _, values in parts)

    def eol_lines(
        self, product: Product | None, days: int, *, version: str | None = None, everything: bool = False
    ) -> list[Line]:
        """Return what ends within some days, soonest first, what has ended, latest first, and what has no day."""
        ends = self.ends(product, version, days)
        rules = self.rules(product, version, ends)
        soon = self._by_day(sorted((entry for entry in ends if not entry["ended"]), key=lambda entry: str(entry["last_day"])))
        past = self._by_day([entry for entry in ends if entry["ended"]])
        soon = soon or ([("", f"nothing ends within {days} days of {self.day}")] if days <= _FAR else [])
        ruled = sorted(self._rules(rules)) if rules and (everything or len(rules) == 1) else []
        far = version and ends and ends[0]["last_day"] > later(self.day, _SOON).isoformat()
        longer = self._outliving(product, ends) if version else []
        told = (("until" if far else "soon", soon), ("past", past), ("longer", longer), ("unknown", ruled))
        rows = [(word, *row) for word, group in told for row in group]
        words = [word for word, _, _ in rows]
        named = [(word if number == words.index(word) else "", *rest) for number, (word, *rest) in enumerate(rows)]
        lines = columns(named, indent=0) if named else []
        notes = dict.fromkeys(self._ending(entry) for entry in ends) if version else ()
        lines += [line for note in notes if note for line in wrapped(note, "  ", "  ")]
        room = _UNLIMITED if everything else HEIGHT - _AROUND
        while lines and height_of(lines) > room:
            lines.pop()
        more = [f"--all: {len(named) - len(lines)} more"] if len(lines) < len(named) else []
        return [*lines, *self.edition.footer(*more)]

    def _ending(self, entry: Content) -> str:
        """Return what is said beside the day on which a release ends: how, and what replaces its whole product."""
        known, other = self.facts.release(entry["product"], entry["version"]), self.successor(entry["product"])
        return (f"use instead: {other}" if other else known and known.eol_note) or ""

    def _outliving(self, product: Product | None, ends: list[Content]) -> list[tuple[str, str]]:
        """Return the releases of a family that end after some of it, those that end first before others: where to go next."""
        if product is None or not ends or self.facts.product_details(product.id).eol:
            return []
        last = max(self.day.isoformat(), *(entry["last_day"] for entry in ends))
        families = {re.sub(r"[\d.].*", "", entry["version"]) for entry in ends}
        own = [each for each in self.facts.releases_of(product.id) if not is_free_threaded(each.version)]
        alike = [each for each in own if re.sub(r"[\d.].*", "", each.version) in families]
        outliving = sorted(((each.eol, each) for each in alike if each.eol and each.eol > last), key=lambda pair: pair[0])
        return [
            (messages.last_day(str(end), each.eol_precision), each.name or f"{product.label} {each.version}")
            for end, each in outliving[-_SUCCESSORS:]
        ]

    def _rules(self, rules: list[Content]) -> Iterator[tuple[str, str]]:
        for entry in rules:
            yield "", f"{self.label(entry['product'])}: {messages.support_rule(entry['published'], entry['says'])}"

    def _by_day(self, entries: list[Content]) -> list[tuple[str, str]]:
        """Return each day with what ends on it: products with their releases, whole ones without."""
        by_day: dict[str, dict[str, list[Content]]] = {}
        for entry in entries:
            last = messages.last_day(entry["last_day"], entry["precision"])
            by_day.setdefault(last, {}).setdefault(entry["product"], []).append(entry)
        return [(day, " · ".join(self._ended(*each) for each in products.items())) for day, products in by_day.items()]

    def _ended(self, product: str, members: list[Content]) -> str:
        details, head = self.facts.product_details(product), self.facts.products[product]
        mark = " (disputed)" if any(entry["disputed"] for entry in members) else ""
        if details.eol and details.eol == members[0]["last_day"] and len(members) > 1:
            other = details.replaced_by
            then = f" · use {self.label(other.product)} instead: `compatkb migrate .`" if other else ""
            return f"{head.label}, all releases{mark}{then}"
        names = [self.value(product, entry["version"]) for entry in members]
        if names != [entry["version"] for entry in members]:
            return shortened(names) + mark
        whole = list(dict.fromkeys(series_of(head, name) for name in names))
        return f"{head.label} {shortened(whole if len(whole) < len(names) else names)}{mark}"

    def _finished(self, blocks: list[Block], more: str) -> list[Line]:
        return fitted([*blocks, Block(self.edition.footer(more))])


def _row(release: Content, end: str | None = None) -> tuple[str, ...]:
    """Return a release as a row: version, day, builds, state, which `end` of its product adds nothing to, and names."""
    builds = [build for build in release["builds"] if build != release["version"]]
    state = ["yanked"] if release["yanked"] else []
    if release["eol"] and release["eol"] != end:
        state.append(f"{'end of life' if release['ended'] else 'until'} {_marked(release['eol'], 'end-of-life', release)}")
    also = f" (also {', '.join(release['aliases'][:_ALIASES])})" if release["aliases"] else ""
    return (
        release["version"],
        _marked(release["released"], "released", release) if release["released"] else "",
        ", ".join([*builds[:_NAMED], *(["..."] if len(builds) > _NAMED else [])]),
        ", ".join(state),
        f"{release['name'] or ''}{also}".strip(),
    )


def _brief(release: Content, end: str | None = None) -> tuple[str, ...]:
    """Return the row of a release without its further names."""
    return (*_row(release, end)[:-1], release["name"] or "")


def _notices(notices: list[Content]) -> str:
    """Return what is said of the security of releases: the first, and the names of a few more or how many there are."""
    first = next((notice["message"].rstrip(".") for notice in notices), "")
    more = [notice["message"].partition(" ")[0].rstrip(":") for notice in notices[1:] if notice["message"].startswith("CVE-")]
    few = 0 < len(more) <= _FEW_NOTICES and len(more) == len(notices) - 1
    return f"{first}; {'also ' + ', '.join(more) if few else f'{len(notices) - 1} more'}: --why" if len(notices) > 1 else first


def _points(entry: Content) -> str:
    count = len(entry["disputes"])
    return f"sources disagree about {count} point{'s' if count > 1 else ''} (--why)" if count else ""


def _marked(day: str, kind: str, entry: Content) -> str:
    return f"{day} (disputed)" if kind in entry["disputed"] else day


# -- all that is known: what `show --why` prints ------------------------------------------------------------------------


def _product_lines(product: Product, content: Content, day: date) -> list[str]:
    lines = [f"{product.name} ({product.id}), {product.role}"]
    if product.distribution:
        lines.append(f"distribution: {product.distribution}")
    if content["eol"]:
        lines.append(f"end of life: {content['eol']}{_over(content['eol'], day)}")
    if rule := content["eol_rule"]:
        lines.append(f"support: {messages.support_rule(rule['published'], rule['says'])}")
        lines += [f"  source: {source['text']}" for source in rule["sources"]]
    if other := content["replaced_by"]:
        on = f" on {other['device']}" if other.get("device") else ""
        lines.append(f"replaced by: {other['product']} {other['version']}{on}")
    lines += _notice_lines(content["security"], "")
    if content["note"]:
        lines.append(f"note: {content['note']}")
    lines += ["", f"{len(content['releases'])} releases, newest first:"]
    lines += [f"  {'  '.join(filter(None, _row(release)))}" for release in content["releases"]]
    if content["disputes"]:
        lines += ["", "disputed:", *(line for dispute in content["disputes"] for line in disputes.lines(dispute, "- "))]
    return lines


def _notice_lines(notices: list[Content], indent: str) -> Iterator[str]:
    for notice in notices:
        yield f"{indent}security: {notice['message']} ({notice['since']})"
        yield from (f"{indent}  source: {s['url'] or s['text']}" for s in notice["sources"])


def _release_lines(entry: Content, day: date) -> str:
    lines = [entry["version"]]
    if entry["released"]:
        basis = f" ({entry['released_basis']})" if entry["released_basis"] else ""
        lines.append(f"  released: {_marked(entry['released'], 'released', entry)}{basis}")
    if entry["eol"]:
        last = _marked(entry["eol"], "end-of-life", entry)
        lines.append(f"  end of life: {last}{_over(entry['eol'], day)}")
    lines += _notice_lines(entry["security"], "  ")
    if entry["note"]:
        lines.append(f"  note: {entry['note']}")
    for build in entry["builds"]:
        state = [build["stage"]] if build["stage"] != "stable" else []
        if build["yanked"]:
            state.append(f"yanked: {(build['yank_reason'] or 'no reason given').rstrip('.')}")
        more = f" ({'; '.join(state)})" if state else ""
        where = f" from {', '.join(build['channels'])}" if build["channels"] else ""
        lines.append(f"  build {build['version']} for {', '.join(build['devices']) or 'any device'}{where}{more}")
        for wheel in build["wheels"]:
            mark = " (inferred)" if wheel["basis"] == "inferred" else ""
            lines.append(f"    {wheel['os']} {wheel['arch']}: Python {', '.join(wheel['python'])}{mark}")
        for link in build["links"]:
            remarks = [*(f"nothing of {name}" for name in link["unlinked"]), *([link["conflict"]] if link["conflict"] else [])]
            lines.append(f"    {link['os']} {link['arch']} links: {'; '.join([', '.join(link['needs']), *remarks])}")
    for title, claims in (("says", entry["claims"]), ("others say", entry["claimed_by"])):
        if claims:
            lines.append(f"  {title}:")
        for claim in claims:
            when = f" when {claim['when']}" if claim["when"] else ""
            lines.append(f"    {claim['of']} {claim['kind']} {messages.terms(claim['to'])}{when} [{claim['basis']}]")
            lines += [f"      {name}: {claim[name]}" for name in ("reason", "note") if name in claim]
            lines += [f"      disputed: {d['about']} (below)" for d in claim.get("disputes", ())]
            lines += [f"      source: {s['url'] or s['text']}" for s in claim["sources"][:2]]
    lines += [line for dispute in entry["disputes"] for line in disputes.lines(dispute, indent="  ")]
    for name, value in entry["machine"].items():
        lines += [f"  {name.replace('_', ' ')}: {_said(record)}" for record in value]
    lines += feature_lines(entry["features"])
    lines += [f"  source: {s['url'] or s['text']}" for s in entry["sources"]]
    return "\n".join(lines) + "\n"


def _said(record: Content | str) -> str:
    """Return a record as its keys and values, without those that say nothing."""
    if isinstance(record, str):
        return record
    return "; ".join(f"{key.replace('_', ' ')} {value}" for key, value in record.items() if value not in (None, [], {}))


def _over(last_day: str, day: date) -> str:
    return " (over)" if last_day < day.isoformat() else ""


_SERVED = {"yes": "supported", "partly": "supported in part", "no": "not supported"}


def application_screen(application: Application, edition: Edition) -> list[Line]:
    """Return what an application does on Intel GPUs, what it requires, how it is installed and where that was read."""
    state = [f"{application.state} {application.ended}"] if application.ended else []
    said = ": ".join([*state, application.about or "application"])
    head = wrapped(f"{application.name}   {said}", "", "  ", "heading")
    by = f" by {listed(application.by)}" if application.by else ""
    since = f", since {application.since}" if application.since else ""
    blocks = [Block(head), Block([BLANK])]
    if application.install:
        blocks.append(Block([command(application.install), BLANK]))
    sources = "" if application.install else "; ".join(short(source) for source in application.sources)
    blocks += labelled_rows(
        [
            ("support", successors(application), 0),
            ("evidence", f"Intel GPU: {_SERVED[application.xpu]}{by}{since}", 0),
            ("requires", ", ".join(application.requires), 0),
            ("", application.note, 1),
            ("", sources, 2),
        ]
    )
    more = [f"compatkb resolve {application.id} HARDWARE"] if application.torch and application.xpu != "no" else []
    return fitted([*blocks, Block(edition.footer(*more))])


def application_json(application: Application, edition: Edition) -> str:
    """Return an application for programs."""
    content = {**application._asdict(), "sources": source_payloads(application.sources)}
    return edition.document({"application": content})
