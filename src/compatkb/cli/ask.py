"""The commands that answer a request: resolve, and explain, which needs to know what to explain."""

import sys
from typing import Annotated, Literal

import typer

from compatkb.cli import completion
from compatkb.cli import options as o
from compatkb.cli.opening import open_facts, patience
from compatkb.engine.answer import Answer
from compatkb.engine.answer import resolve as answer_of
from compatkb.errors import UsageError
from compatkb.request_parser import make_request, read_words
from compatkb.store.reader import Snapshot

EXPLAIN = "explain"


def answer(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD]...",
            help="a product, PRODUCT==V, or where it runs: B580, ubuntu24.04, py3.12, xpu",
            autocompletion=completion.words,
        ),
    ] = None,
    torch: o.Torch = None,
    ipex: o.Ipex = None,
    torchvision: o.Torchvision = None,
    torchaudio: o.Torchaudio = None,
    triton_xpu: o.TritonXpu = None,
    oneccl_bind_pt: o.OneCcl = None,
    neural_compressor: o.NeuralCompressor = None,
    python: o.Python = None,
    system: o.System = None,
    arch: o.Arch = None,
    hardware: o.Hardware = None,
    driver: o.Driver = None,
    oneapi: o.OneApi = None,
    device: o.Devices = None,
    route: o.Route = None,
    needs: o.Needs = None,
    why: o.Why = False,
    everything: o.All = False,
    shell: o.Shell = None,
    form: Annotated[Literal["text", "json", "requirements"], typer.Option("--format", help="form of the output")] = "text",
    as_of: o.AsOf = None,
    data: o.Data = None,
) -> int:
    """Answer a request; 0 for an answer, 1 for `does-not-work` and `unknown`."""
    pins = o.pins_of(
        torch=torch,
        ipex=ipex,
        torchvision=torchvision,
        torchaudio=torchaudio,
        triton_xpu=triton_xpu,
        oneccl_bind_pt=oneccl_bind_pt,
        neural_compressor=neural_compressor,
        python=python,
        os=system,
        arch=arch,
        hardware=hardware,
        driver=driver,
        oneapi=oneapi,
    )
    explains = ctx.info_name == EXPLAIN
    if explains and not (words or pins or needs):
        raise UsageError("name what should work together, such as `compatkb explain torch==2.8.0 ipex==2.8.0`")
    facts, clock = open_facts(data, as_of)
    read, rest = read_words(facts, words or ())
    request = make_request(facts, [*pins, *read], rest, device or (), clock, needs or (), route)
    found = answer_of(facts, request, patience())
    if form == "text":
        return _print_lines(facts, found, shell, why=why, everything=everything)
    return _print_form(facts, found, form, edges=why or (explains and not found.causes))


def _print_lines(facts: Snapshot, answer: Answer, shell: str | None, *, why: bool, everything: bool) -> int:
    from compatkb.output.shells import shell_here
    from compatkb.output.terminal import print_lines
    from compatkb.output.text import answer_lines

    print_lines(answer_lines(facts, answer, why=why, everything=everything, shell=shell or shell_here()))
    return _code(answer)


def _print_form(facts: Snapshot, answer: Answer, form: str, *, edges: bool) -> int:
    if form == "requirements":
        return _requirements(facts, answer)
    import json

    from compatkb.output.payload import answer_payload

    print(json.dumps(answer_payload(facts, answer, why=edges), indent=2, ensure_ascii=False))
    return _code(answer)


def _code(answer: Answer) -> int:
    return 1 if answer.verdict in ("does-not-work", "unknown") else 0


def _requirements(facts: Snapshot, answer: Answer) -> int:
    from compatkb.output.commands import requirements, waived
    from compatkb.output.messages import asked, cause

    if not answer.stacks:
        print(f"error: {asked(facts, answer.request)}: no stack", file=sys.stderr)
        for found in answer.causes:
            print(f"- {cause(facts, found, answer.request)}", file=sys.stderr)
        return 1
    if pins := waived(facts, answer.stacks[0]):
        reason = f"its maker installs it in steps and against {', '.join(pins)}"
        print(f"error: one requirements file cannot install this stack: {reason}; see `compatkb resolve`", file=sys.stderr)
        return 1
    print(requirements(facts, answer.stacks[0]), end="")
    return 1 if answer.verdict == "unknown" else 0
