"""Lifetime of attached files: as long as a conversation uses them."""

import sqlalchemy as sa

from retinue.chat.attachment_models import (
    ConversationFile,
    FileDerivative,
)
from retinue.chat.models import (
    Conversation,
)
from retinue.files.models import File
from retinue.files.service import remove
from retinue.kit.context import Context
from retinue.kit.context.references import Referrer
from retinue.kit.db.statements import Statement

# A derived file is checked after its original is gone, which takes up to an hour.
_DERIVED_DELAY_SECONDS = 2 * 3600

_files, _used, _derived = File.__table__, ConversationFile.__table__, FileDerivative.__table__
_conversations = Conversation.__table__
_TITLES = Statement(
    sa.select(_conversations.c.id, _conversations.c.title).where(
        _conversations.c.id.in_(
            sa.select(_used.c.conversation_id).where(_used.c.file_id == sa.bindparam("file_id"))
        )
    )
)
_DETACH = Statement(sa.delete(_used).where(_used.c.file_id == sa.bindparam("file_id")))


def _expire(chosen: sa.Select[tuple[str]]) -> tuple[Statement[object], Statement[object]]:
    derived = sa.select(_derived.c.derived_file_id).where(_derived.c.file_id.in_(chosen))
    originals, conversions = (
        sa.update(_files).where(_files.c.id.in_(ids)).values(expires_at=sa.bindparam("at"))
        for ids in (chosen, derived)
    )
    return Statement(originals), Statement(conversions)


_OF_CONVERSATION = _expire(
    sa.select(_used.c.file_id).where(_used.c.conversation_id == sa.bindparam("conversation_id"))
)
_OF_AGENT = _expire(
    sa.select(_used.c.file_id).where(
        _used.c.conversation_id.in_(
            sa.select(_conversations.c.id).where(_conversations.c.agent_id == sa.bindparam("agent_id"))
        )
    )
)


async def expire_files_of_conversation(ctx: Context, conversation_id: str) -> None:
    """Have the files deleted soon, unless another conversation uses them; before the conversation is."""
    await _execute(ctx, _OF_CONVERSATION, conversation_id=conversation_id)


async def expire_files_of_agent(ctx: Context, agent_id: str) -> None:
    await _execute(ctx, _OF_AGENT, agent_id=agent_id)


async def _execute(ctx: Context, statements: tuple[Statement[object], Statement[object]], **ids: str) -> None:
    originals, conversions = statements
    await ctx.db.execute(originals, at=ctx.now, **ids)
    await ctx.db.execute(conversions, at=ctx.clock.ahead(_DERIVED_DELAY_SECONDS), **ids)


async def find_conversations_with_file(ctx: Context, file_id: str) -> list[Referrer]:
    return [Referrer(row[0], row[1]) for row in await ctx.db.rows(_TITLES, file_id=file_id)]


async def detach_file(ctx: Context, file_id: str) -> None:
    """Delete what models get of the file; messages of conversations still name it."""
    await ctx.db.execute(_DETACH, file_id=file_id)
    derivative = await ctx.db.find(FileDerivative, file_id=file_id)
    if derivative is not None:
        derived = await ctx.db.get(File, derivative.derived_file_id)
        await ctx.db.delete(derivative)
        if derived is not None:
            await remove(ctx, derived)


async def find_originals(ctx: Context, file_id: str) -> list[Referrer]:
    """Return the file that this one was derived from, if it still exists."""
    derivatives = await ctx.db.all(FileDerivative, derived_file_id=file_id)
    found = [await ctx.db.get(File, derivative.file_id) for derivative in derivatives]
    return [Referrer(file.id, file.filename) for file in found if file is not None]


async def detach_derived(ctx: Context, file_id: str) -> None:
    """Forget a derived file; the next use of its original makes another one."""
    for derivative in await ctx.db.all(FileDerivative, derived_file_id=file_id):
        await ctx.db.delete(derivative)
