"""Access to the content of conversations in other records (ADR 21).

A record that quotes conversations stores their ids in `conversation_ids`; `Caller.conversation_ids` carries
them from work in a conversation to the work that it causes. Code that shows such records asks once per page
which of them the caller may read. The domain of the conversations answers through its manifest.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence

import msgspec

from retinue.kit.context import Context
from retinue.kit.conversation_ids import UNNAMED_CONVERSATIONS
from retinue.kit.principal import Principal


class QuotedMessage(msgspec.Struct, frozen=True):
    role: str
    content: str
    created_at: str


class ConversationAccess(msgspec.Struct, frozen=True):
    """`find_readable(ctx, ids)` returns the ids of those conversations that the caller may read.

    `load_last_messages(ctx, id, until, count)` returns the last messages up to an instant, oldest first, and
    does not ask who reads them.
    """

    reads_all: Callable[[Principal], bool]
    find_readable: Callable[[Context, Sequence[str]], Awaitable[set[str]]]
    load_last_messages: Callable[[Context, str, str, int], Awaitable[list[QuotedMessage]]]


class ContentReader:
    """Decides which of some records, by the conversations they quote, one caller may read."""

    def __init__(self, readable: frozenset[str] | None) -> None:
        """`readable` are ids, or None for all conversations."""
        self._readable = readable

    def may_read(self, conversation_ids: Sequence[str] | None) -> bool:
        """Return whether the caller may read a record that quotes these conversations."""
        return self._readable is None or not conversation_ids or self._readable.issuperset(conversation_ids)


async def load_content_reader(ctx: Context, quoted: Iterable[Sequence[str] | None]) -> ContentReader:
    """Look up the conversations that a page of records quotes, in at most one query."""
    own = ctx.principal.id
    ids = sorted({id for some in quoted if some for id in some} - {UNNAMED_CONVERSATIONS, own})
    for access in ctx.instance.registry.all(ConversationAccess):
        if access.reads_all(ctx.principal):
            return ContentReader(None)
        if ids:
            return ContentReader(frozenset({*await access.find_readable(ctx, ids), own}))
    return ContentReader(frozenset({own}))


def reads_all_conversations(ctx: Context) -> bool:
    """Return whether the caller may read every conversation of the tenant."""
    return any(access.reads_all(ctx.principal) for access in ctx.instance.registry.all(ConversationAccess))
