"""Rules on indexes: whether those that are asked have what is pinned, serve what is asked for, are declared and answer."""

from collections.abc import Iterator
from typing import Any

from packaging.markers import InvalidMarker, Marker, UndefinedComparison, UndefinedEnvironmentName

from compatkb.check.document import TextDocument
from compatkb.check.project.alternatives import routed, uses_uv
from compatkb.check.project.documented import is_exported, names_its_index
from compatkb.check.project.environments import LocatedStatement, ProductRequirement, at
from compatkb.check.project.index_contents import cited, lacks
from compatkb.check.project.indexes import index_option, named, sources_of
from compatkb.check.project.install_plan import SETTINGS, InstallPlan
from compatkb.check.project.queries import AllowedVersions, ProjectQueries, address, exactly, is_exact
from compatkb.check.rules import CheckRule, FileRole
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.core.platforms import spelling_of
from compatkb.core.vocabulary import Role
from compatkb.parsers.registry import kind_of
from compatkb.parsers.statement import IndexUse, Requirement, RequirementRole
from compatkb.store.records import Element, PlatformSet

INDEX = CheckRule(
    "pin-index", Severity.WARNING, "a pinned build is on none of the indexes that are asked", off_in=(FileRole.NOTEBOOK,)
)

_POETRY = "[[tool.poetry.source]]"
_STRATEGY = "unsafe-"
"""What every strategy of uv has that looks on more than the first index with a package."""
_USUAL = {"linux": "x86_64", "windows": "x86_64", "macos": "arm64"}
"""The architecture that a system has where nobody names one."""


