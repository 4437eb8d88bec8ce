"""The first screens of `show` and `eol`: what a product or a release is, and what ends when."""

from datetime import date
from functools import reduce
from operator import or_
from typing import Any

from compatkb.output import messages
from compatkb.output.labels import HARDWARE, Names, ranges
from compatkb.output.machine import MachineText
from compatkb.output.screen import BLANK, HEIGHT, Block, Line, fitted, heads, height_of, labelled, labelled_block, row, wrapped
from compatkb.output.things import listed, shortened
from compatkb.store.records import Product

Content = dict[str, Any]
_NEWEST = 10
_BRIEF = 68
"""Letters of a remark that fit beside a day."""
_NO_END = "the vendor publishes no end of support"
_BUILDS = 3
_RELEASES = _NAMED = 2
_FAR = 10_000
"""Days beyond which a look ahead is one at everything."""
_AROUND = 6
"""Lines beside the ends of life: headings, columns, the foot."""
_MACHINE = f"{HARDWARE}=="
_KINDS = {"needs": "needs", "verified": "works with", "constrains": "only with", "breaks": "not with"}
_UNLIMITED = 10_000
_EVERYWHERE = ("ld-linux", "libc.so", "libdl.", "libgcc_s.", "libm.so", "libpthread.", "librt.", "libstdc++.")
"""Libraries of the system itself, as their names begin."""


