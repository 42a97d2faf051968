"""`custom`: `config.kind` selects what runs; higher domains register further kinds."""

from typing import Any

import msgspec

from retinue.kit.context.tool_kinds import ToolKind, ToolRun, find_tool_kind
from retinue.kit.errors import RetinueError
from retinue.kit.events.dispatch import MAX_HOPS
from retinue.tools.config.configuration import HTTP_TEMPLATE, MCP
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors import http_template, mcp
from retinue.tools.executors.call import Executor, ExecutorCall

_KINDS: dict[str, Executor] = {HTTP_TEMPLATE: http_template.run, MCP: mcp.run}


async def run(call: ExecutorCall) -> Any:
    name = str(call.config.get("kind", ""))
    if name in _KINDS:
        return await _KINDS[name](call)
    registered = find_tool_kind(call.ctx, name)
    if registered is None:
        raise ExecutionFailed("not_configured", "config.kind is not a known kind of tool.")
    return await _run_registered(call, registered)


async def _run_registered(call: ExecutorCall, kind: ToolKind) -> Any:
    """Run it with one more hop, because it may end up running this tool again."""
    ctx = call.ctx.detached()
    if ctx.caller.hops >= MAX_HOPS:
        raise ExecutionFailed("too_deep", "Tools, workflows and agents are nested too deeply.")
    ctx.caller = msgspec.structs.replace(ctx.caller, hops=ctx.caller.hops + 1)
    run = ToolRun(config=call.config, input=call.input, timeout_s=call.timeout_s, agent_id=call.agent_id)
    try:
        return await kind.run(ctx, run)
    except RetinueError as error:
        raise ExecutionFailed(error.code, error.message, details=error.details) from None
    finally:
        # ADR 21: the output may quote conversations that the run started.
        call.ctx.quote(*ctx.caller.conversation_ids)
