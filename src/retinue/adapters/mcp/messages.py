"""Messages of MCP: the JSON-RPC envelope, the results used here, and what callers see of them."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from retinue.adapters.mcp.errors import McpFailed, RpcRefused
from retinue.kit.json_types import JsonObject

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
HEADER_MISMATCH = -32020
UNSUPPORTED_VERSION = -32022

_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
_Shape = TypeVar("_Shape", bound=msgspec.Struct)


class McpServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server's address and credentials; sessions are shared only within one `scope`, which is a tenant."""

    url: str
    scope: str
    headers: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"McpServer(url={self.url!r}, scope={self.scope!r}, headers=***)"


class McpTool(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    title: str | None
    description: str | None
    input_schema: JsonObject
    output_schema: JsonObject | None
    annotations: dict[str, bool] = {}
    """The hints that the server gives about what the tool does, such as `destructiveHint`."""


class McpListing(msgspec.Struct, frozen=True, kw_only=True):
    """The tools that a server offers now; `left_out` names those that do not follow the protocol."""

    tools: list[McpTool]
    left_out: list[str]
    protocol_version: str
    server_name: str


class McpResult(msgspec.Struct, frozen=True, kw_only=True):
    """`content` holds the protocol's blocks (text, image, audio, resource_link, resource) unchanged.

    `has_list_changed` tells that the server announced other tools during the call.
    """

    content: list[JsonObject]
    structured: Any
    is_error: bool
    has_list_changed: bool = False


class ToolListing(msgspec.Struct, frozen=True, kw_only=True):
    """A server's tools; `mirrored` lists, by tool, the arguments that are repeated in headers."""

    tools: list[McpTool]
    left_out: list[str] = []
    mirrored: dict[str, dict[tuple[str, ...], str]]
    expires_at: float


class RpcError(msgspec.Struct):
    code: int
    message: str = ""
    data: Any = None


class RpcMessage(msgspec.Struct):
    """Any message from a server: a response, a request or a notification."""

    id: int | str | None = None
    method: str | None = None
    result: JsonObject | UnsetType = UNSET
    error: RpcError | UnsetType = UNSET

    def answers(self, request_id: int) -> bool:
        """Return whether this answers the request; an error without an id does, as no other is pending."""
        if self.method is not None:
            return False
        return self.id == request_id or (self.id is None and self.error is not UNSET)

    def find_refusal(self) -> RpcRefused | None:
        if isinstance(self.error, UnsetType):
            return None
        return RpcRefused(self.error.code, self.error.message, self.error.data)

    def outcome(self) -> JsonObject:
        if refused := self.find_refusal():
            raise refused
        if isinstance(self.result, UnsetType):
            raise McpFailed("protocol_error", "The MCP server's response has neither a result nor an error.")
        return self.result


class ToolPage(msgspec.Struct, rename="camel"):
    tools: list[Any]
    next_cursor: str | None = None
    ttl_ms: int | None = None


class ListedTool(msgspec.Struct, rename="camel"):
    name: str
    input_schema: JsonObject
    title: str | None = None
    description: str | None = None
    output_schema: JsonObject | None = None
    annotations: Any = None


class ToolCallResult(msgspec.Struct, rename="camel"):
    content: list[JsonObject] = []
    structured_content: Any = None
    is_error: bool | None = None
    result_type: str = "complete"


class Initialized(msgspec.Struct, rename="camel"):
    protocol_version: str
    server_info: Any = None


class Discovered(msgspec.Struct, rename="camel"):
    supported_versions: list[str]
    meta: Any = msgspec.field(name="_meta", default=None)

    @property
    def server_info(self) -> Any:
        return self.meta.get(_SERVER_INFO) if isinstance(self.meta, dict) else None


_envelope = msgspec.json.Decoder(RpcMessage | list[RpcMessage])


def read_messages(content: bytes) -> list[RpcMessage]:
    """Decode a JSON body or an event; the revision 2025-03-26 allowed several messages in an array."""
    try:
        decoded = _envelope.decode(content)
    except (msgspec.DecodeError, RecursionError):
        raise McpFailed("protocol_error", "The MCP server's response is not a JSON-RPC message.") from None
    return decoded if isinstance(decoded, list) else [decoded]


def convert_result(result: JsonObject, shape: type[_Shape]) -> _Shape:
    try:
        return msgspec.convert(result, shape)
    except msgspec.ValidationError as error:
        raise McpFailed(
            "protocol_error", f"The MCP server's result does not follow the protocol: {error}"
        ) from None
