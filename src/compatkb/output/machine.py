"""What hardware needs of the machine below its packages: kernel and driver, which of them binds, and which system has it."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from compatkb.core.names import newest_by_name, numbers
from compatkb.core.vocabulary import Certainty, Kind
from compatkb.engine.known_issues import IssueCondition, Surroundings, known_issues
from compatkb.output.issue_text import EFFECTS, spec_in_words
from compatkb.output.labels import HARDWARE, SYSTEM, Names
from compatkb.store.records import Edge, Element, Product, Request

_COMMON = frozenset({"intel", "r", "tm", "graphics", "gpu", "arc", "data", "center"})
"""Words that names of many cards have."""
_WSL, _LINUX = "wsl2", "linux"
_SYSTEM = "system"  # parts of a machine that its operating system brings
_HOW = {"default": "by default", "force-probe": "by force_probe alone"}
_FEW, _MOST = 2, 4

Content = dict[str, Any]


def tightest(edges: Iterable[Edge]) -> list[Edge]:
    """Return edges without those that ask for a part of the machine from a version on that another asks for a newer one of."""
    kept = list(edges)
    least = {(e.of, e.to): e for e in sorted(kept, key=lambda e: numbers(e.spec)) if e.spec.startswith(">=")}
    return [e for e in kept if not e.spec.startswith(">=") or least[e.of, e.to].spec == e.spec]


class MachineText(Names):
    """Says what hardware needs of kernel and driver."""

    def required(self, request: Request, systems: tuple[str, ...]) -> tuple[str, ...]:
        """Return for the hardware that a request names what it needs of parts of the machine that it does not name.

        `systems` are those of the stack that answers it. There is nothing where the hardware is of several kinds.
        """
        pin = request.pin(HARDWARE)
        elements = self.facts.elements(HARDWARE).of(pin.mask) if pin else []
        served = [system for system in systems if _LINUX in (system, *self.facts.wider.get(system, ()))]
        if pin is None or len(elements) != 1 or not served:
            return ()
        only_wsl = all(_WSL in (system, *self.facts.wider.get(system, ())) for system in served)
        where = "" if len(served) == len(systems) else "on Linux: "
        system = served[0] if request.pin(SYSTEM) and len(served) == 1 else ""
        release = self.facts.release(HARDWARE, elements[0].version)
        lines = [where + release.needs] if release and release.needs and not only_wsl else []
        for product, edge in self._minimums(elements[0]):
            if request.pin(product.id) or (product.machine == _SYSTEM and only_wsl):
                continue
            lines.append(where + self._minimum(product, edge, elements[0], pin.text, system))
        return tuple(lines)

    def needed(self, element: Element, word: str = "") -> list[str]:
        """Return what hardware needs of kernel and driver, a line for each; of a card where a word names one."""
        return [self._minimum(product, edge, element, word, "") for product, edge in self._minimums(element)]

    def _minimums(self, element: Element) -> Iterator[tuple[Product, Edge]]:
        """Yield the parts of a machine that hardware needs, with the claim that asks for the newest version of each."""
        for product in self.facts.products.values():
            if not product.machine:
                continue
            edges = [
                edge
                for edge in self.facts.edges(HARDWARE, product.id)
                if edge.kind == Kind.NEEDS and edge.of_mask >> element.idx & 1 and edge.spec.startswith(">=")
            ]
            if edges:
                yield product, max(edges, key=lambda edge: (numbers(edge.spec), edge.level == Certainty.CERTAIN))

    def _minimum(self, product: Product, edge: Edge, element: Element, word: str, system: str) -> str:
        cards = self.cards(element.version, word, product.id)
        least = min((card["lowest"] for card in cards), key=numbers, default=edge.spec.removeprefix(">="))
        named = product.name if product.machine == _SYSTEM else product.label
        parts = [f"{named} {spec_in_words(f'>={least}')}"]
        if cards:
            parts[0] += ", the first to list it"
        first, last = self._documented(product, element)
        if edge.level != Certainty.CERTAIN and first != least:
            parts[0] += " (assumed)"
        if product.machine == _SYSTEM and first and first != least:
            parts.append(f"documented from {first}")
        elif first and product.machine != _SYSTEM:
            parts.append(f"documented: {first}" + (f" to {last}" if last != first else ""))
        return "; ".join([*parts, *self._carried(product, least, system)])

    def cards(self, hardware: str, word: str, by: str) -> list[dict[str, Any]]:
        """Return the cards of hardware that a product lists, by PCI id: those that a word names, else all of them."""
        known = [r for r in self.facts.guide_records("listed-device") if (r["hardware"], r["listed_by"]) == (hardware, by)]
        wanted = set(re.findall(r"[a-z0-9]+", word.lower())) - _COMMON
        named = [card for card in known if card["name"] and wanted <= set(re.findall(r"[a-z0-9]+", card["name"].lower()))]
        return named if wanted and named else known

    def _documented(self, product: Product, element: Element) -> tuple[str, str]:
        """Return the first and the last series of a product that name hardware as supported; empty where none does."""
        mask = 0
        for edge in self.facts.edges(product.id, HARDWARE):
            if edge.kind == Kind.VERIFIED and edge.to_mask >> element.idx & 1 and edge.level == Certainty.CERTAIN:
                mask |= edge.of_mask
        known = self.facts.elements(product.id).of(mask)
        first, last = (".".join(e.version.split(".")[: product.series]) for e in (known[0], known[-1])) if known else ("", "")
        return first, last

    def _carried(self, product: Product, least: str, system: str) -> Iterator[str]:
        """Yield whether a system has a version from `least` on, where somebody says."""
        records = [r for r in self.facts.guide_records("carried") if r["system"] == system]
        name = self.value(SYSTEM, system) if system else ""
        if product.machine != _SYSTEM:
            has = newest_by_name((r["archive"], r["packages"][product.id]) for r in records if product.id in r["packages"])
            fitting = [f"{name} has {version} in {at}" for at, version in has.items() if numbers(version) >= numbers(least)]
            yield from fitting[:1]
            return
        kernels = newest_by_name((r["kernel_package"], r["kernel"]) for r in records if r["kernel"])
        own = kernels.pop(None, None)
        if own and numbers(own) >= numbers(least):
            yield f"{name} has {own}"
        elif own:
            newer = (
                f": {package} brings {kernel}" for package, kernel in kernels.items() if numbers(kernel) >= numbers(least)
            )
            yield f"{name} has {own}, which is older{next(newer, '')}"

    # -- what is known of one release -------------------------------------------------------------------------------

    def of_release(self, product: Product, elements: list[Element], word: str) -> Content:
        """Return what is known of a release as a part of a machine: cards, drivers of the kernel, systems, known issues."""
        version, bits = elements[0].release, sum(1 << e.idx for e in elements)
        listed = self.facts.guide_records("listed-device")
        if product.id == HARDWARE:
            listed = [card for by in dict.fromkeys(r["listed_by"] for r in listed) for card in self.cards(version, word, by)]
        else:
            listed = [card for card in listed if (card["listed_by"], card["first"]) == (product.id, version)]
        kernels = {record["kernel"] for record in self.facts.guide_records("kernel-support")}
        carried = [
            record
            for record in self.facts.guide_records("carried")
            if record["packages"].get(product.id) == version
            or (product.id in kernels and record["kernel"] == version)
            or (product.id == SYSTEM and record["system"] == version)
        ]
        return {
            "requires": [line for e in elements for line in self.needed(e, word)] if product.id == HARDWARE else [],
            "devices": [_picked(card, "id name family hardware listed_by first on lowest last") for card in listed],
            "kernel_drivers": list(self._kernel_drivers(product, version)),
            "carried": [_picked(record, "system archive packages kernel kernel_package on note") for record in carried],
            "known_issues": self._issues(lambda c: c.product == product.id and bool(c.mask & bits)),
        }

    def of_number(self, product: Product, version: str) -> Content:
        """Return what is known by range of a version that the data do not list, in the same form."""
        place = Surroundings({product.id: (version,)}, is_whole=False)
        issues = self._issues(lambda c: c.product == product.id and known_issues(self.facts).holds(c, place) is True)
        drivers = list(self._kernel_drivers(product, series(version)))
        return {"requires": [], "devices": [], "kernel_drivers": drivers, "carried": [], "known_issues": issues}

    def around(self, product: Product, version: str) -> tuple[str, str]:
        """Return the nearest versions below and above one that are listed; empty where there is none."""
        known = sorted({e.release for e in self.facts.elements(product.id)}, key=numbers)
        below = [each for each in known if numbers(each) < numbers(version)]
        above = [each for each in known if numbers(each) > numbers(version)]
        return below[-1] if below else "", above[0] if above else ""

    def _kernel_drivers(self, product: Product, version: str) -> Iterator[Content]:
        """Yield how drivers take hardware: in the releases that were read, or in the one of a kernel that is asked about."""
        for record in self.facts.guide_records("kernel-support"):
            tables = [
                (release, how) for release, how in record["tables"] if product.id == HARDWARE or series(release) == version
            ]
            if (product.id == record["kernel"] or record["hardware"] == version) and tables:
                taken = {how: [release for release, other in tables if other == how] for _, how in tables}
                yield {"driver": record["driver"], "hardware": record["hardware"], "taken": taken}

    def _issues(self, concerns: Callable[[IssueCondition], bool]) -> list[Content]:
        """Return the known issues with a condition of a kind, the gravest first, those of single operators last."""
        effects = list(EFFECTS)
        found = [
            issue
            for issue in known_issues(self.facts).all
            if issue.state != "not-reproduced" and any(map(concerns, issue.conditions))
        ]
        found.sort(key=lambda issue: (not issue.ranks, effects.index(issue.effect), issue.state != "open"))
        return [
            {**_picked(issue._asdict(), "id title effect state read"), "sources": [u or t for t, u in issue.sources]}
            for issue in found
        ]

    def release_rows(self, product: Product, content: Content) -> Iterator[tuple[str, str, int]]:
        """Yield the label, the text and the weight of what is known of a release as a part of a machine."""
        yield from (("requires", line, 1) for line in content["requires"])
        if product.id == SYSTEM:
            yield "contents", self.contents(content["carried"]), 1
        yield "platforms", self._cards_in_words(product, content["devices"]), 2
        yield from (("platforms", text, 1) for text in self._platforms(product, content))
        issues = content["known_issues"]
        for number, issue in enumerate(issues[:_FEW]):
            more = f" ({len(issues) - _FEW} more: --why)" if number == _FEW - 1 and len(issues) > _FEW else ""
            told = f"{issue['title']} ({EFFECTS[issue['effect']]}, {issue['state']}){more}"
            yield "known issues", told, number + (2 if product.machine or product.id == HARDWARE else 5)

    def contents(self, carried: list[Content]) -> str:
        """Return the kernels and packages that a system carries, by archive the newest of each."""
        kernels = newest_by_name(((r["archive"], r["kernel_package"]), r["kernel"]) for r in carried if r["kernel"])
        packages = newest_by_name(((r["archive"], of), v) for r in carried for of, v in r["packages"].items())
        told = [f"kernel {v}{f' ({by})' if by else ''} in {at}" for (at, by), v in kernels.items()]
        return "; ".join([*told, *(f"{self.label(of)} {v} in {at}" for (at, of), v in packages.items())])

    def _cards_in_words(self, product: Product, devices: list[Content]) -> str:
        ids: dict[str, list[str]] = {}
        for card in sorted(devices, key=lambda card: (numbers(card["first"]), card["id"])):
            since = f" since {self.label(card['listed_by'])} {card['first']}" if product.id == HARDWARE else ""
            name = re.sub(r"\(\w+\)|\bIntel\b|\bGraphics\b|\bGPU\b", "", card["name"] or f"{card['family']} without a name")
            ids.setdefault(f"{' '.join(name.split()) or 'Intel Graphics'}{since}", []).append(card["id"])
        named = [f"{name} ({', '.join(found)})" for name, found in ids.items()]
        more = f"; {len(named) - _MOST} more: --why" if len(named) > _MOST else ""
        lead = "" if product.id == HARDWARE else "first to list "
        return lead + "; ".join(named[:_MOST]) + more if named else ""

    def _platforms(self, product: Product, content: Content) -> Iterator[str]:
        by_driver: dict[tuple[str, str], list[str]] = {}
        for record in content["kernel_drivers"]:
            for how, releases in record["taken"].items():
                if product.id == HARDWARE and how != "absent":
                    span = " to ".join(dict.fromkeys((releases[0], releases[-1])))
                    yield f"{record['driver']} takes it {_HOW[how]} in kernel {span}"
                elif how != "absent":
                    by_driver.setdefault((record["driver"], how), []).append(self.value(HARDWARE, record["hardware"]))
        for (driver, how), names in by_driver.items():
            yield f"{driver} {_HOW[how]}: {', '.join(name.removeprefix('Intel ') for name in names)}"
        for record in content["carried"] if product.id != SYSTEM else ():
            package = f", by {record['kernel_package']}" if record["kernel_package"] else ""
            day = f" ({record['on']})" if record["on"] else ""
            yield f"{self.value(SYSTEM, record['system'])}, {record['archive']}{package}{day}"


def series(release: str) -> str:
    """Return the series of a release of the kernel: of 7.1.5 it is 7.1."""
    return ".".join(release.split(".")[:2])


def _picked(record: Content, names: str) -> Content:
    return {name: record[name] for name in names.split()}
