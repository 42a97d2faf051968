"""A tool as a model is told of it: one function, and of a REST tool one for each of its endpoints."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from retinue.agents.capabilities import AttachedTool
from retinue.tools.configuration import merged
from retinue.tools.models import ToolType

# Providers take about a hundred functions in all; a tool with more endpoints than this is one function.
MOST_ENDPOINTS = 32
_LONGEST_DESCRIPTION = 1000
_PLACEHOLDER = re.compile(r"\{([^{}/?#]+)\}")

Schema = dict[str, Any]


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """One function; `endpoint` is what the model chose by its name, where the tool has several."""

    attached: AttachedTool
    name: str
    description: str
    schema: Schema
    endpoint: str | None = None

    def input_of(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The input of the tool, without what was not offered: a model never chooses headers by itself."""
        offered = self.schema.get("properties")
        may_name_headers = isinstance(offered, dict) and "headers" in offered
        if self.attached.tool.tool_type is ToolType.rest_api and not may_name_headers:
            arguments = {name: value for name, value in arguments.items() if name != "headers"}
        return arguments if self.endpoint is None else {**arguments, "endpoint": self.endpoint}


def offers_of(attached: AttachedTool) -> list[Offer]:
    """The functions that a tool is, by the names they would like to have."""
    endpoints = _endpoints(attached)
    if not 0 < len(endpoints) <= MOST_ENDPOINTS:
        return [whole(attached)]
    is_only = len(endpoints) == 1
    return [_endpoint(attached, name, declared, is_only=is_only) for name, declared in endpoints.items()]


def whole(attached: AttachedTool) -> Offer:
    """The tool as one function."""
    tool = attached.tool
    schema = tool.input_schema
    if schema is None:
        schema = (
            _choosing(_endpoints(attached)) if tool.tool_type is ToolType.rest_api else {"type": "object"}
        )
    return Offer(attached=attached, name=tool.slug, description=_about(attached), schema=schema)


def _endpoints(attached: AttachedTool) -> dict[str, Mapping[str, Any]]:
    """As they are in a run of this agent."""
    if attached.tool.tool_type is not ToolType.rest_api:
        return {}
    declared = merged(attached.tool.config, attached.attachment.config_override or {}).get("endpoints")
    if not isinstance(declared, dict):
        return {}
    return {name: endpoint for name, endpoint in declared.items() if isinstance(endpoint, dict)}


def _endpoint(attached: AttachedTool, name: str, declared: Mapping[str, Any], *, is_only: bool) -> Offer:
    words = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_") or "endpoint"
    said = declared.get("description")
    if is_only and not said:
        description = _about(attached)
    else:
        description = f"{_about(attached)}: {said or _called(declared)}"
    return Offer(
        attached=attached,
        name=f"{attached.tool.slug}__{words}",
        description=description[:_LONGEST_DESCRIPTION],
        schema=_schema(attached.tool.input_schema, declared, is_only=is_only),
        endpoint=None if is_only else name,
    )


def _about(attached: AttachedTool) -> str:
    return attached.tool.description or attached.tool.name


def _called(declared: Mapping[str, Any]) -> str:
    return f"{declared.get('method', 'GET')} {declared.get('path', '')}"


def _schema(of_tool: Schema | None, declared: Mapping[str, Any], *, is_only: bool) -> Schema:
    """What an endpoint takes: what is said of it, else of the tool, else the places its values can go to."""
    if is_only and of_tool is not None:
        return of_tool
    own = declared.get("input_schema")
    if isinstance(own, dict) and own.get("type") == "object":
        return own
    return _without_endpoint(of_tool) if of_tool is not None else _places(str(declared.get("path", "")))


def _without_endpoint(schema: Schema) -> Schema:
    properties, required = schema.get("properties"), schema.get("required")
    changes: Schema = {}
    if isinstance(properties, dict):
        changes["properties"] = {name: inner for name, inner in properties.items() if name != "endpoint"}
    if isinstance(required, list):
        changes["required"] = [name for name in required if name != "endpoint"]
    return {**schema, **changes}


def _places(path: str) -> Schema:
    names = list(dict.fromkeys(_PLACEHOLDER.findall(path)))
    in_path: Schema = {"type": "object"}
    if names:
        in_path |= {"properties": {name: {"type": "string"} for name in names}, "required": names}
    return {
        "type": "object",
        "properties": {"path_params": in_path, "query": {"type": "object"}, "body": {"type": "object"}},
        "required": ["path_params"] if names else [],
    }


def _choosing(endpoints: Mapping[str, Mapping[str, Any]]) -> Schema:
    """For a tool with so many endpoints that the model names the one it wants."""
    schema = _places("")
    described = "; ".join(f"{name}: {_called(endpoints[name])}" for name in endpoints)
    endpoint: Schema = {"type": "string", "description": described or "what to call"}
    if endpoints:
        endpoint["enum"] = list(endpoints)
    schema["properties"] = {"endpoint": endpoint, **schema["properties"]}
    schema["required"] = ["endpoint"] if len(endpoints) > 1 else []
    return schema
