"""Rules on packages and images that are no products: stubs, builds that need others, metadata that pip refuses, clashes."""

import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from compatkb.check.project.environments import LocatedStatement, ProjectEnvironment, at
from compatkb.check.project.install_plan import ENVIRONMENTS, SETTINGS, InstallPlan, supported_pythons, systems_of
from compatkb.check.project.pairs import CONTRADICT, DRIFTS
from compatkb.check.project.pins import OUTLIVED, PLATFORM, UNPUBLISHED, names_a_python
from compatkb.check.project.queries import ANY_PYTHON, ProjectQueries, address, is_exact
from compatkb.check.project.resolution import TOGETHER
from compatkb.check.project.step_pins import releases_of
from compatkb.check.rules import UNLISTED, CheckRule, FileRole, place_of
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.parsers.registry import kind_of
from compatkb.parsers.statement import MAIN, Requirement, RequirementRole
from compatkb.request.lookup import is_newer

STUB = CheckRule("package-name", Severity.ERROR, "a name on the index only looks like a package, and refuses to be installed")
BUILD = CheckRule("build-isolated", Severity.ERROR, "a package is built where what its build imports is not installed")
MANAGED = CheckRule(
    "python-managed", Severity.ERROR, "pip installs into the Python of a system that keeps it for its own packages"
)
METADATA = CheckRule("pin-refused", Severity.ERROR, "pip passes over all releases that a pin admits, for their metadata")

_UPPER = re.compile(r"(?:<=?|==|~=)\s*(\d+(?:\.\d+)*)")
_OF_CONDA = re.compile(r"^(==\d+\.\d+\.\d+)\.\*$")
"""A whole release with one equals sign, as conda's packages are pinned: their further parts are builds."""
_SLIP = re.compile(r"([A-Za-z][\w-]*?)-(\d+(?:\.\d+)+)")
"""A release behind a dash, as files of packages have it."""
_BUILD_STRING = re.compile(r"=[^=]*=(?:[^=]*_)?py(?:thon)?(\d)\.?(\d+)(?=[_h]|$)")
_LOWER = re.compile(r"(?:>=?|==|~=)\s*(\d+(?:\.\d+)*)")


_OWN_WAY = re.compile(
    r"break.system.packages|venv|externally.managed|--(?:target|prefix|root)\b|pipx|conda|mamba|pyenv|\buv\b|\bpixi\b|poetry|"
    r"deadsnakes|python-?3\.\d+(?:\.\d+)?\.t|/usr/local/bin/(?:pip|python)|make (?:alt)?install|linuxbrew",
    re.IGNORECASE,
)
"""What installs elsewhere than into the Python of the system, or into it all the same."""


