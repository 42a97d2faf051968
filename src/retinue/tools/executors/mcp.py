"""`mcp`: a tool of a Model Context Protocol server, or one of the functions that were imported from it."""

from typing import Any

from retinue.adapters.mcp import McpClient, McpFailed, McpResult, McpServer
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.json_schema import compile_schema
from retinue.tools.config.mcp_functions import find_chosen
from retinue.tools.config.shapes import McpToolConfig, parse_run_config
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors import authentication
from retinue.tools.executors.call import ExecutorCall
from retinue.tools.executors.mcp_content import take_binary
from retinue.tools.executors.urls import add_query
from retinue.tools.job_kinds import REFRESH_LISTING, ListingTask

_CODES = {"protocol_error": "runtime_error", "tool_not_found": "not_configured"}
_MAX_MESSAGE_LENGTH = 2000
_MAX_NAMES_SHOWN = 50


async def run(call: ExecutorCall) -> Any:
    """Return the structured content of the result if it has some, otherwise its content blocks."""
    config = parse_run_config(call.config, McpToolConfig)
    name, arguments = _chosen(config, call.input)
    try:
        result = await _call_tool(call, config, name, arguments)
    except ExecutionFailed as failure:
        if failure.code != "auth_error" or not await authentication.renew(call):
            raise
        call.attempts += 1
        result = await _call_tool(call, config, name, arguments)
    if result.has_list_changed and config.functions is not None:
        await _enqueue_listing(call)
    if result.is_error:
        raise ExecutionFailed("runtime_error", _error_text(result), details={"content": result.content})
    content = result.content if call.agent_id is None else take_binary(call, result.content)
    return content if result.structured is None else result.structured


def _chosen(config: McpToolConfig, input: JsonObject) -> tuple[str, JsonObject]:
    """Return the server's tool to call and its arguments, which must be as was agreed."""
    if config.functions is None:
        if config.tool_name is None:
            raise ExecutionFailed("not_configured", "config.tool_name is required.")
        return config.tool_name, input
    name = find_chosen(config.functions, input)
    if name is None:
        shown = ", ".join(sorted(config.functions)[:_MAX_NAMES_SHOWN])
        raise Invalid({"input.function": f"must be one of {shown}" if shown else "the tool has no functions"})
    arguments = input.get("arguments", {})
    if not isinstance(arguments, dict):
        raise Invalid({"input.arguments": "must be an object"})
    schema = compile_schema(config.functions[name].input_schema, "input_schema")
    if problems := schema.errors(arguments, "input.arguments"):
        raise Invalid(problems)
    return name, arguments


async def _call_tool(
    call: ExecutorCall, config: McpToolConfig, name: str, arguments: JsonObject
) -> McpResult:
    server = McpServer(
        url=add_query(config.server_url, list(call.authentication.query.items())),
        scope=call.ctx.tenant_id,
        headers=call.authentication.headers,
    )
    client = call.ctx.adapter(McpClient)
    try:
        return await client.call_tool(server, name, arguments, timeout_s=call.timeout_s)
    except McpFailed as failed:
        if failed.kind == "tool_not_found" and config.functions is not None:
            raise ExecutionFailed(
                "tool_removed", "The MCP server no longer has this function. Refresh the tool."
            ) from None
        raise ExecutionFailed(_CODES.get(failed.kind, failed.kind), failed.message) from None


async def _enqueue_listing(call: ExecutorCall) -> None:
    """List the server again soon, because it said that its tools have changed."""
    async with call.ctx.unit() as unit:
        unit.defer(REFRESH_LISTING, ListingTask(call.tool.id), dedupe_key=f"listing:{call.tool.id}")


def _error_text(result: McpResult) -> str:
    texts = [block["text"] for block in result.content if isinstance(block.get("text"), str)]
    return "\n".join(texts)[:_MAX_MESSAGE_LENGTH] or "The tool reported an error."
