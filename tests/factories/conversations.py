"""A conversation with some of everything that a path can name: a question, its reply, a job."""

from typing import NamedTuple

from retinue.agents.models import Agent
from retinue.chat.engine.parts import FinishReason, ReplyDetails, TokenUsage
from retinue.chat.models import ChatChannel, ChatJob, Conversation, Message, Speaker
from retinue.kit.context import Context
from retinue.kit.ids import new_id


class Talk(NamedTuple):
    conversation: Conversation
    reply: Message
    job: ChatJob


async def some_talk(ctx: Context, agent: Agent, user_id: str, text: str = "Hello") -> Talk:
    conversation = await ctx.db.insert(
        Conversation(
            agent_id=agent.id,
            title=text,
            channel=ChatChannel.console,
            user_id=user_id,
            message_count=2,
            last_message_at=ctx.now,
        )
    )
    reply_id = new_id("msg")
    question = await ctx.db.insert(
        Message(
            conversation_id=conversation.id, role=Speaker.user, content=text, position=1, reply_id=reply_id
        )
    )
    details = ReplyDetails(model="m", finish_reason=FinishReason.stop, usage=TokenUsage())
    reply = await ctx.db.insert(
        Message(
            id=reply_id,
            conversation_id=conversation.id,
            role=Speaker.assistant,
            content=text,
            position=2,
            details=details,
        )
    )
    job = await ctx.db.insert(
        ChatJob(
            agent_id=agent.id,
            conversation_id=conversation.id,
            user_message_id=question.id,
            message_id=reply.id,
            user_id=user_id,
        )
    )
    return Talk(conversation, reply, job)
