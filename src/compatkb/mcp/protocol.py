"""The Model Context Protocol, revisions 2024-11-05 to 2026-07-28: JSON-RPC messages, one a line, of which a server has tools.

Clients of 2025-11-25 and before open with `initialize`; since 2026-07-28 each request carries its revision in `_meta`.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO

from compatkb.core.record import NamedTuple
from compatkb.errors import CompatkbError, UsageError
from compatkb.version import __version__

Content = dict[str, Any]

HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Revisions that begin with `initialize`, newest first."""
STATELESS = ("2026-07-28",)
"""Revisions whose requests say all by themselves."""
MOST_BYTES = 1_000_000
"""The longest line that is read."""
_PARSE, _INVALID, _NO_METHOD, _PARAMS, _REVISION = -32700, -32600, -32601, -32602, -32022
_META = "io.modelcontextprotocol/"
_FRESH = 3_600_000
"""Milliseconds for which a client may keep the list of tools."""
_SERVER = {"name": "compatkb", "version": __version__}
_TYPES = {"string": str, "array": list}


class AgentTool(NamedTuple):
    """What a client may call: `arguments` are JSON Schemas by name, of strings and lists of them; `run` takes them."""

    name: str
    description: str
    arguments: Mapping[str, Content]
    required: tuple[str, ...]
    run: Callable[..., str]


class _RequestError(Exception):
    """A request that gets an error instead of a result."""

    def __init__(self, code: int, message: str, data: Content | None = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data else {})}


