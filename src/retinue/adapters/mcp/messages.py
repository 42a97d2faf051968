"""What is said over MCP: the JSON-RPC envelope, the two results used here, and what callers see of them."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from retinue.adapters.mcp.errors import McpFailed, RpcRefused

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

_Shape = TypeVar("_Shape", bound=msgspec.Struct)


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """Where a server is and what lets us in; a session is shared only within one `scope`, a tenant."""

    url: str
    scope: str
    headers: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"McpServer(url={self.url!r}, scope={self.scope!r}, headers=***)"


class McpTool(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    title: str | None
    description: str | None
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None


class McpResult(msgspec.Struct, frozen=True, kw_only=True):
    """`content` holds the protocol's blocks (text, image, audio, resource_link, resource) as they came."""

    content: list[dict[str, Any]]
    structured: Any
    is_error: bool


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """A server's tools; `mirrored` names, by tool, the arguments that are repeated in headers."""

    tools: list[McpTool]
    mirrored: dict[str, dict[tuple[str, ...], str]]
    expires_at: float


class RpcError(msgspec.Struct):
    code: int
    message: str = ""
    data: Any = None


class Message(msgspec.Struct):
    """Anything a server may send: a response, a request or a notification."""

    id: int | str | None = None
    method: str | None = None
    result: dict[str, Any] | UnsetType = UNSET
    error: RpcError | UnsetType = UNSET

    def answers(self, request_id: int) -> bool:
        """An error without an id is the answer to what this exchange asked: nothing else was."""
        if self.method is not None:
            return False
        return self.id == request_id or (self.id is None and self.error is not UNSET)

    def find_refusal(self) -> RpcRefused | None:
        if isinstance(self.error, UnsetType):
            return None
        return RpcRefused(self.error.code, self.error.message, self.error.data)

    def outcome(self) -> dict[str, Any]:
        if refused := self.find_refusal():
            raise refused
        if isinstance(self.result, UnsetType):
            raise McpFailed("protocol_error", "The MCP server's answer has neither a result nor an error.")
        return self.result


class ToolPage(msgspec.Struct, rename="camel"):
    tools: list[Any]
    next_cursor: str | None = None
    ttl_ms: int | None = None


class ListedTool(msgspec.Struct, rename="camel"):
    name: str
    input_schema: dict[str, Any]
    title: str | None = None
    description: str | None = None
    output_schema: dict[str, Any] | None = None


class CallOutcome(msgspec.Struct, rename="camel"):
    content: list[dict[str, Any]] = []
    structured_content: Any = None
    is_error: bool | None = None
    result_type: str = "complete"


class Initialized(msgspec.Struct, rename="camel"):
    protocol_version: str


class Discovered(msgspec.Struct, rename="camel"):
    supported_versions: list[str]


_envelope = msgspec.json.Decoder(Message | list[Message])


def read_messages(content: bytes) -> list[Message]:
    """The messages of a JSON body or of one event; the revision 2025-03-26 allowed several in an array."""
    try:
        read = _envelope.decode(content)
    except (msgspec.DecodeError, RecursionError):
        raise McpFailed("protocol_error", "The MCP server's answer is not a JSON-RPC message.") from None
    return read if isinstance(read, list) else [read]


def shaped(result: dict[str, Any], shape: type[_Shape]) -> _Shape:
    try:
        return msgspec.convert(result, shape)
    except msgspec.ValidationError as error:
        raise McpFailed(
            "protocol_error", f"The MCP server's result is not what the protocol says: {error}"
        ) from None
