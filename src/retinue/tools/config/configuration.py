"""The configuration of a tool: merging updates and overrides, and deriving its destination.

An update replaces top-level keys; an agent's override is merged recursively. In both, null removes a key.
"""

from typing import Any

from retinue.adapters.databases import find_db_type
from retinue.adapters.sandbox.code import Runtime
from retinue.credentials.destinations import origin_of, server_of
from retinue.credentials.metadata import DATABASE_PORTS
from retinue.kit.json_types import JsonObject
from retinue.tools.models import ToolType

Config = JsonObject

MCP, HTTP_TEMPLATE = "mcp", "http_template"
RUNTIMES: dict[str, Runtime] = {
    "python": "python",
    "node": "javascript",
    "js": "javascript",
    "javascript": "javascript",
    "deno": "javascript",
}


def changed(config: Config, changes: Config) -> Config:
    """Return the configuration after an update: merged by key, `endpoints` by name, `functions` in depth."""
    result = {**config, **changes}
    before, after = config.get("endpoints", {}), changes.get("endpoints")
    if isinstance(before, dict) and isinstance(after, dict):
        result["endpoints"] = _without_nulls({**before, **after})
    functions, changes_to_functions = config.get("functions"), changes.get("functions")
    if isinstance(functions, dict) and isinstance(changes_to_functions, dict):
        result["functions"] = apply_override(functions, changes_to_functions)
        removed = functions.keys() - result["functions"].keys()
        if removed:
            # A function that somebody removed is not a difference to what the server offers.
            result["ignored_functions"] = sorted({*config.get("ignored_functions", []), *removed})
    return _without_nulls(result)


def _without_nulls(values: Config) -> Config:
    return {name: value for name, value in values.items() if value is not None}


def apply_override(config: Config, override: Config) -> Config:
    """Return the configuration for a run: objects are merged recursively, other values replaced."""
    result = dict(config)
    for name, value in override.items():
        current = result.get(name)
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict) and isinstance(current, dict):
            result[name] = apply_override(current, value)
        else:
            result[name] = value
    return result


def find_runtime(name: str) -> Runtime | None:
    """Return the language of a `runtime` such as `python3.12` or `nodejs20`, by its prefix."""
    lowered = name.strip().lower()
    return next((runtime for start, runtime in RUNTIMES.items() if lowered.startswith(start)), None)


def calls_http(tool_type: ToolType, config: Config) -> bool:
    """Return whether the tool sends its secrets to a URL."""
    if tool_type is ToolType.custom:
        return config.get("kind") in {MCP, HTTP_TEMPLATE}
    return tool_type in {ToolType.rest_api, ToolType.webhook}


def destination_of(tool_type: ToolType, config: Config) -> str:
    """Return where the tool's secrets would go: an origin, a database server, or an empty string."""
    if tool_type is ToolType.database:
        return _database_server(config)
    url = _configured_url(tool_type, config)
    return origin_of(url) if isinstance(url, str) else ""


def _configured_url(tool_type: ToolType, config: Config) -> Any:
    if tool_type is ToolType.rest_api:
        return config.get("base_url")
    if tool_type is ToolType.webhook:
        return config.get("url")
    if tool_type is ToolType.custom and config.get("kind") == MCP:
        return config.get("server_url")
    if tool_type is ToolType.custom and config.get("kind") == HTTP_TEMPLATE:
        request = config.get("request")
        return request.get("url") if isinstance(request, dict) else None
    return None


def _database_server(config: Config) -> str:
    kind = find_db_type(str(config.get("db_type", ""))) or ""
    host, port = config.get("host"), config.get("port") or DATABASE_PORTS.get(kind)
    if not host or not isinstance(host, str) or not isinstance(port, int):
        return ""
    return server_of(kind, host, port)