@SETTINGS.rule(INDEX)
def check(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield what the indexes of an environment lack, and those that are none."""
    dead: dict[int, Finding] = {}
    for located, use in plan.environment.indexes:
        if use.group == plan.environment.group and (finding := _dead(located, use, queries)):
            dead[use.step] = finding._replace(level=Severity.ERROR) if _is_needed(use, plan, queries) else finding
    for required in plan.requirements:
        requirement = required.requirement
        if requirement.group != plan.environment.group or requirement.tool == "conda":
            continue  # judged where it is stated
        if requirement.url:
            continue
        if requirement.unknown:
            yield from _labelled(plan, required, queries)
        elif undeclared := _undeclared(plan, required):
            yield undeclared
        elif (allowed := queries.allowed(required.product, [requirement.specifier])) and allowed.mask:
            yield from _brought(plan, required, allowed, queries)
            yield from _hidden(plan, required, allowed, queries)
            yield from _unrouted(plan, required, allowed, queries)
            for finding in _index(plan, required, allowed, queries):
                if other := dead.get(requirement.step):  # one fault, which stops this command
                    dead[requirement.step] = _with_what_it_lacks(other, finding)
                else:
                    yield finding
        elif finding := _unknown_label(plan, required.located, requirement, queries):
            yield finding
    yield from _unused_sources(plan, queries)
    for located, one in plan.environment.others:
        if one.group != plan.environment.group:
            continue
        found = _unknown_label(plan, located, one, queries) or _not_served(plan, located, one, queries)
        if found is not None:
            yield found
    yield from dead.values()


def _unknown_label(plan: InstallPlan, located: LocatedStatement, one: Requirement, queries: ProjectQueries) -> Finding | None:
    """Return an unknown build with a label where the default index alone is asked, which has none such (PEP 440)."""
    public, _, label = one.specifier.removeprefix("==").partition("+")
    is_pin = bool(label) and is_exact(one.specifier) and "," not in one.specifier and not one.url and one.tool != "conda"
    if not is_pin or one.role is RequirementRole.LOCKED or not _is_asked(plan, one, located.document.path, queries):
        return None
    asked = sources_of(plan, one.step, one, queries)
    is_plain = located.document.path in queries.installed_plainly
    if not asked.known or asked.channels != {queries.own} or queries.sets_index or names_its_index(located.document.text):
        return None
    if queries.names_index and not is_plain and plan.environment.reading.kind == "requirements":
        return None
    message = f"{one.name} {public}+{label} is not on the default index, which is asked here: no build there has a label"
    finding = at(located, INDEX, message, fix=f"write {one.name}=={public}, or name the index of these builds")
    return finding if located.statement.derived else finding._replace(level=Severity.ERROR)


def _is_asked(plan: InstallPlan, requirement: Requirement, path: str, queries: ProjectQueries) -> bool:
    """Return whether what is asked of indexes in a step is all that whoever installs the file asks."""
    environment = plan.environment
    if environment.borrowed or requirement.step in environment.missing:
        return False
    if requirement.role is RequirementRole.CONSTRAINT or environment.kind == "branch":
        return False
    is_declared = environment.reading.kind in ("pyproject", "setup.cfg", "setup.py")
    text = environment.document.text
    if is_declared and not uses_uv(text) and _POETRY not in text and queries.names_index:
        return False  # who installs it names the index
    return not path.endswith(".in")  # who compiles it names the index


def _with_what_it_lacks(dead: Finding, lacking: Finding) -> Finding:
    """Return the finding about an index that serves nothing with the first package that is nowhere else."""
    told, names, _ = dead.message.partition("; ")
    if names and (dead.level is Severity.ERROR or lacking.level is not Severity.ERROR):
        return dead
    level = Severity.ERROR if lacking.level is Severity.ERROR else dead.level
    return dead._replace(level=level, message=f"{told}; {lacking.brief} is on no other one that is asked")


def _labelled(plan: InstallPlan, required: ProductRequirement, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield a pin whose label only a run tells, where no index is asked that has labelled builds."""
    asked = sources_of(plan, required.requirement.step, required.requirement, queries)
    is_plain = asked.known and asked.channels == {queries.own} and not queries.names_index
    if is_plain and not plan.environment.borrowed and _has_label_of_run(required.requirement.text):
        message = f"builds of {required.product.name} with a label are never on the default index, which alone is asked here"
        finding = at(required.located, INDEX, message, fix="add --extra-index-url with the index of that label")
        yield finding._replace(level=Severity.ERROR)


def _has_label_of_run(text: str) -> bool:
    """Return whether a requirement pins a version whose label is a variable, as `torch==2.8.0+${DEVICE}`."""
    return any("+${" in clause.partition("==")[2] for clause in text.split(";"))


def _dead(located: LocatedStatement, use: IndexUse, queries: ProjectQueries) -> Finding | None:
    """Return an index that was replaced, or that is named for a kind of build that no release was made for."""
    channel = queries.channels.get(address(use.url))
    if instead := queries.superseded.get(channel or ""):
        message = f"{use.url} was replaced: newer instructions for the same releases name another index"
        return at(located, INDEX, message, fix=f"name {queries.addresses[instead][0]} by --extra-index-url")
    near = queries.numbers_in_place_of(use.url)
    if not near:
        return None
    label = address(use.url).rpartition("/")[2]
    message = f"{use.url} is no index: PyTorch has builds for {', '.join(near)} and others, and none for {label}"
    finding = at(located, INDEX, message, fix="name the index of one of these builds")
    return finding._replace(level=Severity.ERROR) if use.style == "index-url" else finding


def _is_needed(use: IndexUse, plan: InstallPlan, queries: ProjectQueries) -> bool:
    """Return whether the step of a dead index pins a build with a label of what has ended, and names no other index."""
    others = (one.step == use.step and not queries.is_dead(one.url) for _, one in plan.environment.indexes)
    pins = (w for w in plan.requirements if w.requirement.step == use.step and not w.located.statement.derived)
    labelled = (w for w in pins if is_exact(w.requirement.specifier) and "+" in w.requirement.specifier)
    return not (any(others) or queries.sets_index or queries.sets_variable()) and any(
        queries.is_decided(w.product.id) for w in labelled
    )


def _undeclared(plan: InstallPlan, required: ProductRequirement) -> Finding | None:
    """Return a requirement whose index has a name that the manifest declares nowhere, which uv and poetry refuse."""
    name = required.requirement.only_index
    declared = {use.name for _, use in plan.environment.indexes}
    is_own = plan.environment.document.path == required.document.path
    if not name or "[" in name or "/" in name or declared.intersection(name.split()) or not is_own:
        return None
    table = "[[tool.poetry.source]]" if required.requirement.tool == "poetry" else "[[tool.uv.index]]"
    if required.requirement.tool == "poetry" and name.lower() == "pypi":
        return None
    message = f"{required.product.name} is taken from the index {name!r}, which no {table} declares"
    return at(required.located, INDEX, message, fix=f"declare {name!r} in {table} with its url")._replace(level=Severity.ERROR)


def _brought(
    plan: InstallPlan, required: ProductRequirement, allowed: AllowedVersions, queries: ProjectQueries
) -> Iterator[Finding]:
    """Yield what a build brings along from an explicit index, on which uv looks only for what is named."""
    index, text = required.requirement.only_index or "", required.document.text
    uses = [use for _, use in plan.environment.indexes]
    if plan.environment.reading.kind != "pyproject" or not any(use.explicit and use.name == index for use in uses):
        return
    if not uses_uv(text) or required.document is not plan.environment.document:
        return
    channel = next((queries.channels.get(address(use.url)) for use in uses if use.name == index), None)
    every = queries.elements(allowed.product, allowed.mask)
    there = [e for e in every if channel in e.channels] or (every if is_exact(allowed.text) else [])
    rows = _sources_of_uv(text).get(required.requirement.name, [])
    meant = [marker for row in rows if row.get("index") == index and isinstance(marker := row.get("marker"), str)]
    cells = _cells_of_uv(text, queries) & _cells_where(meant, queries)
    if not there or not all(queries.facts.automatic_of([e], cells) for e in there):
        return
    build = there[-1]
    own = {queries.own}
    served = {c for use in uses if not use.explicit and (c := queries.channels.get(address(use.url)))} | own
    named = {one.name for _, one in plan.environment.others if one.only_index}
    named |= {one.requirement.name for one in plan.requirements if one.requirement.only_index}
    for one in queries.facts.automatic_of([build], cells):
        name = one.distribution or one.product
        if name in named or served & set(one.channels) or plan.asks_unknown(queries):
            continue
        message = (
            f"{required.product.name} {build.version} brings {name}, for which uv does not ask the explicit index {index!r}"
        )
        fix = f"add {name}=={one.version} to the dependencies, and {name} = {{ index = {index!r} }} to [tool.uv.sources]"
        finding = at(required.located, INDEX, message, sources=cited(queries, build), fix=fix.replace("'", '"'))
        yield finding._replace(level=Severity.ERROR) if is_exact(allowed.text) else finding
    if queries.own not in build.channels and not plan.asks_unknown(queries):
        yield from _left_behind(plan, required, build, index, queries)


def _left_behind(
    plan: InstallPlan, required: ProductRequirement, build: Element, index: str, queries: ProjectQueries
) -> Iterator[Finding]:
    """Yield what goes with a build of an explicit index, of which uv takes one for another device from elsewhere."""
    for other in plan.requirements:
        one, name = other.requirement, other.requirement.name
        is_here = other.document is plan.environment.document and one.role is not RequirementRole.CONSTRAINT
        if other.product.role is not Role.COMPANION or not is_here or one.only_index or one.url or "+" in one.specifier:
            continue
        installed = plan.final.get(other.product.id)
        elsewhere = queries.narrowed(installed.allowed, frozenset((queries.own,))) if installed else None
        if elsewhere is None or not elsewhere.mask or not queries.refused([exactly(build), elsewhere]):
            continue
        message = (
            f"{other.product.name} has no entry in [tool.uv.sources], so it is not taken from {index!r} as "
            f"{required.product.name} is: a build for another device fails to load"
        )
        fix = f'add {name} = {{ index = "{index}" }} to [tool.uv.sources]'
        yield at(other.located, INDEX, message, sources=cited(queries, build), fix=fix)


def _hidden(
    plan: InstallPlan, required: ProductRequirement, allowed: AllowedVersions, queries: ProjectQueries
) -> Iterator[Finding]:
    """Yield a pin that uv does not find behind the first index that has the package: it looks on no other one."""
    requirement, text = required.requirement, plan.environment.document.text
    is_of_uv = requirement.tool == "uv" or (requirement.tool == "project" and uses_uv(text))
    if (
        not is_of_uv
        or requirement.only_index
        or not is_exact(allowed.text)
        or any(_STRATEGY in d.text for d in _settings(queries))
    ):
        return
    asked = sources_of(plan, requirement.step, requirement, queries)
    every = queries.facts.elements(allowed.product)
    first = next((c for c in asked.extra if any(c in e.channels for e in every)), None)
    builds = [e for e in queries.elements(allowed.product, allowed.mask) if e.channels]
    if not asked.known or first is None or not builds or any(first in e.channels for e in builds):
        return
    if _STRATEGY in text or queries.own not in builds[-1].channels or not lacks(first, builds, queries):
        return
    name = f"{required.product.name} {builds[-1].release}"
    message = (
        f"uv takes {required.product.name} from {named(first, queries)} alone, the first index that has it, which lacks {name}"
    )
    fix = "write --index-strategy unsafe-best-match, or let that index serve the packages alone that name it"
    finding = at(required.located, INDEX, message, sources=cited(queries, builds[-1]), fix=fix)
    yield finding if required.located.statement.derived else finding._replace(level=Severity.ERROR)


def _settings(queries: ProjectQueries) -> Iterator[TextDocument]:
    """Yield the files that may set how uv goes through its indexes."""
    return (one for one in queries.context.documents if kind_of(one.path) not in ("markdown", "uv.lock"))


def _unrouted(
    plan: InstallPlan, required: ProductRequirement, allowed: AllowedVersions, queries: ProjectQueries
) -> Iterator[Finding]:
    """Yield a build with a label that uv is told to take from its index on some platforms alone, and asks for on all."""
    requirement, text = required.requirement, plan.environment.document.text
    is_own = required.document is plan.environment.document and plan.environment.reading.kind == "pyproject"
    rows = _sources_of_uv(text).get(requirement.name, []) if is_own and uses_uv(text) else []
    if not rows or "+" not in allowed.text or not all(isinstance(row.get("marker"), str) for row in rows):
        return
    others = {c for _, use in plan.environment.indexes if not use.explicit and (c := queries.channels.get(address(use.url)))}
    if plan.asks_unknown(queries) or not all(
        lacks(c, queries.elements(allowed.product, allowed.mask), queries) for c in others
    ):
        return
    limits = _environments_of_uv(text)
    for family, arch in _USUAL.items():
        values = spelling_of(family, arch)
        asked = [requirement.marker] if requirement.marker else []
        if _any_holds(limits, values) is False or _any_holds(asked, values) is False:
            continue
        if _any_holds([row["marker"] for row in rows], values) is False:
            system = queries.facts.release("os", family)
            where = (system and system.name) or family
            message = f"on {where} uv takes {requirement.text} from the default index, where no build has a label"
            fix = f"give {requirement.name} the marker of its source, or leave the marker of the source out"
            yield at(required.located, INDEX, message, fix=fix)._replace(level=Severity.ERROR)
            return


def _any_holds(markers: list[str], values: dict[str, str]) -> bool | None:
    """Return whether one of some markers holds on a platform, None where there is none or one cannot be read."""
    try:
        return any(Marker(one).evaluate(values) for one in markers) if markers else None
    except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName):
        return None


