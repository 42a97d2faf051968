"""Functions of an MCP server as a tool's configuration holds them, and the one that an input chooses."""

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from retinue.adapters.mcp import McpListing, McpTool
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.json_schema import compile_schema
from retinue.tools.config.configuration import MCP
from retinue.tools.models import Tool, ToolType

Functions = dict[str, JsonObject]
"""Functions by the name that the server gives them."""

COMPARED_FIELDS = ("title", "description", "input_schema", "output_schema", "annotations")
_KEPT = frozenset({"input_schema"})
_REASON_LENGTH = 200
# The configuration is loaded for every run.
_MAX_CONFIG_BYTES = 1024 * 1024


class OfferedFunctions(msgspec.Struct, frozen=True):
    """The functions of a listing that agents can be offered, and why others are not."""

    functions: Functions
    skipped: dict[str, str]


def offered_functions(listing: McpListing) -> OfferedFunctions:
    skipped = dict.fromkeys(listing.left_out, "it does not follow the protocol")
    functions: Functions = {}
    for tool in listing.tools:
        if tool.name in functions:
            skipped[tool.name] = "another function has the same name"
        elif problem := _schema_problem(tool.input_schema):
            skipped[tool.name] = problem
        else:
            functions[tool.name] = _function(tool)
    return OfferedFunctions(functions, skipped)


def _schema_problem(schema: JsonObject) -> str:
    if schema.get("type") != "object":
        return "its input is not an object"
    try:
        compile_schema(schema, "input_schema")
    except Invalid as invalid:
        reason = next(iter((invalid.details or {}).values()), "is not valid")
        return f"its input schema {reason}"[:_REASON_LENGTH]
    return ""


def _function(tool: McpTool) -> JsonObject:
    """Return a function without what the server leaves out; destructive ones need an approval."""
    described = {name: getattr(tool, name) for name in COMPARED_FIELDS}
    function = {name: value for name, value in described.items() if value not in (None, {}) or name in _KEPT}
    if tool.annotations.get("destructiveHint"):
        function["requires_approval"] = True
    return function


def compared(function: Mapping[str, Any]) -> JsonObject:
    """Return the part of a function that the server decides."""
    return {name: function[name] for name in COMPARED_FIELDS if name in function}


def digest(functions: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a digest of what the server says about these functions."""
    content = {name: compared(function) for name, function in functions.items()}
    return hashlib.sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()


def functions_of(tool: Tool) -> Functions | None:
    """Return the functions that were agreed to, or None if the tool is not an imported MCP server."""
    if tool.tool_type is not ToolType.custom:
        return None
    return functions_in(tool.config)


def functions_in(config: JsonObject) -> Functions | None:
    """Return the functions of a configuration, or None if it has none."""
    functions = config.get("functions") if config.get("kind") == MCP else None
    if not isinstance(functions, dict):
        return None
    return {name: function for name, function in functions.items() if isinstance(function, dict)}


def find_chosen(functions: Mapping[str, Any], input: JsonObject) -> str | None:
    """Return the function that `input.function` names; a tool with only one need not be told."""
    name = input.get("function")
    if name is None and len(functions) == 1:
        return next(iter(functions))
    return name if isinstance(name, str) and name in functions else None


def needs_approval(config: JsonObject, input: JsonObject) -> bool:
    """Return whether a model's call of this function waits for an approval."""
    functions = functions_in(config) or {}
    chosen = find_chosen(functions, input)
    return chosen is not None and functions[chosen].get("requires_approval") is True


def check_size(config: JsonObject, field: str) -> None:
    """Refuse a configuration that is too large to be loaded for every run."""
    if len(msgspec.json.encode(config)) > _MAX_CONFIG_BYTES:
        raise Invalid({field: "make the configuration larger than 1 MiB; choose fewer"})
