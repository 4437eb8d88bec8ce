"""Answers a request from the parameters of a command, however these were read."""

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from compatkb.cli.opening import open_facts, patience
from compatkb.cli.profile import Profile, machine_profile
from compatkb.cli.terminal import tell
from compatkb.core.vocabulary import Verdict
from compatkb.engine.answer import resolve as answer_of
from compatkb.errors import UNKNOWN, NewerError, UsageError
from compatkb.headline_options import HEADLINES
from compatkb.output import registry
from compatkb.output.commands import shell_here
from compatkb.output.presenter import present
from compatkb.output.terminal import show
from compatkb.request.lookup import ELSEWHERE, OPERATORS
from compatkb.request.parser import make_request
from compatkb.request.words import read_words

if TYPE_CHECKING:
    from compatkb.core.clock import Clock
    from compatkb.store.reader import Snapshot

EXPLAIN = "explain"
_SENTENCE = 2
"""Words from which on a slip in one of them is beyond doubt, since the others are understood."""


def answer(command: str, given: Mapping[str, Any]) -> int:
    """Answer a request, for this machine where no word is given; 0 an answer, 1 `does-not-work`, 7 `unknown`.

    Words that are refused are read once more as a sentence with slips put right: if all of it is understood then, that is
    said and answered, else what is understood stands in the error as a command.
    """
    try:
        return _answered(command, given)
    except UsageError as error:
        words = given["words"] or ()
        if len(words) < _SENTENCE or isinstance(error, NewerError):
            raise
        from compatkb.request.typed import reread

        facts, clock = open_facts(given["data"], given["as_of"])
        read = reread(facts, words, clock)
        if not read.words or list(read.words) == list(words) or any(not OPERATORS.isdisjoint(word) for word in words):
            raise
        meant = shlex.join(["compatkb", command, *read.words])
        if len(read.words) <= len(read.aside) or "compatkb resolve" in str(error).replace(ELSEWHERE, ""):
            raise
        if read.aside:
            raise UsageError(f"{error}\n  use: {meant}") from None
        tell(f"remark: read as {meant}")
        return _answered(command, {**given, "words": list(read.words)})


def _answered(command: str, given: Mapping[str, Any]) -> int:
    words, device, needs, here, form = (given[name] for name in ("words", "device", "needs", "here", "form"))
    stack, index, min_age = given["stack"], given["index"], given["min_age"]
    pins = pins_of(given)
    explains = command == EXPLAIN
    if explains and not (words or pins or needs):
        raise UsageError("name what should work together, such as `compatkb explain torch==2.8.0 ipex==2.8.0`")
    if stack != 1 and form not in registry.FILES:
        raise UsageError(f"--stack says which stack a file is for: --format {' or '.join(registry.FILES)}")
    if index and form != "pylock":
        raise UsageError("--index says where a lock file finds its files: --format pylock")
    facts, clock = open_facts(given["data"], given["as_of"])
    profile = None if here else machine_profile()
    if profile:
        pins += _of_profile(facts, profile, [*pins, *read_words(facts, words or ())[0]], device or ())
    elif here or not (words or pins or device or needs):
        pins += _of_this_machine(
            facts,
            clock,
            [*pins, *read_words(facts, words or ())[0], *(("device", name) for name in device or ())],
            bool(words or pins or device),
        )
    request = make_request(facts, pins, words or (), device or (), clock, needs or (), given["route"])
    if min_age is not None:  # the whole of that day is out: installers compare to the second
        request = request._replace(uploaded_until=max(clock.day.toordinal() - min_age - 1, 1))
    for word in words or ():
        stands_for_another = read_words(facts, [word])[1] not in ([], [word])  # for the torch that it requires
        if not stands_for_another or (application := facts.find_application(word)) is None:
            continue
        name, ended = application.name, application.ended
        said = f"{name} is {application.state} since {ended}" if ended else f"this is about the torch that {name} needs"
        tell(f"remark: {said}: compatkb show {application.id}")
    resolution = answer_of(facts, request, patience())
    edges = given["why"] or (form == "json" and explains and not resolution.causes)
    each = request.names_devices and len(request.devices) > 1
    wanted = registry.Wanted(edges, given["everything"], given["shell"] or shell_here(), stack, each, tuple(index or ()))
    show(registry.form(command, form)(present(facts, resolution), wanted))
    if resolution.verdict == Verdict.UNKNOWN:
        return 0 if given["unknown"] == "ok" else UNKNOWN
    return int(resolution.verdict == Verdict.DOES_NOT_WORK)


def _of_profile(
    facts: "Snapshot", profile: Profile, said: list[tuple[str, str]], devices: Sequence[str]
) -> list[tuple[str, str]]:
    """Return what a profile fixes that a question leaves open, as options, and say so."""
    fixed = {name for name, _ in said} | ({"device", "hardware"} if devices else set())
    fixed |= {"device", "hardware"} if {"device", "hardware"} & fixed else set()
    known, unknown = read_words(facts, profile.words)
    if unknown:
        raise UsageError(f"{profile.path}: machine: {unknown[0]!r} is no GPU, system or Python")
    own = [(name, text) for name, text in known if name not in fixed]
    if own:
        tell(f"remark: for the machine of {profile.path}: {', '.join(f'{name} {text}' for name, text in own)}")
    return own


def _of_this_machine(facts: "Snapshot", clock: "Clock", said: list[tuple[str, str]], asked: bool) -> list[tuple[str, str]]:
    """Return what this machine fixes beside what was said, as options, and say so.

    That it has no GPU decides only where nothing was asked: a question may be about another machine's packages.
    """
    from compatkb.cli.helping import this_machine
    from compatkb.doctor.known_machine import KnownMachine

    fixed = {name for name, _ in said} | ({"device"} if asked else set())
    fixed |= {"hardware"} if "device" in {name for name, _ in said} else set()
    own = [(name, value) for name, value in KnownMachine(facts, this_machine(facts), clock).asked_for if name not in fixed]
    tell(f"remark: for this machine: {', '.join(f'{name} {value}' for name, value in own)}")
    return own


def pins_of(given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return product and version word of each headline option among parameters by the option's name, in their order."""
    values = {f"--{name.replace('_', '-')}": texts for name, texts in given.items()}
    return [(product, text) for option, _, product, _ in HEADLINES for text in values.get(option) or ()]
