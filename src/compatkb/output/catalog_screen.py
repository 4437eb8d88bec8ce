"""The first screens of `show` and `eol`: what a product or a release is, and what ends when."""

from collections.abc import Iterator
from datetime import date
from functools import reduce
from operator import or_
from typing import Any

from compatkb.output import messages
from compatkb.output.labels import HARDWARE, SYSTEM, Names, ranges, series_of
from compatkb.output.machine import MachineText
from compatkb.output.screen import (
    BLANK,
    HEIGHT,
    Block,
    Line,
    columns,
    fitted,
    height_of,
    labelled,
    labelled_block,
    wrapped,
)
from compatkb.output.things import listed, shortened
from compatkb.store.records import Product

Content = dict[str, Any]
_NEWEST = 10
_BRIEF = 68
"""Letters of a remark that fit beside a day."""
_NO_END = "the vendor publishes no end of support"
_BUILDS = 3
_RELEASES = _NAMED = 2
_ALIASES = 3
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
_UNLIMITED = 10_000
_EVERYWHERE = ("ld-linux", "libc.so", "libdl.", "libgcc_s.", "libm.so", "libpthread.", "librt.", "libstdc++.")
"""Libraries of the system itself, as their names begin."""


class CatalogScreen(Names):
    """Prints the contents of the catalog."""

    def product_lines(self, product: Product, content: Content, day: date) -> list[Line]:
        """Return what a product is, whether it is maintained, and its newest releases."""
        there = {element.release for element in self.facts.elements(product.id) if element.installable and element.channels}
        releases = [entry for entry in content["releases"] if entry["version"] in there] or content["releases"]
        bare = [entry["version"] for entry in content["releases"] if entry not in releases]
        name = f"{product.label}   {product.name}" if product.name != product.label else product.name
        newest = releases[0] if releases else {"version": None, "released": None}
        on = f" ({newest['released']})" if (newest["released"] or "")[:1].isdigit() else ""
        newest_of = f" · newest {newest['version']}{on}" if product.scheme != "listed" and releases else ""
        blocks = [Block(wrapped(f"{name}{newest_of}", "", "  ", "heading")), Block([BLANK])]
        blocks += labelled_block("support", self._maintained(product, content, day))
        blocks += labelled_block("security", _notices(content["security"]))
        rows = columns([_brief(release, content["eol"]) for release in releases[:_NEWEST]], indent=0) if releases else []
        head = [line for n, row in enumerate(rows) for line in labelled("" if n else "released", row.text)]
        more = len(releases) - _NEWEST
        head += labelled("", f"{more} more: `compatkb list {product.id}`") if more > 0 else []
        head += labelled("", f"without wheels: {shortened(bare)}") if bare else []
        blocks.append(Block(head))
        blocks += labelled_block("builds", f"pip install {product.distribution}" if product.distribution else None, 1)
        blocks += labelled_block("untested", _points(content), 2)
        return self._finished(blocks, day, [f"compatkb show {product.id} VERSION"])

    def _maintained(self, product: Product, content: Content, day: date) -> str:
        """Return until when a product is supported and what replaces it, or the rule of its vendor."""
        parts = []
        if content["eol"]:
            parts.append(f"{'discontinued' if content['eol'] < day.isoformat() else 'until'} {content['eol']}")
        if other := content["replaced_by"]:
            where = f" on {self.value('device', other['device'])}" if other.get("device") else ""
            parts.append(f"use instead: {self.label(other['product'])} {other['version']}{where}")
        if rule := self.facts.product_details(product.id).eol_rule:
            parts.append(messages.support_rule(rule.published, rule.says))
        elif not parts and not any(entry["eol"] for entry in content["releases"]):
            parts.append(_NO_END)
        return "; ".join(parts)

    def platform_lines(self, product: Product, system: str, releases: list[Content], day: date) -> list[Line]:
        """Return the releases of a product that are documented for a system, newest first, and what it carries."""
        head = f"{product.label} on {self.value(SYSTEM, system)}   newest documented {releases[0]['version']}"
        blocks = [Block(wrapped(head, "", "  ", "heading")), Block([BLANK])]
        blocks += _several("released", [(line.text, 1) for line in columns(map(_brief, releases[:_NEWEST]), indent=0)])
        carried = [r for r in self.facts.guide_records("carried") if r["system"] == system]
        kernels = [f"kernel {r['kernel']} in {r['archive']}" for r in carried if r["kernel"]]
        packages = [f"{self.label(each)} {v} in {r['archive']}" for r in carried for each, v in r["packages"].items()]
        blocks += labelled_block("contents", "; ".join([*kernels, *packages]))
        return self._finished(blocks, day, [f"compatkb show {product.id} {releases[0]['version']}"])

    def release_lines(self, product: Product, releases: list[Content], day: date) -> list[Line]:
        """Return for the newest of some releases its days, builds, what it needs and what it works with."""
        blocks: list[Block] = []
        said: tuple[str, str] = ("", "")
        for number, entry in enumerate(releases[:_RELEASES]):
            blocks += [Block([BLANK])] if number else []
            told = (messages.first_sentence(self._support(product, entry)), _notices(entry["security"]))
            support, security = ("" if text == before else text for text, before in zip(told, said, strict=True))
            blocks += self._one(product, entry, day, support, security)  # what is alike is said once for both
            said = told
        if len(releases) > _RELEASES:
            rest = ", ".join(entry["version"] for entry in releases[_RELEASES:])
            blocks.append(Block([BLANK, *labelled("more", rest)]))
        return self._finished(blocks, day, ["--why: sources"])

    def _one(self, product: Product, entry: Content, day: date, support: str, security: str) -> list[Block]:
        days = [f"released {_marked(entry['released'], 'released', entry)}"] if entry["released"] else []
        if entry["eol"]:
            is_whole = entry["eol"] == self.facts.product_details(product.id).eol
            past = "discontinued" if is_whole else "end of life"
            word = past if entry["eol"] < day.isoformat() else "supported until"
            known_end = self.facts.release(product.id, entry["version"])
            last = messages.last_day(entry["eol"], known_end.eol_precision if known_end else None)
            days.append(f"{word} {_marked(last, 'end-of-life', entry)}")
        known = self.value(product.id, entry["version"])
        name = f"{product.label} {known}" if known == entry["version"] else known
        blocks = labelled_block("support", support)
        blocks += labelled_block("security", security)
        foreign = {element.version: element.kind for element in self.facts.elements(product.id) if element.foreign}
        builds = [build for build in entry["builds"] if build["version"] not in foreign] or list(entry["builds"])
        others = [build["version"] for build in entry["builds"] if build not in builds]
        ours = [*dict.fromkeys(device for route in self.facts.routes for device in route.devices)]  # a GPU's before the CPU's
        builds.sort(key=lambda build: min((ours.index(d) for d in build["devices"] if d in ours), default=len(ours)))
        for number, build in enumerate(builds[:_BUILDS]):
            blocks += labelled_block("" if number else "builds", self._build(build, foreign.get(build["version"])), 1 + number)
        blocks += labelled_block("", ", ".join(build["version"] for build in builds[_BUILDS:]), 2)
        blocks += labelled_block("", f"for other devices: {', '.join(others)}" if others else None, 2)
        rows: dict[str, list[str]] = {"works with": [], "requires": [], HARDWARE: [], "avoid": []}
        for kind, (label, lead) in _KINDS.items():
            for claim in (claim for claim in entry["claims"] if claim["kind"] == kind):
                if product.machine and all(term.startswith("os==") for term in claim["to"]):
                    continue  # a part of a machine is of a system by itself
                if kind == "verified" and all(term.startswith(_MACHINE) for term in claim["to"]):
                    names = [self.value(HARDWARE, term.removeprefix(_MACHINE)) for term in claim["to"]]
                    rows[HARDWARE] += [each.removeprefix("Intel ") for each in names]
                elif named := self._named(claim):
                    rows[label].append(f"{lead}{named}{self._of_some(product, entry, claim)}")
        links = [link for build in builds[:_BUILDS] for link in build["links"]]
        if link := min(links, key=self._commonness, default=None):
            needed = shortened(name for name in link["needs"] if not name.startswith(_EVERYWHERE))
            system = f"{self.value('os', link['os'])}, {self.value('arch', link['arch'])}"
            rows["libraries"] = [f"libraries at run time ({system}): {needed}"] if needed else []
        rows["works with"] += [] if builds else self._speakers(product, entry)
        machine: dict[str, list[tuple[str, int]]] = {}
        for label, text, weight in MachineText(self.facts).release_rows(product, entry["machine"]):
            machine.setdefault(label, []).append((text, weight))
        blocks += labelled_block("works with", "; ".join(dict.fromkeys(rows["works with"])), 2)
        blocks += labelled_block("requires", "; ".join(dict.fromkeys(rows["requires"])), 2)
        blocks += _several("" if rows["requires"] else "requires", machine.get("requires", []))
        blocks += labelled_block("" if rows["requires"] else "requires", "; ".join(rows.get("libraries", ())), 5)
        blocks += labelled_block("platforms", shortened(rows[HARDWARE]), 2)
        blocks += _several("" if rows[HARDWARE] else "platforms", machine.get("platforms", []))
        blocks += labelled_block("features", shortened(feature["feature"] for feature in entry["features"]), 4)
        blocks += _several("known issues", machine.get("known issues", []))
        blocks += labelled_block("evidence", entry["note"], 3)
        blocks += labelled_block("untested", _points(entry), 1)
        blocks += labelled_block("avoid", "; ".join(dict.fromkeys(rows["avoid"])), 2)
        heading = Block(wrapped(f"{name}   {', '.join(days)}", "", "  ", "heading"))
        return [heading, Block([BLANK]), *blocks] if blocks else [heading]

    def _support(self, product: Product, entry: Content) -> str:
        """Return what is said of the end of a release, the rule of its product, or that nobody publishes either."""
        record, rule = self.facts.release(product.id, entry["version"]), self.facts.product_details(product.id).eol_rule
        note = record.eol_note if record else None
        if entry["eol"]:
            brief = messages.first_sentence(note or "")
            return brief if len(brief) <= _BRIEF else ""  # the head has the day
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
            other = next((p for p in self.facts.products.values() if claim["of"].startswith(p.id)), None)
            if claim["kind"] == "verified" and other and other != product:
                versions_by_label.setdefault(other.label, []).append(claim["of"].removeprefix(other.id).lstrip("= "))
        return [f"{name} {shortened(versions)}" for name, versions in versions_by_label.items()]

    def _commonness(self, link: Content) -> tuple[bool, int, int]:
        """Return the sort key by which what a build links is shown for the commonest machine that says most."""
        return bool(link["unlinked"]), -self.facts.families.index(link["os"]), -self.facts.grid["arch"].index(link["arch"])

    def _build(self, build: Content, kind: str | None) -> str:
        """Return a build with what it is for (the `kind` of device that it was compiled for), where it is, and its wheels."""
        devices = listed([self.value("device", device) for device in ([kind] if kind else build["devices"])])
        state = [build["stage"]] if build["stage"] != "stable" else []
        state += ["yanked"] if build["yanked"] else []
        where = listed([self._channel(channel) for channel in build["channels"]], "or")
        pythons: dict[str, set[str]] = {}
        archs: dict[str, set[str]] = {}
        for wheel in build["wheels"]:  # apart by architecture, and by whether they were seen
            pythons.setdefault(wheel["os"], set()).update(wheel["python"])
            archs.setdefault(wheel["os"], set()).add(wheel["arch"])
        order = self.facts.grid["python"]
        usual = {name for n, name in enumerate(self.facts.grid["arch"]) if self.facts.usual["arch"] >> n & 1}
        other = {system: f" ({', '.join(sorted(names))})" for system, names in archs.items() if not names & usual}
        wheels = [
            f"{self.value('os', system)}{other.get(system, '')} {ranges(names, order)}" for system, names in pythons.items()
        ]
        parts = [f"{build['version']} for {devices or 'any device'}", where, "; ".join(wheels), ", ".join(state)]
        return ", ".join(part for part in parts if part)

    def _channel(self, channel: str) -> str:
        known = next((c for c in self.facts.channels if c.id == channel), None)
        return channel if known is None else known.name if known.url else "default index"

    def _named(self, claim: Content) -> str:
        """Return what a claim is about: IPEX 2.8.0 or torch 2.8.*, under its condition."""
        names = []
        for term in claim["to"]:
            product = next((p for p in self.facts.products.values() if term == p.id or term.startswith(f"{p.id}=")), None)
            if product and (version := term.removeprefix(product.id).lstrip("=")):
                is_named = product.scheme == "listed"
                names.append(self.value(product.id, version) if is_named else f"{product.label} {version}")
        return shortened(names) + (f" ({self._condition(claim['when'])})" if names and claim["when"] else "")

    def _condition(self, when: str) -> str:
        """Return a condition with the names that people know: device xpu is Intel GPU."""
        parts = [part.partition(" ") for part in when.split("; ")]
        return ", ".join(", ".join(self.values(name, values.split(", "))) for name, _, values in parts)

    def eol_lines(
        self, ends: list[Content], rules: list[Content], day: date, days: int, *, everything: bool = False
    ) -> list[Line]:
        """Return what ends within some days, soonest first, what has ended, latest first, and what has no day."""
        soon = self._by_day(sorted((entry for entry in ends if not entry["ended"]), key=lambda entry: str(entry["last_day"])))
        past = self._by_day([entry for entry in ends if entry["ended"]])
        soon = soon or ([("", f"nothing ends within {days} days of {day}")] if days <= _FAR else [])
        later = sorted(self._rules(rules)) if rules and (everything or len(rules) == 1) else []
        rows = [(word, *row) for word, group in (("soon", soon), ("past", past), ("unknown", later)) for row in group]
        words = [word for word, _, _ in rows]
        named = [(word if number == words.index(word) else "", *rest) for number, (word, *rest) in enumerate(rows)]
        lines = columns(named, indent=0) if named else []
        room = _UNLIMITED if everything else HEIGHT - _AROUND
        while lines and height_of(lines) > room:
            lines.pop()
        more = [f"--all: {len(named) - len(lines)} more"] if len(lines) < len(named) else []
        return self._finished([Block(lines)], day, more, everything=True)

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

    def _finished(self, blocks: list[Block], day: date, more: list[str], *, everything: bool = False) -> list[Line]:
        foot = [BLANK, *wrapped(messages.footer(self.facts.meta["data_date"], day.toordinal(), more), "  ", style="dim")]
        return fitted([*blocks, Block(foot)], _UNLIMITED if everything else HEIGHT)


def release_row(release: Content, end: str | None = None) -> tuple[str, ...]:
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
    return (*release_row(release, end)[:-1], release["name"] or "")


def _several(label: str, rows: list[tuple[str, int]]) -> list[Block]:
    """Return texts below one label, each with its weight."""
    return [
        block
        for n, (text, weight) in enumerate(row for row in rows if row[0])
        for block in labelled_block("" if n else label, text, weight)
    ]


def _notices(notices: list[Content]) -> str:
    """Return what is said of the security of releases: the first, and how many more there are."""
    first = next((notice["message"].rstrip(".") for notice in notices), "")
    return f"{first}; {len(notices) - 1} more: --why" if len(notices) > 1 else first


def _points(entry: Content) -> str:
    count = len(entry["disputes"])
    return f"sources disagree about {count} point{'s' if count > 1 else ''} (--why)" if count else ""


def _marked(day: str, kind: str, entry: Content) -> str:
    return f"{day} (disputed)" if kind in entry["disputed"] else day
