"""The command for coding agents: mcp."""

import sys

from compatkb.cli import options as o
from compatkb.cli.opening import open_data, patience


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
