"""Rules about one package at a time: was it published, where, for which Python and system, is it yanked or out of support."""

from collections.abc import Iterator

from compatkb.check.common_rules import ENDED
from compatkb.check.project.environments import Said, Wish
from compatkb.check.project.install_plan import SETTINGS, Installed, Setting, Sources, sources_of
from compatkb.check.project.queries import Held, Judge, is_exact
from compatkb.check.rules import Rule
from compatkb.core.findings import Edit, Finding, Severity
from compatkb.core.vocabulary import Role
from compatkb.output.messages import element_sources
from compatkb.parsers.statement import RequirementRole
from compatkb.store.records import Element

UNPUBLISHED = Rule("pin-unpublished", Severity.ERROR, "a pinned version was never published")
INDEX = Rule("pin-index", Severity.ERROR, "a pinned build is on none of the indexes that are asked")
PLATFORM = Rule(
    "pin-platform", Severity.ERROR, "a pinned version has nothing for the Python or system that it is installed on"
)
YANKED = Rule("pin-yanked", Severity.WARNING, "a pinned release is yanked")
WITHDRAWN = Rule("pin-withdrawn", Severity.ERROR, "everything that a range admits is yanked, so installers take none of it")
LOST = Rule("bound-lost", Severity.WARNING, "a shell takes a bound for a redirection")


@SETTINGS.rule(UNPUBLISHED, INDEX, PLATFORM, YANKED, WITHDRAWN, LOST, ENDED)
def check(setting: Setting, judge: Judge) -> Iterator[Finding]:
    """Yield what is wrong with single requirements of an environment."""
    for wish in setting.wishes:
        requirement = wish.requirement
        if requirement.lost:
            yield _lost(wish)
        hold = judge.held(wish.product, [requirement.specifier])
        if requirement.unknown or hold is None or not requirement.specifier:
            continue
        if not hold.mask:
            yield from _unpublished(wish, judge)
            continue
        if wish.product.role != Role.LEAF and not any(e.installable for e in judge.elements(hold.product, hold.mask)):
            yield from _not_built(wish, hold, judge)
            continue
        yield from _yanked(setting, wish, hold, judge)
        yield from _ended(wish, hold, judge)
        if requirement.tool != "conda":
            yield from _index(setting, wish, hold, judge)
    for installed in setting.final.values():
        yield from _platform(setting, installed, judge)


def at(
    said: Said,
    rule: Rule,
    message: str,
    *,
    sources: tuple[str, ...] = (),
    fix: str | None = None,
    edits: tuple[Edit, ...] = (),
) -> Finding:
    """Return a finding about a statement."""
    start, end = said.span
    return said.document.finding(
        rule, start, end, message, fix=fix, sources=tuple(dict.fromkeys(sources))[:4], edits=edits, subject=said.statement.text
    )


def cited(judge: Judge, element: Element) -> tuple[str, ...]:
    """Return the sources of a build as findings name them."""
    return tuple(url or text for text, url in element_sources(judge.facts, element)[:2])


def _lost(wish: Wish) -> Finding:
    text = wish.said.statement.text
    whole = f"{text}{wish.requirement.lost}"
    start = wish.said.document.offset(*wish.said.statement.place)
    there = wish.said.document.text[start : start + len(whole)]
    plain = wish.said.document.path.endswith(".sh") or "ockerfile" in wish.said.document.path
    edits = (Edit(start, start + len(whole), f'"{whole}"'),) if plain and there == whole else ()
    name = (wish.requirement.lost or "").lstrip("<>")
    message = f"without quotes the shell writes into a file named {name!r}, and installs any {text}"
    return at(wish.said, LOST, message, fix=f'write "{whole}" in quotes', edits=edits)


def _unpublished(wish: Wish, judge: Judge) -> Iterator[Finding]:
    specifier = wish.requirement.specifier
    if not is_exact(specifier) or "," in specifier or specifier.startswith("==="):
        return
    version = specifier.removeprefix("==").strip()
    public, _, label = version.partition("+")
    product = wish.product
    if label:
        builds = judge.held(product, [f"=={public}"])
        labels = {e.version.partition("+")[2] for e in judge.facts.elements(product.id)}
        if builds and builds.mask and label in labels:
            near = [e.version for e in judge.elements(product.id, builds.mask)]
            message = f"{product.name} {version} was never published; of {public} there are {', '.join(near)}"
            yield at(wish.said, UNPUBLISHED, message, sources=cited(judge, judge.elements(product.id, builds.mask)[-1]))
        return
    sources = judge.known.covered(product, version, judge.day)
    if sources is None:
        return
    close = _near(product.id, version, judge)
    message = f"{product.name} {version} was never published; the nearest are {close}"
    yield at(wish.said, UNPUBLISHED, message, sources=sources, fix=f"pin one that exists: {close}")


def _not_built(wish: Wish, hold: Held, judge: Judge) -> Iterator[Finding]:
    """Yield a version that exists as source or tag alone, so that nothing can be installed."""
    if denial := judge.denial([hold]):
        yield at(wish.said, UNPUBLISHED, f"{short(denial.said)} ({denial.basis})", sources=denial.sources)


