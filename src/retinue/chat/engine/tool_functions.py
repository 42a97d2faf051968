"""Tools as functions for a model: one for each tool, endpoint of a REST tool or function of an MCP server."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from retinue.agents.capabilities import AttachedTool
from retinue.kit.json_types import JsonObject
from retinue.tools.config.configuration import apply_override
from retinue.tools.config.endpoint_approval import endpoint_needs_approval
from retinue.tools.config.mcp_functions import find_chosen, functions_in, needs_approval
from retinue.tools.models import ToolType

# Providers accept about a hundred functions; a tool with more endpoints becomes one function.
MAX_ENDPOINT_FUNCTIONS = 32
_MAX_DESCRIPTION_LENGTH = 1000
_READING_METHODS = ("GET", "HEAD")
_PLACEHOLDER = re.compile(r"\{([^{}/?#]+)\}")

FunctionSchema = JsonObject


class ToolFunction(msgspec.Struct, frozen=True, kw_only=True):
    """One function; `endpoint` is set if the tool has several and the function name selects one.

    `mcp_function` is the function of an imported MCP server that the name selects.
    """

    attached: AttachedTool
    name: str
    description: str
    schema: FunctionSchema
    endpoint: str | None = None
    mcp_function: str | None = None

    def requires_approval(self, arguments: JsonObject) -> bool:
        """Return whether this call waits for an approval; an agent's override cannot lift it."""
        if self.attached.requires_approval:
            return True
        input = self.tool_input(arguments)
        own, effective = self.attached.tool.config, _effective_config(self.attached)
        if self.attached.tool.tool_type is ToolType.rest_api:
            return endpoint_needs_approval(own, effective, input)
        return needs_approval(own, input) or needs_approval(effective, input)

    def only_reads(self, arguments: JsonObject) -> bool:
        """Return whether this call changes nothing, as far as its declaration says."""
        config, input = _effective_config(self.attached), self.tool_input(arguments)
        match self.attached.tool.tool_type:
            case ToolType.rest_api:
                endpoints = _endpoints(self.attached)
                name = next(iter(endpoints)) if len(endpoints) == 1 else input.get("endpoint")
                chosen = endpoints.get(name) if isinstance(name, str) else None
                return chosen is not None and str(chosen.get("method", "GET")).upper() in _READING_METHODS
            case ToolType.database:
                return set(config.get("allowed_operations") or ["select"]) == {"select"}
            case _:
                functions = _mcp_functions(self.attached)
                chosen_function = functions.get(find_chosen(functions, input) or "", {})
                return (chosen_function.get("annotations") or {}).get("readOnlyHint") is True

    def tool_input(self, arguments: JsonObject) -> JsonObject:
        """Return the tool's input; headers are dropped unless the schema offers them to the model."""
        if self.mcp_function is not None:
            return {"function": self.mcp_function, "arguments": arguments}
        offered = self.schema.get("properties")
        may_name_headers = isinstance(offered, dict) and "headers" in offered
        if self.attached.tool.tool_type is ToolType.rest_api and not may_name_headers:
            arguments = {name: value for name, value in arguments.items() if name != "headers"}
        return arguments if self.endpoint is None else {**arguments, "endpoint": self.endpoint}


def tool_functions_of(attached: AttachedTool) -> list[ToolFunction]:
    """Return the functions of a tool with their preferred names."""
    functions = _mcp_functions(attached)
    if functions:
        return [_mcp_function(attached, name, declared) for name, declared in functions.items()]
    endpoints = _endpoints(attached)
    if not endpoints:
        return [as_single_function(attached)]
    is_only = len(endpoints) == 1
    return [
        _endpoint_function(attached, name, declared, is_only=is_only) for name, declared in endpoints.items()
    ]


def joined(functions: list[ToolFunction]) -> list[ToolFunction]:
    """Return the functions of a tool; one for all of them if there are very many."""
    if len(functions) <= MAX_ENDPOINT_FUNCTIONS:
        return functions
    return [as_single_function(functions[0].attached)]


def as_single_function(attached: AttachedTool) -> ToolFunction:
    """Return the whole tool as one function."""
    tool = attached.tool
    schema = tool.input_schema
    if schema is None and (functions := _mcp_functions(attached)):
        schema = _function_choice_schema(functions)
    elif schema is None:
        schema = (
            _endpoint_choice_schema(_endpoints(attached))
            if tool.tool_type is ToolType.rest_api
            else {"type": "object"}
        )
    return ToolFunction(
        attached=attached, name=tool.slug, description=_describe_tool(attached), schema=schema
    )


def _endpoints(attached: AttachedTool) -> dict[str, Mapping[str, Any]]:
    """Return the endpoints after the agent's override."""
    if attached.tool.tool_type is not ToolType.rest_api:
        return {}
    declared = _effective_config(attached).get("endpoints")
    if not isinstance(declared, dict):
        return {}
    return {name: endpoint for name, endpoint in declared.items() if isinstance(endpoint, dict)}


