"""Conversations that nobody goes on with, and those that have been over for a day."""

from collections import Counter, defaultdict
from typing import Any

import sqlalchemy as sa

from retinue.forms.conversation.turns import IDLE_S, KEPT_S
from retinue.forms.counting import BATCH, hold_day
from retinue.forms.models import FormConversation, FormConversationStatus
from retinue.kit.context import Context
from retinue.kit.db.one_of import listed, one_of
from retinue.kit.db.statements import Statement, reading
from retinue.kit.jobs.declare import NoPayload, job

_conversations = FormConversation.__table__
_IDLE: Statement[Any] = Statement(
    sa.update(_conversations)
    .where(
        _conversations.c.status == sa.literal(FormConversationStatus.active.value),
        _conversations.c.updated_at < sa.bindparam("before", type_=sa.Text()),
    )
    .values(
        status=FormConversationStatus.abandoned.value, closed_at=sa.bindparam("closed_at", type_=sa.Text())
    )
)
_OVER = reading(
    FormConversation,
    sa.select(_conversations)
    .where(_conversations.c.closed_at < sa.bindparam("before", type_=sa.Text()))
    .limit(BATCH)
    .with_for_update(skip_locked=True),
)
_FORGET: Statement[Any] = Statement(sa.delete(_conversations).where(one_of(_conversations.c.id, "ids")))


@job(every_s=1800, timeout_s=600, transactional=False)
async def sweep_form_conversations(ctx: Context, _payload: NoPayload) -> None:
    """After a day without a message one is abandoned; a day after its end it is forgotten."""
    async with ctx.unit() as unit:
        system = unit.system("visitors of every tenant leave")
        await system.execute(_IDLE, before=unit.clock.ahead(-IDLE_S), closed_at=unit.now)
    forgotten = BATCH
    while forgotten == BATCH:
        async with ctx.unit() as unit:
            forgotten = await _forget_some(unit)


async def _forget_some(ctx: Context) -> int:
    """Where their visitors left is added to the sums of the days on which they came."""
    await ctx.unit_of_work.begin()
    system = ctx.system("conversations of every tenant are over")
    found = await system.rows(_OVER, before=ctx.clock.ahead(-KEPT_S))
    left: defaultdict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for one in found:
        if one.status is not FormConversationStatus.completed:
            left[one.tenant_id, one.form_id, one.created_at[:10]][one.asked or ""] += 1
    for key, dropped in sorted(left.items(), key=lambda item: item[0]):
        day = await hold_day(system, *key)
        await system.update(day, dropped=dict(Counter(day.dropped) + dropped))
    await system.execute(_FORGET, ids=listed(one.id for one in found))
    return len(found)
