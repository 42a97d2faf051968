"""Histories that callers keep themselves: they know what the agent said, not which tools it used.

The calls of such a reply are found again by its text, so that the model, and the provider's cache, see the
conversation as it was. This is not for embed keys: the visitors of a site share one, and one could ask
for the results of another.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

import sqlalchemy as sa

from retinue.adapters.llm import ModelMessage
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.history_entries import HistoryEntry
from retinue.chat.engine.prompts import find_turn_start
from retinue.chat.models import Message, ReplayableReply
from retinue.chat.turn.history import NO_HISTORY, ConversationHistory, replay
from retinue.chat.turn.request import TurnRequest
from retinue.chat.turn.tool_images import choose_shown
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import record_statement

_KEY_LENGTH = 32
# Such messages have no ids; their places are the same in each request.
_ID_PREFIX = "m"

_replies, _messages = ReplayableReply.__table__, Message.__table__
_FIND = record_statement(
    Message,
    sa.select(_messages).where(
        _messages.c.id.in_(sa.select(_replies.c.message_id).where(in_list(_replies.c.key, "keys")))
    ),
)


def conversation_seed(ctx: Context, request: TurnRequest, conversation_id: str) -> str:
    """Return what stays the same in a conversation; callers who keep it themselves have no lasting id."""
    if request.history is None:
        return conversation_id
    questions = (message.text() for message in request.history if message.role == "user")
    first = next(questions, request.message)
    return f"{request.agent.id}/{ctx.principal.id}/{_digest(first)}"


async def load_resent_history(ctx: Context, request: TurnRequest) -> ConversationHistory:
    """Return the caller's history, with the calls of the replies that this agent gave the caller."""
    if request.history is None:
        return NO_HISTORY
    entries = tuple(await _restore_calls(ctx, request, request.history))
    messages = tuple(message for entry in entries for message in entry.messages)
    return ConversationHistory(entries, messages, is_resent=True)


def restore_resent_history(conversation: Sequence[ModelMessage]) -> ConversationHistory:
    """Return the caller's history from the prompt of a suspended turn, which is the only copy of it.

    A summary that it begins with counts as a message of its own.
    """
    groups: list[list[ModelMessage]] = []
    for message in conversation[1 : find_turn_start(conversation)]:
        follows_results = bool(groups) and message.role == "assistant" and groups[-1][-1].role == "tool"
        if groups and (message.role == "tool" or follows_results):
            groups[-1].append(message)
        else:
            groups.append([message])
    entries = tuple(
        HistoryEntry(id=f"{_ID_PREFIX}{position}", position=position, messages=tuple(group))
        for position, group in enumerate(groups, 1)
    )
    messages = tuple(message for entry in entries for message in entry.messages)
    return ConversationHistory(entries, messages, is_resent=True)


async def _restore_calls(
    ctx: Context, request: TurnRequest, history: tuple[ModelMessage, ...]
) -> Iterable[HistoryEntry]:
    seed = conversation_seed(ctx, request, "")
    keys = {_reply_key(seed, message.text()) for message in history if message.role == "assistant"}
    found: dict[str, Message] = {}
    if keys and _may_recall(ctx, request):
        rows = await ctx.detached().db.rows(_FIND, keys=list_parameter(sorted(keys)))
        found = {_reply_key(seed, row.content): row for row in rows}
    return _replayed(history, found, seed, PromptFence.of_seed(ctx, seed))


def _replayed(
    history: tuple[ModelMessage, ...], found: dict[str, Message], seed: str, fence: PromptFence
) -> Iterator[HistoryEntry]:
    shown = choose_shown(sorted(found.values(), key=lambda stored: stored.created_at))
    for position, message in enumerate(history, 1):
        is_reply = bool(found) and message.role == "assistant"
        stored = found.get(_reply_key(seed, message.text())) if is_reply else None
        messages = (
            (message,) if stored is None else tuple(replay(stored, fence, shows_images=stored.id in shown))
        )
        yield HistoryEntry(id=f"{_ID_PREFIX}{position}", position=position, messages=messages)


async def remember_reply(unit: Context, request: TurnRequest, reply: Message) -> None:
    """Remember a reply with calls, in the transaction that stores it."""
    if request.history is None or not reply.rounds or not reply.content or not _may_recall(unit, request):
        return
    seed = conversation_seed(unit, request, reply.conversation_id)
    await unit.db.insert_at_commit(ReplayableReply(key=_reply_key(seed, reply.content), message_id=reply.id))


def _may_recall(ctx: Context, request: TurnRequest) -> bool:
    agent = request.agent
    has_calls = agent.tool_count or agent.sub_agent_count or agent.web_search.enabled
    return bool(has_calls) and bool(ctx.principal.owner_id)


def _reply_key(seed: str, text: str) -> str:
    return _digest(f"{seed}\n{text}")[:_KEY_LENGTH]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