def _mcp_functions(attached: AttachedTool) -> dict[str, JsonObject]:
    """Return the functions of an imported MCP server after the agent's override."""
    if attached.tool.tool_type is not ToolType.custom:
        return {}
    return functions_in(_effective_config(attached)) or {}


def _effective_config(attached: AttachedTool) -> JsonObject:
    return apply_override(attached.tool.config, attached.attachment.config_override or {})


def _mcp_function(attached: AttachedTool, name: str, declared: Mapping[str, Any]) -> ToolFunction:
    own = declared.get("description") or declared.get("title")
    schema = declared.get("input_schema")
    return ToolFunction(
        attached=attached,
        name=f"{attached.tool.slug}__{_safe_name(name)}",
        description=(own if isinstance(own, str) else _describe_tool(attached))[:_MAX_DESCRIPTION_LENGTH],
        schema=schema if isinstance(schema, dict) else {"type": "object"},
        mcp_function=name,
    )


def _safe_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_") or "endpoint"


def _endpoint_function(
    attached: AttachedTool, name: str, declared: Mapping[str, Any], *, is_only: bool
) -> ToolFunction:
    endpoint_description = declared.get("description")
    if endpoint_description and isinstance(declared.get("input_schema"), dict):
        # As an import writes it: the description of the whole API would repeat in every function.
        description = f"{attached.tool.name}: {endpoint_description}"
    elif is_only and not endpoint_description:
        description = _describe_tool(attached)
    else:
        description = f"{_describe_tool(attached)}: {endpoint_description or _method_and_path(declared)}"
    return ToolFunction(
        attached=attached,
        name=f"{attached.tool.slug}__{_safe_name(name)}",
        description=description[:_MAX_DESCRIPTION_LENGTH],
        schema=_endpoint_schema(attached.tool.input_schema, declared, is_only=is_only),
        endpoint=None if is_only else name,
    )


def _describe_tool(attached: AttachedTool) -> str:
    return attached.tool.description or attached.tool.name


def _method_and_path(declared: Mapping[str, Any]) -> str:
    return f"{declared.get('method', 'GET')} {declared.get('path', '')}"


def _endpoint_schema(
    tool_schema: FunctionSchema | None, declared: Mapping[str, Any], *, is_only: bool
) -> FunctionSchema:
    """Return the endpoint's own schema, else the tool's, else the generic request schema."""
    if is_only and tool_schema is not None:
        return tool_schema
    endpoint_schema = declared.get("input_schema")
    if isinstance(endpoint_schema, dict) and endpoint_schema.get("type") == "object":
        return endpoint_schema
    return (
        _without_endpoint(tool_schema)
        if tool_schema is not None
        else _request_schema(str(declared.get("path", "")))
    )


def _without_endpoint(schema: FunctionSchema) -> FunctionSchema:
    properties, required = schema.get("properties"), schema.get("required")
    changes: FunctionSchema = {}
    if isinstance(properties, dict):
        changes["properties"] = {name: inner for name, inner in properties.items() if name != "endpoint"}
    if isinstance(required, list):
        changes["required"] = [name for name in required if name != "endpoint"]
    return {**schema, **changes}


def _request_schema(path: str) -> FunctionSchema:
    names = list(dict.fromkeys(_PLACEHOLDER.findall(path)))
    in_path: FunctionSchema = {"type": "object"}
    if names:
        in_path |= {"properties": {name: {"type": "string"} for name in names}, "required": names}
    return {
        "type": "object",
        "properties": {"path_params": in_path, "query": {"type": "object"}, "body": {"type": "object"}},
        "required": ["path_params"] if names else [],
    }


def _endpoint_choice_schema(endpoints: Mapping[str, Mapping[str, Any]]) -> FunctionSchema:
    """Return a schema in which the model names the endpoint, for tools with too many of them."""
    schema = _request_schema("")
    described = "; ".join(f"{name}: {_method_and_path(endpoints[name])}" for name in endpoints)
    endpoint: FunctionSchema = {"type": "string", "description": described or "what to call"}
    if endpoints:
        endpoint["enum"] = list(endpoints)
    schema["properties"] = {"endpoint": endpoint, **schema["properties"]}
    schema["required"] = ["endpoint"] if len(endpoints) > 1 else []
    return schema


def _function_choice_schema(functions: Mapping[str, Mapping[str, Any]]) -> FunctionSchema:
    """Return a schema in which the model names the function, for servers with too many of them."""
    described = "; ".join(
        f"{name}: {str(declared.get('description') or declared.get('title') or '')[:100]}"
        for name, declared in functions.items()
    )
    return {
        "type": "object",
        "properties": {
            "function": {"type": "string", "enum": list(functions), "description": described},
            "arguments": {"type": "object", "description": "The arguments of that function."},
        },
        "required": ["function"],
    }