class ProtocolServer:
    """Answers the messages of one client, one by one."""

    def __init__(self, tools: Sequence[AgentTool], instructions: str) -> None:
        """Offer these tools; `instructions` tell a model what they are for."""
        self._tools = {tool.name: tool for tool in tools}
        self._about = {"capabilities": {"tools": {}}, "instructions": instructions}
        self._has_handshake = False

    def answer(self, line: bytes) -> bytes | None:
        """Return the line that answers a line, None where none is due: notifications, responses and blank lines."""
        if not line.strip():
            return None
        identity: str | int | None = None
        try:
            message = _parsed(line)
            if "method" not in message and ("result" in message or "error" in message):
                return None
            if isinstance(message.get("method"), str) and "id" not in message:
                return None
            identity = _identity(message)
            reply: Content = {"result": self._result(message)}
        except _RequestError as refused:
            reply = {"error": refused.error}
        head = {"jsonrpc": "2.0", **({} if identity is None else {"id": identity})}
        return json.dumps({**head, **reply}, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"

    def _result(self, message: Content) -> Content:
        method, params = message["method"], message.get("params", {})
        if not isinstance(params, dict):
            raise _RequestError(_PARAMS, "params must be an object")
        if method == "initialize":
            return self._initialized(params)
        if method == "ping":
            return {}
        handler = {"server/discover": self._discovered, "tools/list": self._listed, "tools/call": self._called}.get(method)
        if handler is None:
            raise _RequestError(_NO_METHOD, f"there is no method {method[:80]!r}")
        meta = params.get("_meta")
        if not isinstance(meta, dict) or f"{_META}protocolVersion" not in meta:
            if not self._has_handshake or method == "server/discover":
                needed = f"a request needs {_META}protocolVersion in _meta, or `initialize` before it"
                raise _RequestError(_PARAMS, needed)
            return handler(params)
        _check_meta(meta)
        cached = {} if method == "tools/call" else {"ttlMs": _FRESH, "cacheScope": "public"}
        return {"resultType": "complete", **cached, **handler(params), "_meta": {f"{_META}serverInfo": _SERVER}}

    def _initialized(self, params: Content) -> Content:
        asked = params.get("protocolVersion")
        self._has_handshake = True
        return {"protocolVersion": asked if asked in HANDSHAKE else HANDSHAKE[0], "serverInfo": _SERVER, **self._about}

    def _discovered(self, _: Content) -> Content:
        return {"supportedVersions": list(STATELESS), **self._about}

    def _listed(self, _: Content) -> Content:
        return {"tools": [_described(tool) for tool in self._tools.values()]}

    def _called(self, params: Content) -> Content:
        name, given = params.get("name"), params.get("arguments", {})
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            raise _RequestError(_PARAMS, f"there is no such tool; there are {', '.join(self._tools)}")
        try:
            text, failed = tool.run(**_arguments(tool, given)), False
        except CompatkbError as error:
            text, failed = f"error: {error}", True
        except Exception as error:  # a bug of ours: this request fails, and the next one is answered
            print(f"error: {tool.name}: {error!r}", file=sys.stderr)
            text, failed = f"error: {tool.name} failed ({type(error).__name__}); this is a bug of compatkb", True
        return {"content": [{"type": "text", "text": text}], "isError": failed}


def serve(server: ProtocolServer, source: BinaryIO, target: BinaryIO) -> None:
    """Answer line after line until the source ends; one that is too long gets an error and is left out."""
    for line in _lines(source):
        reply = server.answer(line)
        if reply:
            target.write(reply)
            target.flush()


def _lines(source: BinaryIO) -> Iterator[bytes]:
    while line := source.readline(MOST_BYTES + 1):
        yield line
        while len(line) > MOST_BYTES and not line.endswith(b"\n"):
            line = source.readline(MOST_BYTES + 1)


def _parsed(line: bytes) -> Content:
    if len(line) > MOST_BYTES:
        raise _RequestError(_INVALID, f"a message has at most {MOST_BYTES:,} bytes")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise _RequestError(_PARSE, "the line is no JSON") from None
    if not isinstance(message, dict):
        raise _RequestError(_INVALID, "a message is a JSON object; batches are not taken")
    return message


def _identity(message: Content) -> str | int:
    identity = message.get("id")
    if not isinstance(identity, str | int) or isinstance(identity, bool):
        raise _RequestError(_INVALID, "the id of a request is a string or an integer")
    if message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        raise _RequestError(_INVALID, 'a request has "jsonrpc": "2.0", an id and a method')
    return identity


def _check_meta(meta: Content) -> None:
    asked = meta[f"{_META}protocolVersion"]
    if asked not in STATELESS:
        known = {"supported": [*STATELESS, *HANDSHAKE], "requested": str(asked)[:80]}
        raise _RequestError(_REVISION, "Unsupported protocol version", known)
    if not isinstance(meta.get(f"{_META}clientCapabilities"), dict):
        raise _RequestError(_PARAMS, f"a request needs {_META}clientCapabilities in _meta")


def _described(tool: AgentTool) -> Content:
    schema: Content = {"type": "object", "properties": dict(tool.arguments), "additionalProperties": False}
    schema["required"] = list(tool.required)
    hints = {"readOnlyHint": True, "openWorldHint": False}
    return {"name": tool.name, "description": tool.description, "inputSchema": schema, "annotations": hints}


def _arguments(tool: AgentTool, given: object) -> Content:
    """Return the arguments of a call; raises UsageError for those that do not keep their schemas."""
    if not isinstance(given, dict):
        raise UsageError("arguments must be an object")
    for name in (*tool.required, *given):
        if name not in tool.arguments:
            raise UsageError(f"{tool.name} has no argument {name[:80]!r}; it has {', '.join(tool.arguments)}")
        if name not in given:
            raise UsageError(f"{tool.name} needs {name}: {tool.arguments[name]['description']}")
        _check_value(name, given[name], tool.arguments[name])
    return given


def _check_value(name: str, value: object, schema: Content) -> None:
    if not isinstance(value, _TYPES[schema["type"]]):
        raise UsageError(f"{name} must be {'a list of strings' if schema['type'] == 'array' else 'a string'}")
    most = schema.get("maxItems") or schema["maxLength"]
    if len(value) > most:
        raise UsageError(f"{name} is longer than {most:,}")
    if isinstance(value, list):
        for each in value:
            _check_value(f"each of {name}", each, schema["items"])
