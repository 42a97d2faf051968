"""The configuration that each type of tool needs to run; problems raise `not_configured`."""

from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from retinue.adapters.openapi import BodyType, ValueStyle
from retinue.kit.context.config_schemas import ConfigSchema
from retinue.kit.context.tool_kinds import TOOL_CONFIG_FIELDS, ToolConfig
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.configs import describe_first_problem, parse_config
from retinue.tools.errors import ExecutionFailed

MAX_RETRIES = 10

_Shape = TypeVar("_Shape", bound=msgspec.Struct)

# Headers and query parameters accept numbers and booleans as well as text.
Scalars = dict[str, str | int | float | bool | None]


class HttpToolConfig(ToolConfig, kw_only=True):
    """Settings of every tool that calls over HTTP."""

    retry_count: Annotated[int, Meta(ge=0, le=MAX_RETRIES)] = 0
    retry_unsafe: bool = False
    follow_redirects: bool = False


class RestEndpoint(msgspec.Struct, kw_only=True):
    """One request that a `rest_api` tool can make."""

    method: str = "GET"
    path: str = ""
    description: str | None = None
    input_schema: JsonObject | None = None
    default_params: JsonObject | None = None
    default_headers: Scalars | None = None
    body_type: BodyType = "json"
    query_styles: dict[str, ValueStyle] | None = None
    body_styles: dict[str, ValueStyle] | None = None
    requires_approval: bool = False


class RestApiToolConfig(HttpToolConfig, kw_only=True):
    """Configuration of a tool with `tool_type` `rest_api`."""

    base_url: str
    endpoints: Annotated[dict[str, RestEndpoint], Meta(min_length=1)]


class WebhookToolConfig(HttpToolConfig, kw_only=True):
    """Configuration of a tool with `tool_type` `webhook`."""

    url: str
    method: str = "POST"
    headers: Scalars | None = None


class TemplateRequest(msgspec.Struct, kw_only=True):
    """The request of an `http_template` tool."""

    url: str
    method: str = "GET"
    headers: Scalars | None = None
    query: JsonObject | None = None
    body: Any = None


class HttpTemplateToolConfig(HttpToolConfig, kw_only=True):
    """Configuration of a `custom` tool that fills a request from its input."""

    kind: Literal["http_template"]
    request: TemplateRequest


class McpFunction(msgspec.Struct, kw_only=True):
    """A tool of an MCP server as it was agreed to."""

    input_schema: JsonObject
    title: str | None = None
    description: str | None = None
    output_schema: JsonObject | None = None
    annotations: dict[str, bool] = {}
    requires_approval: bool = False


class McpToolConfig(ToolConfig, kw_only=True):
    """Configuration of a `custom` tool that calls one tool of an MCP server, or several."""

    kind: Literal["mcp"]
    server_url: str
    tool_name: str | None = None
    functions: dict[str, McpFunction] | None = None
    ignored_functions: list[str] = []
    protocol_version: str | None = None
    listed_at: str | None = None
    digest: str | None = None
    transport: Literal["streamable_http"] = "streamable_http"


class DatabaseToolConfig(ToolConfig, kw_only=True):
    """Configuration of a tool with `tool_type` `database`."""

    db_type: str
    host: str | None = None
    port: Annotated[int, Meta(ge=1, le=65535)] | None = None
    database: str | None = None
    ssl: bool | None = None
    ssl_mode: str | None = None
    allowed_operations: tuple[str, ...] = ("select",)
    max_rows: Annotated[int, Meta(ge=1, le=2**31)] = 1000


class FunctionToolConfig(ToolConfig, kw_only=True):
    """Configuration of a tool with `tool_type` `function`."""

    runtime: str
    code: str
    packages: list[str] = []


class ScriptToolConfig(ToolConfig, kw_only=True):
    """Configuration of a tool with `tool_type` `script`."""

    runtime: str
    entrypoint: str
    packages: list[str] = []


CONFIG_SCHEMAS = tuple(
    ConfigSchema(fields=TOOL_CONFIG_FIELDS, kind=kind, schema=shape)
    for kind, shape in (
        ("rest_api", RestApiToolConfig),
        ("webhook", WebhookToolConfig),
        ("function", FunctionToolConfig),
        ("script", ScriptToolConfig),
        ("database", DatabaseToolConfig),
        ("custom/mcp", McpToolConfig),
        ("custom/http_template", HttpTemplateToolConfig),
    )
)


def parse_run_config(config: JsonObject, shape: type[_Shape]) -> _Shape:
    try:
        return parse_config(config, shape, "config")
    except Invalid as invalid:
        raise ExecutionFailed("not_configured", describe_first_problem(invalid)) from None
