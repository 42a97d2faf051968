"""Custom tools of kind `mcp`: one tool of a server that speaks the Model Context Protocol."""

from typing import Any

from retinue.adapters.mcp import McpClient, McpFailed, McpResult, McpServer
from retinue.tools import authentication
from retinue.tools.calls import Call
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors.configs import McpConfig, read_config
from retinue.tools.executors.urls import with_query

_TRANSPORT = "streamable_http"
_CODES = {"protocol_error": "runtime_error", "tool_not_found": "not_configured"}
_LONGEST_MESSAGE = 2000


async def run(call: Call) -> Any:
    """What the tool answers: its structured content where it has some, otherwise its content blocks."""
    config = read_config(call.config, McpConfig)
    if config.transport != _TRANSPORT:
        raise ExecutionFailed("not_configured", f"config.transport must be {_TRANSPORT}.")
    try:
        result = await _ask(call, config)
    except ExecutionFailed as failure:
        if failure.code != "auth_error" or not await authentication.renew(call):
            raise
        call.attempts += 1
        result = await _ask(call, config)
    if result.is_error:
        raise ExecutionFailed("runtime_error", _text(result), details={"content": result.content})
    return result.content if result.structured is None else result.structured


async def _ask(call: Call, config: McpConfig) -> McpResult:
    server = McpServer(
        url=with_query(config.server_url, list(call.authentication.query.items())),
        scope=call.ctx.tenant_id,
        headers=call.authentication.headers,
    )
    client = call.ctx.adapter(McpClient)
    try:
        return await client.call_tool(server, config.tool_name, call.input, timeout_s=call.timeout_s)
    except McpFailed as failed:
        raise ExecutionFailed(_CODES.get(failed.kind, failed.kind), failed.message) from None


def _text(result: McpResult) -> str:
    texts = [block["text"] for block in result.content if isinstance(block.get("text"), str)]
    return "\n".join(texts)[:_LONGEST_MESSAGE] or "The tool reported an error."
