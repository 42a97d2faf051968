"""Abandoning idle conversations and deleting those that ended a day ago."""

from collections import Counter, defaultdict

import sqlalchemy as sa

from retinue.forms.after.daily_counts import BATCH_SIZE, lock_day
from retinue.forms.conversation.turns import ABANDONED_AFTER_SECONDS, RETENTION_SECONDS
from retinue.forms.models import FormConversation, FormConversationStatus
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement

_conversations = FormConversation.__table__
_ABANDON_IDLE = Statement(
    sa.update(_conversations)
    .where(
        _conversations.c.status == sa.literal(FormConversationStatus.active.value),
        _conversations.c.updated_at < sa.bindparam("before", type_=sa.Text()),
    )
    .values(
        status=FormConversationStatus.abandoned.value, closed_at=sa.bindparam("closed_at", type_=sa.Text())
    )
)
_CLOSED_BEFORE = record_statement(
    FormConversation,
    sa.select(_conversations)
    .where(_conversations.c.closed_at < sa.bindparam("before", type_=sa.Text()))
    .limit(BATCH_SIZE)
    .with_for_update(skip_locked=True),
)
_DELETE = Statement(sa.delete(_conversations).where(in_list(_conversations.c.id, "ids")))


async def sweep_form_conversations(ctx: Context) -> None:
    """Abandon conversations after a day without a message; delete them a day after their end."""
    async with ctx.unit() as unit:
        system = unit.system("visitors of every tenant leave")
        await system.execute(
            _ABANDON_IDLE, before=unit.clock.ahead(-ABANDONED_AFTER_SECONDS), closed_at=unit.now
        )
    deleted = BATCH_SIZE
    while deleted == BATCH_SIZE:
        async with ctx.unit() as unit:
            deleted = await _delete_batch(unit)


async def _delete_batch(ctx: Context) -> int:
    """Delete ended conversations and add where their visitors left to the daily sums."""
    await ctx.unit_of_work.begin()
    system = ctx.system("conversations of every tenant are over")
    ended = await system.rows(_CLOSED_BEFORE, before=ctx.clock.ahead(-RETENTION_SECONDS))
    dropped_by_day: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for talk in ended:
        if talk.status is not FormConversationStatus.completed:
            dropped_by_day[talk.tenant_id, talk.form_id, talk.created_at[:10]][talk.asked or ""] += 1
    for key, dropped in sorted(dropped_by_day.items(), key=lambda item: item[0]):
        day = await lock_day(system, *key)
        await system.update(day, dropped=dict(Counter(day.dropped) + dropped))
    await system.execute(_DELETE, ids=list_parameter(talk.id for talk in ended))
    return len(ended)
