"""What each kind of tool reads of its configuration; what is missing or malformed is said in one way."""

from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from retinue.kit.validation import explain
from retinue.tools.errors import ExecutionFailed

MAX_RETRIES = 10

_Shape = TypeVar("_Shape", bound=msgspec.Struct)

# Numbers and booleans are as good as text in a header or a query.
Scalars = dict[str, str | int | float | bool | None]


class HttpConfig(msgspec.Struct, kw_only=True):
    """What every kind of tool that calls over HTTP may say about how it is called."""

    retry_count: Annotated[int, Meta(ge=0, le=MAX_RETRIES)] = 0
    retry_unsafe: bool = False
    follow_redirects: bool = False


class Endpoint(msgspec.Struct, kw_only=True):
    method: str = "GET"
    path: str = ""
    default_params: dict[str, Any] | None = None
    default_headers: Scalars | None = None


class RestApiConfig(msgspec.Struct, kw_only=True):
    base_url: str
    endpoints: Annotated[dict[str, Endpoint], Meta(min_length=1)]


class WebhookConfig(msgspec.Struct, kw_only=True):
    url: str
    method: str = "POST"
    headers: Scalars | None = None


class TemplateRequest(msgspec.Struct, kw_only=True):
    url: str
    method: str = "GET"
    headers: Scalars | None = None
    query: dict[str, Any] | None = None
    body: Any = None


class HttpTemplateConfig(msgspec.Struct, kw_only=True):
    request: TemplateRequest


class McpConfig(msgspec.Struct, kw_only=True):
    server_url: str
    tool_name: str
    transport: str = "streamable_http"


class DatabaseConfig(msgspec.Struct, kw_only=True):
    db_type: str
    host: str | None = None
    port: int | None = None
    database: str | None = None
    ssl: bool | None = None
    ssl_mode: str | None = None
    allowed_operations: tuple[str, ...] = ("select",)
    max_rows: Annotated[int, Meta(ge=1)] = 1000


class FunctionConfig(msgspec.Struct, kw_only=True):
    runtime: str
    code: str


class ScriptConfig(msgspec.Struct, kw_only=True):
    runtime: str
    entrypoint: str


def read_config(config: dict[str, Any], shape: type[_Shape]) -> _Shape:
    try:
        return msgspec.convert(config, shape)
    except msgspec.ValidationError as error:
        path, message = explain(error)
        raise ExecutionFailed(
            "not_configured", f"{'.'.join(filter(None, ('config', path)))} {message}."
        ) from None
