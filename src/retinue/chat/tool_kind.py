"""An agent as a tool: `config.kind = "agent"`; the input is a message to it, and its reply the output."""

from typing import Any

import msgspec

from retinue.agents.errors import AgentNotFound
from retinue.agents.models import Agent
from retinue.chat import answering, turns
from retinue.chat.asking import Ask
from retinue.chat.conducting import conduct
from retinue.chat.models import Channel
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.tool_kinds import ToolRun

_LONGEST_MESSAGE = 32_000


class ToolNotConfigured(RetinueError):
    """config.agent_id must name an agent."""

    status, code = 422, "not_configured"


class _Input(msgspec.Struct):
    message: str
    context: dict[str, Any] | None = None


async def run(ctx: Context, call: ToolRun) -> Any:
    """What the agent says; whoever called it waits, so nobody below uses a tool that needs an approval."""
    agent_id = call.config.get("agent_id")
    if not isinstance(agent_id, str) or not agent_id:
        raise ToolNotConfigured
    given = _read(call.input)
    agent = await ctx.db.get(Agent, agent_id)
    if agent is None:
        raise AgentNotFound
    ask = Ask(agent=agent, message=given.message, channel=Channel.tool, context=given.context, depth=1)
    if call.agent_id is None:
        reply = await answering.reply(ctx, ask)
    else:
        # The agent that calls it holds a place already, and would wait for another one of its own.
        reply = await conduct(ctx, await turns.begin(ctx, ask))
    return {"reply": reply.content, "conversation_id": reply.conversation_id, "message_id": reply.id}


def _read(given: dict[str, Any]) -> _Input:
    try:
        read = msgspec.convert(given, _Input)
    except msgspec.ValidationError:
        raise Invalid({"input": "must have a message, and may have a context object"}) from None
    if not read.message.strip() or len(read.message) > _LONGEST_MESSAGE:
        raise Invalid({"message": f"must have 1 to {_LONGEST_MESSAGE} characters"})
    return read
