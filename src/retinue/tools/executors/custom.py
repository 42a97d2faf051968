"""`custom`: what runs is said by `config.kind`; upper domains register kinds of their own."""

from typing import Any

import msgspec

from retinue.kit.errors import RetinueError
from retinue.kit.events.dispatch import MOST_HOPS
from retinue.kit.tool_kinds import ToolKind, ToolRun, find_tool_kind
from retinue.tools.calls import Call, Executor
from retinue.tools.configuration import HTTP_TEMPLATE, MCP
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors import http_template, mcp

_KINDS: dict[str, Executor] = {HTTP_TEMPLATE: http_template.run, MCP: mcp.run}


async def run(call: Call) -> Any:
    name = str(call.config.get("kind", ""))
    if name in _KINDS:
        return await _KINDS[name](call)
    registered = find_tool_kind(call.ctx, name)
    if registered is None:
        raise ExecutionFailed("not_configured", "config.kind must name a kind of tool that exists here.")
    return await _run_registered(call, registered)


async def _run_registered(call: Call, kind: ToolKind) -> Any:
    """One step further in the chain of causes: what it runs may end up here again."""
    ctx = call.ctx.apart()
    if ctx.caller.hops >= MOST_HOPS:
        raise ExecutionFailed("too_deep", "Tools, workflows and agents start each other too deep.")
    ctx.caller = msgspec.structs.replace(ctx.caller, hops=ctx.caller.hops + 1)
    run = ToolRun(config=call.config, input=call.input, timeout_s=call.timeout_s, agent_id=call.agent_id)
    try:
        return await kind.run(ctx, run)
    except RetinueError as error:
        raise ExecutionFailed(error.code, error.message, details=error.details) from None
