"""Which indexes an installer asks for a package: by its options and variables, and by the settings of pip, uv and poetry."""

import re

from compatkb.check.project.install_plan import InstallPlan
from compatkb.check.project.queries import ProjectQueries, address
from compatkb.core.record import NamedTuple
from compatkb.parsers.statement import IndexUse, Requirement

_SYSTEM_PIP = re.compile(r"python3?(?:\.\d+)?-pip")
_OF_PROJECTS = ("project", "poetry", "pdm", "pipenv")


class Sources(NamedTuple):
    """The channels that an installer asks; `known` is false where an index is not among the data."""

    channels: frozenset[str]
    known: bool
    extra: tuple[str, ...] = ()  # channels beside the first
    named: bool = False  # all are among the data, if some are pages of links, whose lists are not whole


def sources_of(plan: InstallPlan, step: int, requirement: Requirement, queries: ProjectQueries) -> Sources:
    """Return the channels that the installer asks in a step; options of other steps do not count, settings do."""
    environment = plan.environment
    if requirement.only_index:
        by_name = [use.url for _, use in environment.indexes if use.name and use.name in requirement.only_index.split()]
        urls = by_name or ([requirement.only_index] if "/" in requirement.only_index else [])
        sources = _channels(urls, queries)
        return sources._replace(known=sources.known and len(urls) == 1)  # of several a marker chooses
    uses = [use for _, use in environment.indexes if not use.explicit and (use.step == step or _lasts(use, step))]
    if requirement.tool in _OF_PROJECTS or (requirement.tool == "uv" and not step):
        uses = [use for _, use in environment.indexes if not use.explicit and not (use.of_pip and queries.locks_with_uv)]
    uses = [use for use in uses if use.of_tool in ("", requirement.tool) or requirement.tool not in ("pip", "uv")]
    first = [use for use in uses if use.style == "index-url"]
    own_indexes = queries.context.scope.indexes
    flags = environment.flags.get(step, ())
    if queries.configures_index or any(flag.startswith(("--torch-backend", "--no-index", "--pre")) for flag in flags):
        return Sources(frozenset(), known=False)
    sources = _channels([*(use.url for use in uses), *own_indexes], queries)
    own_pip = any(_SYSTEM_PIP.fullmatch(package.name) for _, package in environment.packages)
    bases = [image for _, image in environment.images if not image.group.startswith("from:")]
    if not own_pip and any(not queries.is_plain(image.repository) or image.unknown for image in bases):
        sources = sources._replace(known=False, named=False)  # whoever made the image may have set indexes in it
    own = frozenset() if first or own_indexes else frozenset({queries.own})
    extra = tuple(c for use in uses if use.style != "index-url" and (c := queries.channels.get(address(use.url))))
    return Sources(sources.channels | own, sources.known, extra, sources.named)


def _lasts(use: IndexUse, step: int) -> bool:
    """Return whether an index was set for all steps after it: by a variable or a setting, not by an option."""
    return not use.text.startswith("-") and use.step < step and ("=" in use.text.partition("http")[0] or use.step == 0)


def _channels(urls: list[str], queries: ProjectQueries) -> Sources:
    channels = [queries.channels.get(address(url)) for url in urls if not queries.is_dead(url)]
    whole = all(c and queries.addresses[c][1] != "find-links" for c in channels)  # such a page may list more than its time
    return Sources(frozenset(filter(None, channels)), whole, named=all(channels))


def index_option(plan: InstallPlan, step: int, channel: str, queries: ProjectQueries) -> str | None:
    """Return the option that makes installers ask an index; instead of the default one if a step needs nothing of that."""
    url, style = queries.addresses.get(channel, ("", ""))
    products = (one for one in plan.requirements if any(channel in e.channels for e in queries.facts.elements(one.product.id)))
    there = {one.requirement.name for one in products}
    every = (*(one.requirement for one in plan.requirements), *(one for _, one in plan.environment.others))
    beside = {one.name for one in every if one.step == step}
    if style == "index-url" and beside - there:
        style = "extra-index-url"
    return f"--{style} {url}" if url and style in ("index-url", "extra-index-url", "find-links") else None


def named(channel: str, queries: ProjectQueries) -> str:
    """Return an index as messages name it."""
    return queries.addresses.get(channel, ("", ""))[0] or "the default index"
