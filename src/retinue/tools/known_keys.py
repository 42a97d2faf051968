"""What the known keys of a configuration may be; what is missing shows only when the tool is run."""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from retinue.adapters.databases import find_db_type
from retinue.adapters.sandbox.packages import check_names
from retinue.kit.egress import EgressRefused, check_custom_headers, read_destination
from retinue.kit.errors import Invalid
from retinue.kit.validation import field_errors
from retinue.tools.configuration import HTTP_TEMPLATE, MCP, RUNTIMES, Config, find_runtime
from retinue.tools.executors.configs import MAX_RETRIES, Scalars
from retinue.tools.models import ToolType

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
OPERATIONS = ("select", "insert", "update", "delete", "read", "write")

Problems = Iterator[tuple[str, str]]
Milliseconds = Annotated[int, Meta(ge=1, le=2**31)]


class _Known(msgspec.Struct, kw_only=True):
    timeout_ms: Milliseconds | None = None


class _HttpCall(_Known, kw_only=True):
    retry_count: Annotated[int, Meta(ge=0, le=MAX_RETRIES)] | None = None
    retry_unsafe: bool | None = None
    follow_redirects: bool | None = None


class _RestApi(_HttpCall, kw_only=True):
    base_url: str | None = None
    endpoints: dict[str, dict[str, Any]] | None = None


class _Endpoint(msgspec.Struct, kw_only=True):
    method: str | None = None
    path: str | None = None
    default_params: dict[str, Any] | None = None
    default_headers: Scalars | None = None


class _Webhook(_HttpCall, kw_only=True):
    url: str | None = None
    method: str | None = None
    headers: Scalars | None = None


class _Code(_Known, kw_only=True):
    runtime: str | None = None
    code: str | None = None
    entrypoint: str | None = None
    packages: list[str] | None = None


class _Database(_Known, kw_only=True):
    db_type: str | None = None
    host: str | None = None
    port: Annotated[int, Meta(ge=1, le=65535)] | None = None
    database: str | None = None
    ssl: bool | None = None
    allowed_operations: list[str] | None = None
    max_rows: Annotated[int, Meta(ge=1, le=2**31)] | None = None


class _Custom(_Known, kw_only=True):
    kind: str | None = None


class _Mcp(_Custom, kw_only=True):
    server_url: str | None = None
    transport: Literal["streamable_http"] | None = None
    tool_name: str | None = None


class _HttpTemplate(_HttpCall, kw_only=True):
    request: dict[str, Any] | None = None


class _Request(msgspec.Struct, kw_only=True):
    method: str | None = None
    url: str | None = None
    headers: Scalars | None = None


_SHAPES: dict[ToolType, type[_Known]] = {
    ToolType.rest_api: _RestApi,
    ToolType.webhook: _Webhook,
    ToolType.function: _Code,
    ToolType.script: _Code,
    ToolType.database: _Database,
}
_KINDS: dict[str, type[_Known]] = {MCP: _Mcp, HTTP_TEMPLATE: _HttpTemplate}


def check(tool_type: ToolType, config: Config) -> None:
    """Refuse a configuration with a known key that cannot be what it is, under `config.<key>`."""
    problems = wrong_types(config, _shape(tool_type, config))
    problems = problems or dict(_wrong_values(tool_type, config))
    if problems:
        raise Invalid({f"config.{path}": message for path, message in problems.items()})


def _shape(tool_type: ToolType, config: Config) -> type[_Known]:
    if tool_type is not ToolType.custom:
        return _SHAPES[tool_type]
    kind = config.get("kind")
    return _KINDS.get(kind, _Custom) if isinstance(kind, str) else _Custom


def wrong_types(values: Any, shape: type[msgspec.Struct]) -> dict[str, str]:
    try:
        msgspec.convert(values, shape)
    except msgspec.ValidationError as error:
        return field_errors(error, values, shape)
    return {}


def _wrong_values(tool_type: ToolType, config: Config) -> Problems:
    if tool_type is ToolType.rest_api:
        yield from url_problems("base_url", config.get("base_url"))
        for name, endpoint in config.get("endpoints", {}).items():
            yield from _endpoint(f"endpoints.{name}", endpoint)
    elif tool_type is ToolType.webhook:
        yield from _call("", config)
    elif tool_type is ToolType.database:
        yield from _database(config)
    elif tool_type in {ToolType.function, ToolType.script}:
        yield from _code(config)
    elif config.get("kind") == MCP:
        yield from url_problems("server_url", config.get("server_url"))
    elif config.get("kind") == HTTP_TEMPLATE and "request" in config:
        yield from _request(config["request"])


def _endpoint(path: str, endpoint: dict[str, Any]) -> Problems:
    wrong = wrong_types(endpoint, _Endpoint)
    if wrong:
        yield from ((f"{path}.{name}", message) for name, message in wrong.items())
        return
    yield from _method(f"{path}.method", endpoint.get("method"))
    yield from header_problems(f"{path}.default_headers", endpoint.get("default_headers"))


def _request(request: dict[str, Any]) -> Problems:
    wrong = wrong_types(request, _Request)
    if wrong:
        yield from ((f"request.{name}", message) for name, message in wrong.items())
        return
    yield from _call("request.", request)


def _call(path: str, call: dict[str, Any]) -> Problems:
    yield from url_problems(f"{path}url", call.get("url"))
    yield from _method(f"{path}method", call.get("method"))
    yield from header_problems(f"{path}headers", call.get("headers"))


def url_problems(path: str, url: str | None) -> Problems:
    """Only whether it is a URL: where calls may go is decided when one goes out."""
    if url:
        try:
            read_destination(url)
        except EgressRefused as refusal:
            yield path, refusal.message


def _method(path: str, method: str | None) -> Problems:
    if method is not None and method.upper() not in METHODS:
        yield path, f"must be one of {', '.join(METHODS)}"


def header_problems(path: str, headers: Mapping[str, Any] | None) -> Problems:
    try:
        check_custom_headers({name: str(value) for name, value in (headers or {}).items()})
    except EgressRefused as refusal:
        yield path, refusal.message


def _database(config: Config) -> Problems:
    db_type = config.get("db_type")
    if db_type is not None and find_db_type(db_type) is None:
        yield "db_type", "must be postgresql, mysql or sqlite"
    for position, operation in enumerate(config.get("allowed_operations", ())):
        if operation.lower() not in OPERATIONS:
            yield f"allowed_operations.{position}", f"must be one of {', '.join(OPERATIONS)}"


def _code(config: Config) -> Problems:
    runtime = find_runtime(config.get("runtime", "python"))
    if runtime is None:
        yield "runtime", f"must start with one of {', '.join(RUNTIMES)}"
        return
    for position, problem in check_names(config.get("packages", []), runtime).items():
        yield f"packages.{position}", problem
    entrypoint = config.get("entrypoint")
    if entrypoint is not None and not _is_inside(entrypoint):
        yield "entrypoint", "must be a file below the scripts folder, or the id of an uploaded file"


def _is_inside(entrypoint: str) -> bool:
    path = PurePosixPath(entrypoint)
    odd = "\\" in entrypoint or not entrypoint.isprintable()
    return not (odd or path.is_absolute() or ".." in path.parts or not path.parts)
