"""The commands that answer a request: resolve, explain, which needs to know what to explain, and mcp, for coding agents."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from compatkb.cli import completion
from compatkb.cli import options as o
from compatkb.cli.opening import open_data, open_facts, patience
from compatkb.cli.profile import Profile, machine_profile
from compatkb.cli.terminal import tell
from compatkb.core.vocabulary import Verdict
from compatkb.engine.answer import resolve as answer_of
from compatkb.errors import UNKNOWN, UsageError
from compatkb.output import registry
from compatkb.output.commands import shell_here
from compatkb.output.presenter import present
from compatkb.output.terminal import show
from compatkb.request.parser import make_request
from compatkb.request.words import read_words

if TYPE_CHECKING:
    from compatkb.core.clock import Clock
    from compatkb.store.queries.provenance import Application
    from compatkb.store.reader import Snapshot

EXPLAIN = "explain"


def answer(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        o.word("[WORD]...", "a product, PRODUCT==V, or where it runs: B580, ubuntu24.04, py3.12, xpu", completion.words),
    ] = None,
    torch: o.Torch = None,
    ipex: o.Ipex = None,
    torchvision: o.Torchvision = None,
    torchaudio: o.Torchaudio = None,
    triton_xpu: o.TritonXpu = None,
    oneccl_bind_pt: o.OneCcl = None,
    neural_compressor: o.NeuralCompressor = None,
    python: o.Python = None,
    os: o.System = None,
    arch: o.Arch = None,
    hardware: o.Hardware = None,
    driver: o.Driver = None,
    oneapi: o.OneApi = None,
    device: o.Devices = None,
    route: o.Route = None,
    needs: o.Needs = None,
    here: o.Here = False,
    why: o.Why = False,
    everything: o.All = False,
    shell: o.Shell = None,
    form: Annotated[str, o.form("resolve")] = "text",
    stack: o.StackNumber = 1,
    index: o.Indexes = None,
    min_age: o.MinAge = None,
    unknown: o.Unknown = "fail",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Answer a request, for this machine where no word is given; 0 an answer, 1 `does-not-work`, 7 `unknown`."""
    pins = o.pins_of(ctx.params)
    explains = ctx.info_name == EXPLAIN
    if explains and not (words or pins or needs):
        raise UsageError("name what should work together, such as `compatkb explain torch==2.8.0 ipex==2.8.0`")
    if stack != 1 and form not in registry.FILES:
        raise UsageError(f"--stack says which stack a file is for: --format {' or '.join(registry.FILES)}")
    if index and form != "pylock":
        raise UsageError("--index says where a lock file finds its files: --format pylock")
    facts, clock = open_facts(data, as_of)
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
    request = make_request(facts, pins, words or (), device or (), clock, needs or (), route)
    if min_age is not None:  # the whole of that day is out: installers compare to the second
        request = request._replace(uploaded_until=max(clock.day.toordinal() - min_age - 1, 1))
    for application in _ended_applications(facts, words or ()):
        tell(f"remark: {application.name} is {application.state} since {application.ended}: compatkb show {application.id}")
    resolution = answer_of(facts, request, patience())
    edges = why or (form == "json" and explains and not resolution.causes)
    each = request.names_devices and len(request.devices) > 1
    wanted = registry.Wanted(edges, everything, shell or shell_here(), stack, each, tuple(index or ()))
    show(registry.form(ctx.info_name or "", form)(present(facts, resolution), wanted))
    if resolution.verdict == Verdict.UNKNOWN:
        return 0 if unknown == "ok" else UNKNOWN
    return int(resolution.verdict == Verdict.DOES_NOT_WORK)


def _ended_applications(facts: "Snapshot", words: Sequence[str]) -> "Iterator[Application]":
    """Yield the applications among words of which nothing new will come."""
    for word in words:
        if read_words(facts, [word])[1] not in ([], [word]):  # it stands for the torch that it requires
            application = facts.find_application(word)
            if application and application.ended:
                yield application


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


def mcp(data: o.Data = None) -> int:
    """Answer a client of the Model Context Protocol until it closes standard input; nothing else is written to stdout."""
    from compatkb.mcp.protocol import ProtocolServer, serve
    from compatkb.mcp.tools import INSTRUCTIONS, tools

    messages, sys.stdout = sys.stdout, sys.stderr
    try:
        serve(ProtocolServer(tools(open_data(data), patience), INSTRUCTIONS), sys.stdin.buffer, messages.buffer)
    finally:
        sys.stdout = messages
    return 0