def _table_of_uv(text: str) -> dict[str, Any]:
    """Return the table `[tool.uv]` of a manifest; an empty one where it has none or nobody can read it."""
    import tomllib

    try:
        table = tomllib.loads(text)["tool"]["uv"] if "[tool.uv" in text else {}
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        return {}
    return table if isinstance(table, dict) else {}


def _cells_of_uv(text: str, queries: ProjectQueries) -> PlatformSet:
    """Return the platforms for which uv resolves a manifest: those on which one of its `environments` holds, else all."""
    return _cells_where(_environments_of_uv(text), queries)


def _environments_of_uv(text: str) -> list[str]:
    """Return the markers of the environments for which uv resolves a manifest, which may write one alone."""
    markers = _table_of_uv(text).get("environments", [])
    return [str(one) for one in (markers if isinstance(markers, list) else [markers])]


def _cells_where(markers: list[str], queries: ProjectQueries) -> PlatformSet:
    """Return the platforms of the systems on which one of some markers holds; all where there is none, or none is read."""
    cells = 0
    for family, arch in _USUAL.items():
        if _any_holds(markers, spelling_of(family, arch)):
            cells |= queries.facts.dimension_cells("os", queries.facts.word("os", family) or 0)
    return cells or queries.facts.all_platforms


def _sources_of_uv(text: str) -> dict[str, list[dict[str, Any]]]:
    """Return where a manifest of uv takes packages from."""
    sources = _table_of_uv(text).get("sources")
    sources = sources.items() if isinstance(sources, dict) else ()
    several = {name: rows if isinstance(rows, list) else [rows] for name, rows in sources}
    return {name: [row for row in rows if isinstance(row, dict)] for name, rows in several.items()}


