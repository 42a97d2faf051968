"""The conversation that a turn continues or begins."""

from retinue.agents.models import Agent
from retinue.chat.errors import ConversationNotFound
from retinue.chat.models import Conversation
from retinue.chat.turn.request import TurnRequest
from retinue.kit.context import Context
from retinue.kit.ids import new_id

_MAX_TITLE_LENGTH = 80


async def find_own_conversation(ctx: Context, agent: Agent, conversation_id: str) -> Conversation | None:
    """Return the conversation if it is the caller's own with this agent."""
    conversation = await ctx.db.get(Conversation, conversation_id)
    if conversation is None or conversation.agent_id != agent.id:
        return None
    is_own = conversation.user_id is not None and conversation.user_id == ctx.principal.owner_id
    return conversation if is_own else None


async def find_conversation(ctx: Context, request: TurnRequest) -> Conversation | None:
    """Return the conversation that the turn continues; None if it begins one."""
    if request.conversation_id is not None:
        conversation = await find_own_conversation(ctx, request.agent, request.conversation_id)
        if conversation is None:
            raise ConversationNotFound
        return conversation
    key = None if request.session_id is None else request.session_key
    if key is None:
        return None
    return await ctx.db.find(Conversation, agent_id=request.agent.id, session_key=key)


def title_from(message: str) -> str:
    """Return the beginning of a message, which is the title of a conversation until it gets another one."""
    return message.strip().partition("\n")[0][:_MAX_TITLE_LENGTH] or "Conversation"


def build_conversation(ctx: Context, request: TurnRequest) -> Conversation:
    """Return a conversation that is not stored yet."""
    return Conversation(
        id=new_id(Conversation.__prefix__),
        agent_id=request.agent.id,
        title=title_from(request.message),
        channel=request.channel,
        user_id=ctx.principal.owner_id or None,
        session_id=request.session_id,
        embed_key_id=request.embed_key_id,
        visitor_id=request.visitor_id,
        session_key=request.session_key,
        last_message_at=ctx.now,
    )