def _near(product: str, version: str, judge: Judge) -> str:
    def numbers(text: str) -> tuple[int, ...]:
        return tuple(int(part) for part in text.split(".") if part.isdigit())

    names = list(dict.fromkeys(e.release for e in judge.facts.elements(product)))
    names.sort(
        key=lambda name: [abs(a - b) for a, b in zip((*numbers(name), 0, 0, 0), (*numbers(version), 0, 0, 0), strict=False)]
    )
    return ", ".join(sorted(names[:3], key=numbers))


def _yanked(setting: Setting, wish: Wish, hold: Held, judge: Judge) -> Iterator[Finding]:
    asked = sources_of(setting, wish.requirement.step, wish.requirement, judge)
    if asked.known and not hold.exact:
        hold = judge.narrowed(hold, asked.channels)
    elements = [e for e in judge.elements(hold.product, hold.mask) if e.installable]
    gone = [e for e in elements if e.yank_by is not None and e.yank_by <= judge.day]
    own = [e for e in elements if judge.own in e.channels]
    if not gone or any(e not in gone for e in own) or not own:
        return
    reason = next((e.yank_reason.strip().rstrip(".") for e in gone if e.yank_reason and e.yank_reason.strip()), "")
    why = f" ({reason})" if reason else ""
    releases = list(dict.fromkeys(e.release for e in gone))
    if hold.exact:
        elsewhere = [e for e in elements if e not in own]
        if elsewhere and "+" in hold.text:
            return
        message = f"{wish.product.name} {releases[-1]} is yanked from its index{why}; it is installed for being pinned exactly"
        yield at(wish.said, YANKED, message, sources=cited(judge, gone[-1]))
    elif len(own) == len(elements):
        names = releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"
        message = f"all that {wish.product.name} {hold.text} admits is yanked{why}: {names}; installers take none of it"
        yield at(wish.said, WITHDRAWN, message, sources=cited(judge, gone[-1]))


def _ended(wish: Wish, hold: Held, judge: Judge) -> Iterator[Finding]:
    if wish.requirement.role is RequirementRole.BUILD or (wish.product.role == Role.LEAF and not hold.exact):
        return  # a bound on what others need is no choice of a version
    found = judge.known.ended(hold.product, hold.mask, judge.asked.day, judge.asked.within)
    if found is None:
        return
    last, sources = found
    is_over = last < judge.asked.day
    said = f"is out of support since {last}" if is_over else f"will be out of support after {last}"
    yield at(wish.said, ENDED, f"{wish.product.name} {hold.text.removeprefix('==')} {said}", sources=sources)


def _index(setting: Setting, wish: Wish, hold: Held, judge: Judge) -> Iterator[Finding]:
    """Yield a pin whose builds are all elsewhere than where the installer looks."""
    requirement = wish.requirement
    environment = setting.environment
    if requirement.url or not is_exact(hold.text) or environment.borrowed or environment.missing:
        return
    if requirement.role is RequirementRole.CONSTRAINT or environment.kind == "branch":
        return
    builds = [e for e in judge.elements(hold.product, hold.mask) if e.channels]
    asked = sources_of(setting, requirement.step, requirement, judge)
    if not builds or not asked.known or any(asked.channels & set(e.channels) for e in builds):
        return
    if not any(e.complete >= judge.day or e.installable for e in builds):
        return
    channel = builds[-1].channels[0]
    url, style = judge.addresses.get(channel, ("", ""))
    where = " or ".join(sorted(_named(c, judge) for c in asked.channels)) or "no index"
    name = f"{wish.product.name} {builds[-1].version}"
    message = f"{name} is not on {where}, which is asked here; it is at {url or 'an index without address'}"
    yield at(wish.said, INDEX, message, sources=cited(judge, builds[-1]), fix=_told(url, style, asked))


def _named(channel: str, judge: Judge) -> str:
    return judge.addresses.get(channel, ("", ""))[0] or "the default index"


def _told(url: str, style: str, asked: Sources) -> str | None:
    del asked
    return f"add --{style} {url}" if url and style in ("index-url", "extra-index-url", "find-links") else None


def _platform(setting: Setting, installed: Installed, judge: Judge) -> Iterator[Finding]:
    """Yield a package that has nothing for the Python or the system, where it has something elsewhere."""
    hold = installed.hold
    if not hold.text or not hold.mask or installed.step < 0 or judge.facts.products[hold.product].role == Role.LEAF:
        return
    if judge.denial([hold]) is not None:
        return
    said = installed.parts[-1].said
    name = f"{judge.facts.products[hold.product].name} {hold.text.removeprefix('==')}"
    if setting.pythons and (denial := judge.denial([hold], setting.pythons)):
        versions = [e.version for e in judge.elements("python", setting.pythons)]
        if "python" in denial.products or denial.products == {hold.product}:
            runs = versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"
            message = f"{name} has nothing for Python {runs}: {short(denial.said)} ({denial.basis})"
            yield at(said, PLATFORM, message, sources=denial.sources)
            return
    if setting.systems and (denial := judge.denial([hold], 0, setting.systems)):
        message = f"{name} has nothing for {setting.systems[0]}: {short(denial.said)} ({denial.basis})"
        yield at(said, PLATFORM, message, sources=denial.sources)


def short(said: str) -> str:
    """Return a cause without the part that repeats what was asked."""
    head, _, tail = said.rpartition("; ")
    return head if head and tail.endswith("asked for") else said
