"""`mcp`: one tool of a Model Context Protocol server."""

from typing import Any

from retinue.adapters.mcp import McpClient, McpFailed, McpResult, McpServer
from retinue.tools.config.shapes import McpToolConfig, parse_run_config
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors import authentication
from retinue.tools.executors.call import ExecutorCall
from retinue.tools.executors.urls import add_query

_CODES = {"protocol_error": "runtime_error", "tool_not_found": "not_configured"}
_MAX_MESSAGE_LENGTH = 2000


async def run(call: ExecutorCall) -> Any:
    """Return the structured content of the result if it has some, otherwise its content blocks."""
    config = parse_run_config(call.config, McpToolConfig)
    try:
        result = await _call_tool(call, config)
    except ExecutionFailed as failure:
        if failure.code != "auth_error" or not await authentication.renew(call):
            raise
        call.attempts += 1
        result = await _call_tool(call, config)
    if result.is_error:
        raise ExecutionFailed("runtime_error", _error_text(result), details={"content": result.content})
    return result.content if result.structured is None else result.structured


async def _call_tool(call: ExecutorCall, config: McpToolConfig) -> McpResult:
    server = McpServer(
        url=add_query(config.server_url, list(call.authentication.query.items())),
        scope=call.ctx.tenant_id,
        headers=call.authentication.headers,
    )
    client = call.ctx.adapter(McpClient)
    try:
        return await client.call_tool(server, config.tool_name, call.input, timeout_s=call.timeout_s)
    except McpFailed as failed:
        raise ExecutionFailed(_CODES.get(failed.kind, failed.kind), failed.message) from None


def _error_text(result: McpResult) -> str:
    texts = [block["text"] for block in result.content if isinstance(block.get("text"), str)]
    return "\n".join(texts)[:_MAX_MESSAGE_LENGTH] or "The tool reported an error."
