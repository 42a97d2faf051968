"""An agent as a tool (`config.kind = "agent"`): the input is a message, the output its reply."""

from typing import Any, Literal

import msgspec

from retinue.agents.errors import AgentNotFound
from retinue.agents.models import Agent
from retinue.chat.models import ChatChannel
from retinue.chat.turn.admission import admit_within_turn
from retinue.chat.turn.request import TurnRequest
from retinue.kit.context import Context
from retinue.kit.context.tool_kinds import ToolConfig, ToolKind, ToolRun, parse_tool_config
from retinue.kit.errors import InternalError, Invalid
from retinue.kit.json_types import JsonObject

_MAX_MESSAGE_LENGTH = 32_000


class AgentToolNotConfigured(InternalError):
    """The tool has no agent. Set config.agent_id to the id of an agent."""

    code = "not_configured"
    shown_in = "tool executions"


class AgentToolConfig(ToolConfig, kw_only=True):
    """Configuration of a `custom` tool that asks an agent."""

    kind: Literal["agent"]
    agent_id: str


class _Input(msgspec.Struct):
    message: str
    context: JsonObject | None = None


async def run(ctx: Context, call: ToolRun) -> Any:
    """Return the agent's reply; the caller waits, so tools that need an approval are refused."""
    config = parse_tool_config(call, AgentToolConfig, AgentToolNotConfigured)
    if not config.agent_id:
        raise AgentToolNotConfigured
    tool_input = _parse_input(call.input)
    agent = await ctx.db.get(Agent, config.agent_id)
    if agent is None:
        raise AgentNotFound
    request = TurnRequest(
        agent=agent, message=tool_input.message, channel=ChatChannel.tool, context=tool_input.context, depth=1
    )
    async with await admit_within_turn(ctx, request, needs_slot=call.agent_id is None) as turn:
        reply = await turn.answer(ctx)
    answer = {"reply": reply.content, "conversation_id": reply.conversation_id, "message_id": reply.id}
    if request.output_schema is None or reply.details is None:
        return answer
    return {**answer, "output": reply.details.output}


def _parse_input(raw: JsonObject) -> _Input:
    try:
        parsed = msgspec.convert(raw, _Input)
    except msgspec.ValidationError:
        raise Invalid({"input": "must be an object with `message` and optionally `context`"}) from None
    if not parsed.message.strip() or len(parsed.message) > _MAX_MESSAGE_LENGTH:
        raise Invalid({"message": f"must have 1 to {_MAX_MESSAGE_LENGTH} characters"})
    return parsed


TOOL_KIND = ToolKind(name="agent", run=run, config=AgentToolConfig)
