"""The commands that answer a request: resolve, explain, which needs to know what to explain, and mcp, for coding agents."""

from typing import Annotated

import typer

from compatkb.cli import options as o
from compatkb.cli.opening import open_data, patience
from compatkb.errors import UnavailableError


def answer(
    ctx: typer.Context,
    words: Annotated[
        list[str] | None,
        o.word("[WORD]...", "a product, PRODUCT==V, or where it runs: B580, ubuntu24.04, py3.12, xpu"),
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
    """Answer a request."""
    from compatkb.cli.answering import answer as answer_it

    return answer_it(ctx.info_name or "", ctx.params)


def mcp(data: o.Data = None) -> int:
    """Answer a client of the Model Context Protocol until it closes standard input; nothing else is written to stdout."""
    try:
        from compatkb.mcp.tools import AgentTools
    except ModuleNotFoundError as error:
        raise UnavailableError(f"the server needs the package {error.name}: python -m pip install 'compatkb[mcp]'") from None

    AgentTools(open_data(data), patience).server().run()
    return 0