def _unused_sources(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield a package that uv is told to take from an index and that the project does not ask for itself."""
    document, reading = plan.environment.document, plan.environment.reading
    if reading.kind != "pyproject" or plan.environment.group or "[tool.uv.workspace]" in document.text:
        return
    explicit = {use.name for _, use in plan.environment.indexes if use.explicit}
    names = {one.name for one in reading.statements if isinstance(one, Requirement)}
    for name, rows in _sources_of_uv(document.text).items() if names and explicit else ():
        product = next((p for p in queries.facts.products.values() if p.distribution == name and p.role == Role.PACKAGE), None)
        line = next(
            (n for n, text in enumerate(document.text.splitlines(), 1) if text.startswith((f"{name} ", f"{name}="))), 0
        )
        if product and line and rows and name not in names and all(row.get("index") in explicit for row in rows):
            message = f"{name} is no dependency of the project itself: what else needs it takes it from the usual indexes"
            start = document.offset(line)
            yield document.finding(INDEX, start, start + len(name), message, fix=f"add {name} to the dependencies")


def _index(
    plan: InstallPlan, required: ProductRequirement, allowed: AllowedVersions, queries: ProjectQueries
) -> Iterator[Finding]:
    """Yield a pin whose builds are all elsewhere than where the installer looks, or a package that no index asked has."""
    requirement, environment = required.requirement, plan.environment
    if not _is_asked(plan, requirement, required.document.path, queries):
        return
    is_declared = environment.reading.kind == "pyproject"
    builds = [e for e in queries.elements(allowed.product, allowed.mask) if e.channels]
    asked = sources_of(plan, requirement.step, requirement, queries)
    if not builds or not asked.known or any(asked.channels & set(e.channels) for e in builds):
        return
    text = required.document.text
    is_plain = required.document.path in queries.installed_plainly
    if (is_exported(text) and queries.names_index and not is_plain) or names_its_index(text):
        return
    if replaced := _replaced(required, builds, asked.channels, queries):
        yield replaced
    if replaced or not is_exact(allowed.text):
        return
    if queries.sets_index or not all(lacks(c, builds, queries) for c in asked.channels):
        return
    if all(e.yank_by is not None for e in builds):
        return  # what one index has withdrawn others may have kept
    if (requirement.name, builds[-1].release) in queries.documented and environment.reading.kind == "requirements":
        return
    channel = builds[-1].channels[0]
    url = queries.addresses.get(channel, ("", ""))[0]
    where = " or ".join(sorted(named(c, queries) for c in asked.channels)) or "no index"
    name = f"{required.product.name} {builds[-1].version}"
    option = index_option(plan, requirement.step, channel, queries)
    of_uv = is_declared and uses_uv(environment.document.text)
    if of_uv:
        option = f"name {url} in [[tool.uv.index]] and in [tool.uv.sources]" if url else None
    elif option:
        option = f"install it with {option}" if is_declared else f"add {option}"
        if is_declared and _POETRY in environment.document.text:
            option = f"name the source of {url} for it in [tool.poetry.dependencies]"
        if environment.reading.kind == "pixi":
            option = f"name {url} in extra-index-urls of [pypi-options]"
    place = "" if option else f"; it is at {named(channel, queries)}"
    of_other = {use.of_tool for _, use in environment.indexes} - {"", requirement.tool}
    if of_other and requirement.tool in ("pip", "uv"):
        place = f"; {requirement.tool} reads no variable of {of_other.pop()}"
    message = f"{name} is not on {where}, which is asked here{place}"
    is_manifest = of_uv and required.document.path.endswith(".toml")  # not a part of a document that has one
    edits = _routed(plan, required, channel, url, queries) if is_manifest and url and not requirement.marker else ()
    about, sources = f"{required.document.path} {option}", cited(queries, builds[-1])
    finding = at(required.located, INDEX, message, sources=sources, fix=option, edits=edits, about=about, brief=name)
    is_list = environment.reading.kind == "requirements"
    is_whole = (
        of_uv
        or is_plain
        or _POETRY in text
        or not (queries.names_index if is_list else queries.sets_variable(requirement.tool))
    )
    if not is_whole or required.located.statement.derived:
        yield finding
        return
    is_whole = not queries.refused([one.allowed for one in plan.final.values()], plan.pythons, plan.systems)
    if is_list and option and is_whole and required.document is environment.document:  # one line for all of a file
        first = min(w.located.statement.place.line for w in plan.requirements if w.document is required.document)
        start, end = required.document.line_bounds(first)
        newline = "\r\n" if text[start:end].endswith("\r\n") else "\n"
        finding = finding._replace(edits=(Edit(start, start, f"{option.removeprefix('add ')}{newline}"),))
    yield finding._replace(level=Severity.ERROR)


def _not_served(plan: InstallPlan, located: LocatedStatement, one: Requirement, queries: ProjectQueries) -> Finding | None:
    """Return a package that an index does not have which is asked in place of the default one, by the list of its maker."""
    is_installed = one.role is RequirementRole.INSTALL and one.tool != "conda" and not (one.url or one.unknown)
    if not is_installed or queries.sets_index or not _is_asked(plan, one, located.document.path, queries):
        return None
    asked = sources_of(plan, one.step, one, queries)
    if not asked.known or queries.own in asked.channels or _is_listed(one.name, asked.channels, queries) is not False:
        return None
    if any(other.name == one.name and other.step < one.step for _, other in plan.environment.others):
        return None  # it is there already
    where = " or ".join(sorted(named(c, queries) for c in asked.channels))
    message = f"{one.name} is not on {where}, which is asked here in place of the default index"
    fix = "write --extra-index-url in place of --index-url, or install it in a command of its own"
    sources = tuple(url or text for record in queries.package_records("index_list") for text, url in record["sources"])
    about = f"{located.document.path} replaced"
    finding = at(located, INDEX, message, sources=sources, fix=fix, about=about, brief=one.name)
    return finding._replace(level=Severity.ERROR)


def _is_listed(name: str, channels: frozenset[str], queries: ProjectQueries) -> bool | None:
    """Return whether the lists of all packages of some indexes have a name, None where any of them has no such list."""
    records = queries.package_records("index_list")
    urls = [address(queries.addresses[channel][0]) for channel in channels]
    lists = [next((r["names"] for r in records if url.startswith(r["address"])), None) for url in urls]
    return None if not lists or None in lists else any(name in names for names in lists if names is not None)


def _replaced(
    required: ProductRequirement, builds: list[Element], asked: frozenset[str], queries: ProjectQueries
) -> Finding | None:
    """Return a package of the default index alone, where another index is asked in its place."""
    channels = {channel for e in queries.facts.elements(required.product.id) for channel in e.channels}
    is_pure = required.product.role != Role.LEAF and queries.is_pure(builds[-1].certain | builds[-1].inferred)
    is_listed = _is_listed(required.requirement.name, asked, queries)
    if queries.own in asked or not asked or queries.sets_index or is_listed or channels - {queries.own}:
        return None
    if is_listed is None and not is_pure:
        return None
    name, where = required.product.name, " or ".join(sorted(named(c, queries) for c in asked))
    message = f"{name} is not on {where}, which is asked here in place of the default index"
    fix = "write --extra-index-url in place of --index-url, or install it in a command of its own"
    about, sources = f"{required.document.path} replaced", cited(queries, builds[-1])
    finding = at(required.located, INDEX, message, sources=sources, fix=fix, about=about, brief=name)
    return finding if is_listed is None or required.located.statement.derived else finding._replace(level=Severity.ERROR)


def _routed(
    plan: InstallPlan, required: ProductRequirement, channel: str, url: str, queries: ProjectQueries
) -> tuple[Edit, ...]:
    """Return the edits that take all that a file pins of one index from there: the same for each of these pins."""
    builds = []
    ends = []
    for other in (other for other in plan.requirements if other.document is required.document):
        allowed = queries.allowed(other.product, [other.requirement.specifier])
        elements = queries.elements(allowed.product, allowed.mask) if allowed and is_exact(allowed.text) else []
        if elements and channel in elements[-1].channels and "default" not in elements[-1].channels:
            builds.append(elements[-1])
            ends.append(other.located.span[1])
    return routed(queries.facts, required.document.text, builds, ends[0], channel, url) if builds else ()
