"""Models whose provider does not answer: the latest chats with them failed, one after the other."""

from typing import Any

import sqlalchemy as sa

from retinue.chat.models import ChatLog, TurnStatus
from retinue.home.needs import MAX_NEEDS_PER_KIND, code_of_error
from retinue.home.schemas import Need, NeedAction, NeedKind, NeedObject, NeedSeverity
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement

CHAT_AGE_SECONDS = 24 * 3600
# One failure may be a whim of the provider; two without a success between them are not.
MIN_FAILED_CHATS = 2
_MAX_CHATS = 500
# What the provider or its configuration is to blame for; a spent budget or a stopped turn is something else.
_PROVIDER_ERRORS = frozenset({"model_error", "model_timeout", "model_not_configured"})

_logs = ChatLog.__table__
_LATEST_CHATS = Statement(
    sa.select(_logs.c.model, _logs.c.status, _logs.c.error, _logs.c.created_at)
    .where(_logs.c.created_at >= sa.bindparam("since"))
    .order_by(_logs.c.created_at.desc())
    .limit(_MAX_CHATS),
    heavy=True,
)


async def find_failing_models(ctx: Context) -> list[Need]:
    """Return the models whose latest chats all failed at their provider, with the first of these failures."""
    failing: dict[str, Need] = {}
    answered: set[str] = set()
    rows: list[Any] = await ctx.db.rows(_LATEST_CHATS, since=ctx.clock.ahead(-CHAT_AGE_SECONDS))
    for model, status, error, created_at in rows:
        if status == TurnStatus.completed.value:
            answered.add(model)
        code = code_of_error(error)
        if model in answered or code not in _PROVIDER_ERRORS:
            continue
        need = failing.setdefault(model, _need(model, code))
        need.params["failed_count"] += 1
        need.since = created_at
    found = [need for need in failing.values() if need.params["failed_count"] >= MIN_FAILED_CHATS]
    return found[:MAX_NEEDS_PER_KIND]


def _need(model: str, code: str) -> Need:
    return Need(
        kind=NeedKind.model,
        severity=NeedSeverity.bad,
        title_code="model_failing",
        params={"failed_count": 0, "error": code, "provider": model.partition("/")[0]},
        object=NeedObject(type="model", id=model, name=model),
        since="",
        action=NeedAction.inspect,
    )