class CatalogScreen(Names):
    """Prints the contents of the catalog."""

    def product_lines(self, product: Product, content: Content, day: date) -> list[Line]:
        """Return what a product is, whether it is maintained, and its newest releases."""
        name = f"{product.label}   {product.name}" if product.name != product.label else product.name
        pip = f"; pip install {product.distribution}" if product.distribution else ""
        blocks = [Block(wrapped(f"{name}{pip}", "", "  ", "heading")), Block([BLANK])]
        blocks += labelled_block("ended" if (content["eol"] or "") < day.isoformat() else "ends", content["eol"])
        if rule := self.facts.product_details(product.id).eol_rule:
            blocks += labelled_block("support", messages.support_rule(rule.published, rule.says))
        elif not content["eol"] and not any(entry["eol"] for entry in content["releases"]):
            blocks += labelled_block("support", _NO_END)
        if other := content["replaced_by"]:
            where = f" on {self.value('device', other['device'])}" if other.get("device") else ""
            blocks += labelled_block("instead", f"{self.label(other['product'])} {other['version']}{where}")
        blocks += labelled_block("security", _notices(content["security"]))
        there = {element.release for element in self.facts.elements(product.id) if element.installable and element.channels}
        built = [entry for entry in content["releases"] if entry["version"] in there]
        releases = built or content["releases"]
        bare = [entry["version"] for entry in content["releases"] if entry not in releases]
        lines = [_release(release, content["eol"], "" if n else "newest") for n, release in enumerate(releases[:_NEWEST])]
        blocks.append(Block([heads("release", "released", "builds", "")]))
        blocks.append(Block([line for several in lines for line in several]))
        if len(releases) > _NEWEST:
            blocks += labelled_block("", f"{len(releases) - _NEWEST} more: `compatkb list {product.id}`")
        blocks += labelled_block("", f"without wheels: {shortened(bare)}" if bare else "", 1)
        blocks += labelled_block("note", content["note"], 2)
        blocks += labelled_block("disputed", _points(content), 1)
        return self._finished(blocks, day, [f"compatkb show {product.id} VERSION"])

    def release_lines(self, product: Product, releases: list[Content], day: date) -> list[Line]:
        """Return for the newest of some releases its days, builds, what it needs and what it works with."""
        blocks: list[Block] = []
        said: tuple[str, str] = ("", "")
        for number, entry in enumerate(releases[:_RELEASES]):
            blocks += [Block([BLANK])] if number else []
            told = (messages.first_sentence(self._support(product, entry, day)), _notices(entry["security"]))
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
            word = "ended" if entry["eol"] < day.isoformat() else "ends"
            known_end = self.facts.release(product.id, entry["version"])
            last = messages.last_day(entry["eol"], known_end.eol_precision if known_end else None)
            days.append(f"{word} {_marked(last, 'end-of-life', entry)}")
        known = self.value(product.id, entry["version"])
        name = known if known.endswith(entry["version"]) else f"{known} ({entry['version']})"
        name = f"{product.label} {known}" if known == entry["version"] else name
        blocks = labelled_block("support", support)
        blocks += labelled_block("security", security)
        foreign = {element.version: element.kind for element in self.facts.elements(product.id) if element.foreign}
        builds = [build for build in entry["builds"] if build["version"] not in foreign] or entry["builds"]
        others = [build["version"] for build in entry["builds"] if build not in builds]
        for number, build in enumerate(builds[:_BUILDS]):
            blocks += labelled_block("" if number else "builds", self._build(build, foreign.get(build["version"])), 1 + number)
        blocks += labelled_block("", ", ".join(build["version"] for build in builds[_BUILDS:]), 2)
        blocks += labelled_block("", f"for other devices: {', '.join(others)}" if others else None, 2)
        links = [link for build in builds[:_BUILDS] for link in build["links"]]
        if link := min(links, key=self._commonness, default=None):
            needed = shortened(name for name in link["needs"] if not name.startswith(_EVERYWHERE))
            parts = [*([needed] if needed else []), *(f"nothing of {name}" for name in link["unlinked"])]
            blocks += labelled_block("links", f"{'; '.join(parts)} ({link['os']} {link['arch']})", 2)
        for kind, title in _KINDS.items():
            claims = [claim for claim in entry["claims"] if claim["kind"] == kind]
            machines = [c for c in claims if kind == "verified" and all(term.startswith(_MACHINE) for term in c["to"])]
            named_claims = [(c, named) for c in claims if c not in machines and (named := self._named(c))]
            subjects = dict.fromkeys(f"{named}{self._of_some(product, entry, c)}" for c, named in named_claims)
            blocks += labelled_block(title, "; ".join(subjects), 2)
            names = dict.fromkeys(term.removeprefix(_MACHINE) for claim in machines for term in claim["to"])
            blocks += labelled_block(HARDWARE, ", ".join(names), 2)
        for label, text, weight in MachineText(self.facts).release_rows(product, entry["machine"]):
            blocks += labelled_block(label, text, weight)
        blocks += labelled_block("works with", "" if builds else "; ".join(self._speakers(product, entry)), 2)
        blocks += labelled_block("note", entry["note"], 3)
        blocks += labelled_block("features", shortened(feature["feature"] for feature in entry["features"]), 4)
        blocks += labelled_block("disputed", _points(entry), 1)
        heading = Block(wrapped(f"{name}   {', '.join(days)}", "", "  ", "heading"))
        return [heading, Block([BLANK]), *blocks] if blocks else [heading]

    def _support(self, product: Product, entry: Content, day: date) -> str:
        """Return until when a release is supported: the day, the rule of its product, or that nobody publishes either."""
        record, rule = self.facts.release(product.id, entry["version"]), self.facts.product_details(product.id).eol_rule
        note = record.eol_note if record else None
        if entry["eol"]:
            last = messages.last_day(entry["eol"], record.eol_precision if record else None)
            word = "ended" if entry["eol"] < day.isoformat() else "until"
            brief = messages.first_sentence(note or "")
            return f"{word} {last}: {brief}" if 0 < len(brief) <= _BRIEF else f"{word} {last}"
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
        return shortened(names) + (f" ({claim['when']})" if names and claim["when"] else "")

    def eol_lines(
        self, ends: list[Content], rules: list[Content], day: date, days: int, *, everything: bool = False
    ) -> list[Line]:
        """Return what ends within some days, soonest first, what has ended, latest first, and what has no day."""
        soon = sorted((entry for entry in ends if not entry["ended"]), key=lambda entry: str(entry["last_day"]))
        heading = f"{'ends' if soon else 'nothing ends'} within {days} days of {day}"
        blocks = [Block([Line(heading if days <= _FAR else "ends", "heading")])] if soon or days <= _FAR else []
        columns = heads("last day", "product", "releases")
        blocks += [Block([columns])] if soon else []
        blocks += [Block(lines) for lines in self._grouped(soon)]
        over = self._grouped([entry for entry in ends if entry["ended"]])
        room = _UNLIMITED if everything else HEIGHT - sum(height_of(block.lines) for block in blocks) - _AROUND
        shown: list[list[Line]] = []
        while over and sum(height_of(lines) for lines in [*shown, over[0]]) <= room:
            shown.append(over.pop(0))
        if shown:
            blocks.append(Block([*([BLANK] if blocks else []), Line("ended", "heading"), columns]))
            blocks += [Block(lines) for lines in shown]
        if rules and (everything or len(rules) == 1):
            blocks.append(
                Block([*([BLANK] if blocks else []), Line("no day is known", "heading"), heads("", "product", "support")])
            )
            blocks += [Block(self._without_day(entry)) for entry in rules]
        more = [f"--all: {len(over)} more"] if over else []
        return self._finished(blocks, day, more, everything=True)

    def _without_day(self, entry: Content) -> list[Line]:
        name, rule = self.label(entry["product"]), messages.support_rule(entry["published"], entry["says"])
        return row(wrapped(f"{name}: {rule}", "  ", "    "), "", name, rule)

    def _grouped(self, entries: list[Content]) -> list[list[Line]]:
        """Return for each day and product a line with its releases."""
        groups: dict[tuple[str, str], list[Content]] = {}
        for entry in entries:
            last = messages.last_day(entry["last_day"], entry["precision"])
            groups.setdefault((last, entry["product"]), []).append(entry)
        lines = []
        for (last, product), members in groups.items():
            names = [self.value(product, entry["version"]) for entry in members]
            head = f"{self.label(product)} " if names == [entry["version"] for entry in members] else ""
            mark = " (disputed)" if any(entry["disputed"] for entry in members) else ""
            text = wrapped(f"{last}  {head}{shortened(names)}{mark}", "  ", " " * 14)
            lines.append(row(text, last, self.label(product), shortened(names) + mark))
        return lines

    def _finished(self, blocks: list[Block], day: date, more: list[str], *, everything: bool = False) -> list[Line]:
        foot = [BLANK, *wrapped(messages.footer(self.facts.meta["data_date"], day.toordinal(), more), "  ", style="dim")]
        return fitted([*blocks, Block(foot)], _UNLIMITED if everything else HEIGHT)


def _release(release: Content, end: str | None, title: str) -> list[Line]:
    """Return a release as lines behind a title, the first of which is a row of a table too."""
    builds = [build for build in release["builds"] if build != release["version"]]
    named = ", ".join([*builds[:_NAMED], *(["..."] if len(builds) > _NAMED else [])])
    state = [f"({release['name']})"] if release["name"] else []
    state += ["yanked"] if release["yanked"] else []
    if release["eol"] and release["eol"] != end:
        state.append(f"{'ended' if release['ended'] else 'ends'} {release['eol']}")
    cells = (release["version"], release["released"] or "", named, "  ".join(state))
    return row(labelled(title, "  ".join(cell for cell in cells if cell)), *cells)


def _notices(notices: list[Content]) -> str:
    """Return what is said of the security of releases: the first, and how many more there are."""
    first = next((notice["message"].rstrip(".") for notice in notices), "")
    return f"{first}; {len(notices) - 1} more: --why" if len(notices) > 1 else first


def _points(entry: Content) -> str:
    count = len(entry["disputes"])
    return f"{count} point{'s' if count > 1 else ''} (--why)" if count else ""


def _marked(day: str, kind: str, entry: Content) -> str:
    return f"{day} (disputed)" if kind in entry["disputed"] else day