@ENVIRONMENTS.rule(STUB, BUILD, METADATA, MANAGED, UNLISTED, UNPUBLISHED, CONTRADICT, PLATFORM)
def check_environment(environment: ProjectEnvironment, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield what is wrong with packages and images of which no version is known."""
    for located, one in environment.others:
        if one.group == environment.group and one.tool != "conda" and one.role is not RequirementRole.OVERRIDE:
            yield from _stub(located, one, [python.specifier for _, python in environment.pythons], queries)
            yield from _metadata(located, one, queries)
    asked = [*environment.others, *((w.located, w.requirement) for w in environment.requirements)]
    for located, one in asked:
        if one.group == environment.group:
            yield from _build(located, one, environment, queries)
            yield from _unwheeled(located, one, environment, queries)
    yield from _managed(environment, queries)
    yield from _contradicting(environment)
    yield from _of_conda(environment, queries)
    for located, image in environment.images:
        for record in queries.package_records("gone_image"):
            tag = image.tag or "latest"
            is_named = tag in record["tags"] or tag.partition("-")[0] in record["versions"]
            is_gone = image.repository.removeprefix("docker.io/") == record["repository"] and (
                is_named or not (record["tags"] or record["versions"])
            )
            if is_gone and not image.unknown and not image.digest:
                finding = at(located, UNLISTED, f"{image.text} cannot be pulled: {record['reason']}", sources=_urls(record))
                is_fixed = bool(re.search(r"\d", image.tag or ""))
                yield finding._replace(level=Severity.ERROR) if is_fixed else finding


def _managed(environment: ProjectEnvironment, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield the first thing that pip installs into the Python of an image's system, where the system forbids that."""
    bases = [image for _, image in environment.images if not image.unknown]
    is_plain = len(bases) == len(environment.images) == 1 and queries.is_plain(bases[0].repository)
    systems = systems_of(environment, queries)
    if environment.kind != "stage" or not is_plain or not systems or _OWN_WAY.search(environment.document.text):
        return
    is_of_python = bases[0].repository not in systems[0] and queries.toolkit(bases[0].repository) is None
    if is_of_python or any(
        "break-system" in one.text for one in queries.context.documents if kind_of(one.path) == "installer"
    ):
        return
    asked = [*environment.others, *((w.located, w.requirement) for w in environment.requirements)]
    own = [place for place, one in asked if one.tool == "pip" and one.role is RequirementRole.INSTALL]
    own = [place for place in (*own, *(place for place, _ in environment.includes)) if place.document is environment.document]
    own = sorted(
        (place for place in own if place.statement.group == environment.group), key=lambda place: place.statement.step
    )
    pips = [package for _, package in environment.packages if package.name in ("python3-pip", "python-pip", "pip")]
    for record in queries.package_records("managed_python") if own and pips else ():
        if systems[0] in record["systems"]:
            message = (
                f"{bases[0].repository}:{bases[0].tag} keeps its Python for its own packages: pip installs nothing into it"
            )
            fix = "add --break-system-packages, or make a virtual environment first"
            yield at(own[0], MANAGED, message, sources=_urls(record), fix=fix)


def _of_conda(environment: ProjectEnvironment, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield packages of conda in a version that none of the channels has."""
    channels = set(environment.reading.channels)
    everything = [*environment.others, *((w.located, w.requirement) for w in environment.requirements)]
    asked = [pair for pair in everything if pair[1].tool == "conda" and pair[1].group == environment.group]
    names = {one.name: one for _, one in asked}
    pythons = next((queries.python(python.specifier) for _, python in environment.pythons if python.runs), ANY_PYTHON)
    for located, one in asked:
        built = _BUILD_STRING.search(located.statement.text)
        if built and pythons and not queries.python(f"=={built[1]}.{built[2]}.*").mask & pythons.mask:
            runs = queries.python_names(pythons)
            message = f"{located.statement.text} is a build for Python {built[1]}.{built[2]}, and Python {runs} is asked for"
            fix = "leave the build out, or take the one for that Python"
            yield at(located, CONTRADICT, message, fix=fix)._replace(level=Severity.ERROR)
        for record in queries.package_records("conda_clash"):
            other = names.get(record["other"])
            is_kept = other is not None and not _admits_from(other.specifier, record["below"])
            is_meant = one.name == record["name"] and environment.reading.channels[:1] == (record["channel"],)
            if not is_meant or is_kept or names.keys() & set(record["others"]) or not one.specifier:
                continue
            if _admits(record["versions"], one.specifier.removeprefix("==").removesuffix(".*")):
                bound = f"{record['other']}<{record['below']}"
                message = f"{located.statement.text} does not import beside {record['other']} {record['below']} or newer, "
                message += f"which conda takes here: {record['reason']}"
                yield at(located, DRIFTS, message, sources=_urls(record), fix=f"{'write' if other else 'add'} {bound}")
    for located, one in environment.others:
        is_asked = one.tool == "conda" and one.specifier and not one.unknown and one.group == environment.group
        for record in queries.package_records("conda_list") if is_asked else ():
            is_known = not record["channels"] or (bool(channels) and channels <= set(record["channels"]))
            if one.name != record["name"] or not is_known:
                continue
            wanted = one.specifier.removeprefix("==").removesuffix(".*")
            series = {tuple(version.split(".")[:2]) for version in record["versions"]}
            if tuple(wanted.split(".")[:2]) in series or any(_admits(one.specifier, v) for v in record["versions"]):
                continue
            near = ", ".join(record["versions"][:5])
            message = f"there is no {one.name} {wanted} on the channels named here"
            yield at(located, UNPUBLISHED, message, sources=_urls(record), fix=f"take one that exists: {near}")


def _admits_from(specifier: str, version: str) -> bool:
    """Return whether a specifier admits a version or any above it."""
    return _admits(specifier, version) or _admits(specifier, f"{version}.0") or not _UPPER.search(specifier)


def _contradicting(environment: ProjectEnvironment) -> Iterator[Finding]:
    """Yield exact pins of packages that are no products where one step asks for another version: installers refuse that."""
    asked: dict[tuple[str, int], list[tuple[LocatedStatement, Requirement]]] = {}
    for located, one in environment.others:
        is_asked = one.role in (RequirementRole.INSTALL, RequirementRole.CONSTRAINT) and one.tool != "conda"
        if is_asked and one.specifier and not (one.marker or one.url or one.unknown or located.statement.derived):
            asked.setdefault((one.name, one.step), []).append((located, one))
    for several in asked.values():
        for located, one in several if len(several) > 1 else ():
            version = one.specifier.removeprefix("==")
            if not is_exact(one.specifier) or "," in version or one.group != environment.group:
                continue
            for other, beside in several:
                wanted = beside.specifier if "+" in version else beside.specifier.partition("+")[0]
                if beside is not one and not _admits(wanted, version):
                    path = "" if other.document is located.document else f"{other.document.path}, "
                    where = f"{path}line {other.statement.place.line}"
                    texts = f"{one.name}{one.specifier} and {beside.name}{beside.specifier} ({where})"
                    yield at(located, CONTRADICT, f"no version of {one.name} is admitted by {texts}, which one step asks for")
                    break


def _unwheeled(
    located: LocatedStatement, one: Requirement, environment: ProjectEnvironment, queries: ProjectQueries
) -> Iterator[Finding]:
    """Yield a package that has nothing for the system of an image."""
    if one.role is not RequirementRole.INSTALL or one.tool not in ("pip", "uv") or one.url:
        return
    for record in queries.package_records("unwheeled") if environment.images else ():
        bases = [use for _, use in environment.images if use.tag and not use.group.startswith("from:")]
        base = next((use for use in bases if queries.is_plain(use.repository) and record["word"] in (use.tag or "")), None)
        if one.name in record["names"] and base and not _asks_others(environment, queries):
            message = f"{one.name} has nothing for {base.text}: {record['reason']}"
            fix = f"start from {base.repository}:{(base.tag or '').partition('-')[0].partition(record['word'])[0] or 'latest'}"
            about = f"{located.document.path} {record['word']}"
            finding = at(located, PLATFORM, message, sources=_urls(record), fix=fix, about=about, brief=one.name)
            yield finding._replace(level=Severity.ERROR)


def _is_for(newest: str | None, named: list[str], queries: ProjectQueries) -> bool:
    """Return whether a Python that is named is not newer than one."""
    admitted = [queries.python(specifier).mask for specifier in named]
    return bool(newest and any(mask and mask & queries.python(f"<={newest}").mask for mask in admitted))


def _stub(located: LocatedStatement, one: Requirement, pythons: list[str], queries: ProjectQueries) -> Iterator[Finding]:
    slip = _SLIP.fullmatch(located.statement.text)
    product = queries.facts.product(slip[1]) if slip else None
    if slip and product and product.distribution == slip[1]:
        message = f"{slip[0]} is the name of a package, which no index has; a version stands behind =="
        start, end = located.span
        written = f"{slip[1]}=={slip[2]}"
        edits = (Edit(start, end, written),) if located.document.text[start:end] == slip[0] else ()
        yield at(located, STUB, message, fix=f"write {written}", edits=edits)
    for record in queries.package_records("stub") if one.url is None else ():
        if record["name"] != one.name or one.role is not RequirementRole.INSTALL or _is_for(record["until"], pythons, queries):
            continue
        message = f"{one.name} cannot be installed from the index; the package that is meant is {record['instead']}"
        start, end = located.span
        product = queries.facts.product(record["instead"])
        allowed = queries.allowed(product, [one.specifier]) if product and one.specifier else None
        written = record["instead"] + (one.specifier if allowed and allowed.mask else "")  # versions of a stub are its own
        is_there = "".join(located.document.text[start:end].split()) == one.name + one.specifier and not one.derived
        edits = (Edit(start, end, written),) if is_there else ()
        yield at(located, STUB, message, sources=_urls(record), fix=f"write {written}", edits=edits)


def _metadata(located: LocatedStatement, one: Requirement, queries: ProjectQueries) -> Iterator[Finding]:
    known = releases_of(one.name, queries) if one.specifier and one.url is None else {}
    admitted = sorted(version for version in known if _admits(one.specifier, str(version)))
    if not admitted or not all(known[version]["unread"] for version in admitted):
        return  # pip takes another one of them
    for record in queries.package_records("refused_metadata"):
        since, pin = record["since_pip"], one.specifier.removeprefix("==")
        if queries.asks_pip_before(since):
            continue
        mended = next((v for v in sorted(known) if v > admitted[-1] and not known[v]["unread"]), None)
        message = f"pip passes over {one.name} {pin} since {since}: its metadata hold {known[admitted[-1]]['unread']}"
        fix = f"write {one.name}>={mended}, or install pip<{since} before" if mended else f"install pip<{since} before"
        yield at(located, METADATA, message, sources=_urls(record), fix=fix)


def _build(
    located: LocatedStatement, one: Requirement, environment: ProjectEnvironment, queries: ProjectQueries
) -> Iterator[Finding]:
    """Yield a package whose build imports another one: builds are isolated, whatever is installed around them."""
    is_installed = one.role is RequirementRole.INSTALL and one.tool != "conda" and (one.group == MAIN or one.step)
    if not is_installed or (one.url or "").partition("#")[0].endswith(".whl") or one.only_index or environment.is_locked:
        return
    product = queries.facts.product(one.name)
    if product and is_exact(one.specifier) and is_newer(queries.facts, product, one.specifier.removeprefix("==")):
        return  # it may have wheels
    for record in queries.package_records("isolated_build"):
        if record["name"] != one.name:
            continue
        pages = [use.url for _, use in environment.indexes]
        flags = environment.flags.get(one.step, ())
        is_served = any(part in url for part in record["pages"] for url in pages)
        if is_served or any(flag.startswith(("--no-build-isolation", "--find-links", "--no-deps")) for flag in flags):
            return
        if _is_prepared(located, one, queries) or queries.configures_index or _asks_others(environment, queries):
            return
        message = (
            f"{one.name} has no wheel on the index, and its build imports {record['imports']}, which is not there: "
            "pip and uv build each package in an environment of its own"
        )
        fix = f"install {record['imports']} first, then {one.name} with --no-build-isolation in a command of its own"
        finding = at(located, BUILD, message, sources=_urls(record), fix=fix)
        before = any(
            w.requirement.name == record["imports"] and w.requirement.step < one.step for w in environment.requirements
        )
        is_late = before or environment.images or place_of(located.document.path) is not FileRole.INSTALLED
        yield finding._replace(level=Severity.WARNING) if is_late else finding  # older installers build in place


def _asks_others(environment: ProjectEnvironment, queries: ProjectQueries) -> bool:
    """Return whether an index of others is asked, which may have wheels."""
    return any(address(use.url) not in queries.channels for _, use in environment.indexes if use.style != "named")


def _is_prepared(located: LocatedStatement, one: Requirement, queries: ProjectQueries) -> bool:
    """Return whether anything of the project builds the package, or installs its file, without isolation."""
    names = {one.name, one.name.replace("-", "_"), posixpath.basename(located.document.path)}
    return bool(names & queries.built_in_place) or "" in queries.built_in_place


@SETTINGS.rule(DRIFTS, TOGETHER, OUTLIVED)
def check(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield packages that do not import beside what is installed of another, by what the data say of the two."""
    environment = plan.environment
    others = {one.name: (located, one) for located, one in environment.others if not one.marker}
    products = {w.requirement.name: (w.located, w.requirement) for w in plan.requirements}
    yield from _old(plan, queries)
    for record in queries.package_records("clash"):
        located, one = {**others, **products}.get(record["name"], (None, None))
        if located is None or one is None or one.url or one.unknown or one.group != environment.group:
            continue
        if one.role is not RequirementRole.INSTALL or environment.is_locked or not _lies_in(one.specifier, record["versions"]):
            continue
        beside = {**others, **products}.get(record["other"])
        if beside is not None and (beside[1].url or beside[1].unknown or beside[1].extras):
            continue  # what an extra brings may have what is missed
        pinned = beside[1].specifier if beside and is_exact(beside[1].specifier) else ""
        if pinned:
            is_told = record["name"] in products and record["other"] in products  # as a pair
            if not is_told and _admits(record["breaks"], pinned.removeprefix("==").partition("+")[0]):
                yield _clash(located, one, pinned.removeprefix("=="), record, is_pinned=True)
        elif record["breaks"].startswith(">=") and _may_be(record, beside[1] if beside else None, plan, queries):
            told = _clash(located, one, record["breaks"], record, is_pinned=False)
            bound = (told.fix or "").removeprefix("add ")
            is_sure = told.level is Severity.ERROR and (beside is None or not beside[1].specifier)
            yield told._replace(edits=_added(located, beside and beside[0], bound, plan, queries)) if is_sure else told


def _old(plan: InstallPlan, queries: ProjectQueries) -> Iterator[Finding]:
    """Yield pins older than the data: beside another release than they ask for, or for no Python of today."""
    known = {w.requirement.name: w.product for w in plan.requirements}
    asked = [(w.located, w.requirement) for w in plan.requirements]
    asked += [(located, one) for located, one in plan.environment.others if not one.marker]
    pins = ((p, o._replace(specifier=_OF_CONDA.sub(r"\1", o.specifier)) if o.tool == "conda" else o) for p, o in asked)
    pins = ((p, o) for p, o in pins if is_exact(o.specifier) and not o.url and "," not in o.specifier)
    exact = {(known[o.name].distribution or o.name) if o.name in known else o.name: (p, o) for p, o in pins}
    for name, (located, one) in exact.items():
        version, product = _public(one), known.get(one.name)
        allowed = queries.allowed(product, [one.specifier]) if product else None
        if (product and (allowed is None or allowed.mask)) or one.group != plan.environment.group:
            continue
        for record in queries.package_records("companion"):
            wanted = dict(record["rows"]).get(version) if record["name"] == name else None
            place, beside = exact.get(record["requires"], (None, None))
            if wanted is None or place is None or beside is None or _public(beside) == wanted or one.step != beside.step:
                continue
            other = f"{beside.name} {_public(beside)} (line {place.statement.place.line})"
            message = f"{name} {version} does not work with {other}: it needs {beside.name} {wanted} (stated)"
            finding = at(located, TOGETHER, message, sources=_urls(record), fix=f"write {beside.name}=={wanted}")
            is_refused = (one.tool == "conda") == (beside.tool == "conda") and plan.resolves(one.step)
            yield finding if is_refused else finding._replace(level=Severity.WARNING)
        for record in queries.package_records("outlived"):
            is_old = record["name"] == name and _admits(record["versions"], version)
            if is_old and one.tool != "conda" and not names_a_python(plan.environment, queries):
                message = (
                    f"{name} {version} has nothing for any Python that is supported today; the newest that releases of its "
                    f"time are for is {record['python']}, and no Python is named here"
                )
                about = f"{located.document.path} outlived"
                yield at(located, OUTLIVED, message, sources=_urls(record), about=about, brief=f"{name} {version}")


def _public(one: Requirement) -> str:
    """Return the release that an exact pin names."""
    return one.specifier.removeprefix("==").partition("+")[0]


def _clash(located: LocatedStatement, one: Requirement, taken: str, record: dict[str, Any], *, is_pinned: bool) -> Finding:
    name, other = f"{one.name} {one.specifier.removeprefix('==')}".strip(), record["other"]
    chosen = "" if is_pinned else ", and installers take such a release here"
    message = f"{name} does not import beside {other} {taken}{chosen}: {record['reason']} (observed)"
    wanted = record["breaks"].replace(">=", "<") if ">=" in record["breaks"] else record["breaks"].replace("<", ">=")
    fix = f"{'write' if is_pinned else 'add'} {other}{wanted}"
    finding = at(located, TOGETHER if is_pinned else DRIFTS, message, sources=_urls(record), fix=fix)
    is_bounded = is_exact(one.specifier) or "<" in one.specifier or "<" not in record["versions"]
    is_certain = is_bounded and place_of(located.document.path) is not FileRole.PIPELINE
    return finding._replace(level=Severity.ERROR if is_certain else Severity.WARNING)


def _added(
    located: LocatedStatement, beside: LocatedStatement | None, text: str, plan: InstallPlan, queries: ProjectQueries
) -> tuple[Edit, ...]:
    """Return the edit that adds a bound to a list, to a bare name or on a new line, where all that is pinned admits it."""
    document, name = located.document, text.partition("<")[0].partition(">")[0]
    product = queries.facts.product(name)
    allowed = queries.allowed(product, [text.removeprefix(name)]) if product else None
    if plan.environment.reading.kind != "requirements" or document is not plan.environment.document or not allowed:
        return ()
    if queries.refused([*(one.allowed for one in plan.final.values()), allowed], plan.pythons, plan.systems):
        return ()
    if beside:
        end = beside.span[1]
        is_bare = beside.document is document and not re.search(r"[;@\s\[]", beside.statement.text)
        return (Edit(end, end, text.removeprefix(name)),) if is_bare else ()
    start, end = document.line_bounds(located.statement.place.line)
    line = document.text[start:end]
    ending = line[len(line.rstrip("\r\n")) :]
    return (Edit(end, end, text + ending),) if ending and not line.rstrip().endswith("\\") else ()


def _may_be(record: dict[str, Any], asked: Requirement | None, plan: InstallPlan, queries: ProjectQueries) -> bool:
    """Return whether installers take a release of a package that breaks another one: the newest that the rest admits does."""
    product = next((p for p in queries.facts.products.values() if p.distribution == record["other"]), None)
    if product is None:
        return asked is None or not _UPPER.search(asked.specifier)
    if plan.environment.missing or any(one.step < 0 for one in plan.final.values()):
        return False  # what a file that is not there, or an image, holds is not known
    allowed = queries.allowed(product, [asked.specifier if asked else "", record["breaks"]])
    names = (record["name"], record["other"])
    final = [f.allowed for f in plan.final.values() if f.allowed.mask]
    final = [one for one in final if queries.facts.products[one.product].distribution not in names]
    exact = [one for one in final if is_exact(one.text) and queries.facts.edges(one.product, product.id)]
    if allowed is None or not allowed.mask or queries.refused(exact):
        return False
    return not queries.refused([*exact, allowed], supported_pythons(plan, exact, queries)[0])


@lru_cache(maxsize=4096)
def _lies_in(specifier: str, versions: str) -> bool:
    """Return whether all that a specifier admits at its upper end lies in a range; an open one in a range that is open."""
    if is_exact(specifier):
        version = next(c.strip()[2:] for c in specifier.split(",") if c.strip().startswith("==")).lstrip("=")
        return _admits(versions, version.partition("+")[0])
    bounds = _UPPER.findall(specifier.replace(".*", ""))
    if not bounds:
        return "<" not in versions
    if "~=" in specifier or ".*" in specifier:
        series = bounds[0].rpartition(".")[0] if "~=" in specifier else bounds[0]
        return _admits(versions, bounds[0]) and _admits(versions, f"{series}.99")
    top = min(tuple(map(int, bound.split("."))) for bound in bounds)
    floors, tops = ([tuple(map(int, b.split("."))) for b in pattern.findall(versions)] for pattern in (_LOWER, _UPPER))
    return (not floors or top > max(floors)) and (not tops or top <= min(tops))


def _urls(record: dict[str, Any]) -> tuple[str, ...]:
    return tuple(url or text for text, url in record["sources"])


def _admits(specifier: str, version: str) -> bool:
    """Return whether a specifier admits a version."""
    from compatkb.core.versions import Scheme, admits  # for what is recorded of packages alone

    return admits(Scheme.PEP440, specifier, version)
