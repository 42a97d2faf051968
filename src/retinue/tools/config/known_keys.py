"""Validation of a configuration's known keys; missing keys are reported only when the tool runs."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from retinue.adapters.databases import find_db_type
from retinue.adapters.sandbox.packages import validate_names
from retinue.kit import ignored_fields
from retinue.kit.context import Context
from retinue.kit.context.tool_kinds import ToolConfig, find_tool_kind
from retinue.kit.egress import EgressRefused, check_custom_headers, read_destination
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.configs import find_wrong_keys
from retinue.tools.config.configuration import HTTP_TEMPLATE, MCP, RUNTIMES, Config, find_runtime
from retinue.tools.config.shapes import (
    DatabaseToolConfig,
    FunctionToolConfig,
    HttpTemplateToolConfig,
    McpToolConfig,
    RestApiToolConfig,
    ScriptToolConfig,
    WebhookToolConfig,
)
from retinue.tools.models import ToolType

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
OPERATIONS = ("select", "insert", "update", "delete", "read", "write")

Problems = Iterator[tuple[str, str]]


class _CustomToolConfig(ToolConfig, kw_only=True):
    """The keys of a kind that nobody has registered."""

    kind: str


SHAPES: dict[ToolType, type[ToolConfig]] = {
    ToolType.rest_api: RestApiToolConfig,
    ToolType.webhook: WebhookToolConfig,
    ToolType.function: FunctionToolConfig,
    ToolType.script: ScriptToolConfig,
    ToolType.database: DatabaseToolConfig,
}
KINDS: dict[str, type[ToolConfig]] = {MCP: McpToolConfig, HTTP_TEMPLATE: HttpTemplateToolConfig}


def validate_config(ctx: Context, tool_type: ToolType, config: Config) -> None:
    """Raise `Invalid` under `config.<key>` for each known key with an invalid value."""
    # Endpoints may be added later, so none are like missing ones.
    entered = {name: value for name, value in config.items() if (name, value) != ("endpoints", {})}
    wrong_types = find_wrong_keys(entered, _shape_for(ctx, tool_type, config))
    problems = dict(_value_problems(tool_type, config)) | wrong_types
    if problems:
        raise Invalid({f"config.{path}": message for path, message in problems.items()})


def report_unknown_keys(
    ctx: Context, tool_type: ToolType, config: Config, sent: JsonObject, path: str = "config"
) -> None:
    """Report sent keys that a tool with this configuration does not read; an unregistered kind is free."""
    shape = _shape_for(ctx, tool_type, config)
    if shape is not _CustomToolConfig:
        ignored_fields.report_unknown_keys(ctx.caller.ignored, sent, shape, path)


def _shape_for(ctx: Context, tool_type: ToolType, config: Config) -> type[ToolConfig]:
    if tool_type is not ToolType.custom:
        return SHAPES[tool_type]
    kind = str(config.get("kind", ""))
    registered = find_tool_kind(ctx, kind)
    return registered.config if registered is not None else KINDS.get(kind, _CustomToolConfig)


def _value_problems(tool_type: ToolType, config: Config) -> Problems:
    """Yield what the types leave open; a value of a wrong type is skipped, because it is reported as such."""
    if tool_type is ToolType.rest_api:
        yield from url_problems("base_url", config.get("base_url"))
        for name, endpoint in _object(config.get("endpoints")).items():
            yield from _method(f"endpoints.{name}.method", _object(endpoint).get("method"))
            headers = _object(endpoint).get("default_headers")
            yield from header_problems(f"endpoints.{name}.default_headers", headers)
    elif tool_type is ToolType.webhook:
        yield from _call("", config)
    elif tool_type is ToolType.database:
        yield from _database(config)
    elif tool_type in {ToolType.function, ToolType.script}:
        yield from _code(config)
    elif config.get("kind") == MCP:
        yield from url_problems("server_url", config.get("server_url"))
    elif config.get("kind") == HTTP_TEMPLATE:
        yield from _call("request.", _object(config.get("request")))


def _call(path: str, call: JsonObject) -> Problems:
    yield from url_problems(f"{path}url", call.get("url"))
    yield from _method(f"{path}method", call.get("method"))
    yield from header_problems(f"{path}headers", call.get("headers"))


def url_problems(path: str, url: object) -> Problems:
    """Check only the syntax; egress decides for each call whether the destination is allowed."""
    if isinstance(url, str) and url:
        try:
            read_destination(url)
        except EgressRefused as refusal:
            yield path, refusal.message


def _method(path: str, method: object) -> Problems:
    if isinstance(method, str) and method.upper() not in METHODS:
        yield path, f"must be one of {', '.join(METHODS)}"


def header_problems(path: str, headers: object) -> Problems:
    try:
        check_custom_headers({name: str(value) for name, value in _object(headers).items()})
    except EgressRefused as refusal:
        yield path, refusal.message


def _database(config: Config) -> Problems:
    db_type = config.get("db_type")
    if isinstance(db_type, str) and find_db_type(db_type) is None:
        yield "db_type", "must be postgresql, mysql or sqlite"
    for position, operation in enumerate(_list(config.get("allowed_operations"))):
        if isinstance(operation, str) and operation.lower() not in OPERATIONS:
            yield f"allowed_operations.{position}", f"must be one of {', '.join(OPERATIONS)}"


def _code(config: Config) -> Problems:
    runtime = find_runtime(str(config.get("runtime", "python")))
    if runtime is None:
        yield "runtime", f"must start with one of {', '.join(RUNTIMES)}"
        return
    packages = _list(config.get("packages"))
    if all(isinstance(name, str) for name in packages):
        for position, problem in validate_names(packages, runtime).items():
            yield f"packages.{position}", problem
    entrypoint = config.get("entrypoint")
    if isinstance(entrypoint, str) and not _is_relative_path(entrypoint):
        yield "entrypoint", "must be a file below the scripts folder, or the id of an uploaded file"


def _is_relative_path(entrypoint: str) -> bool:
    path = PurePosixPath(entrypoint)
    has_odd_characters = "\\" in entrypoint or not entrypoint.isprintable()
    return not (has_odd_characters or path.is_absolute() or ".." in path.parts or not path.parts)


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
