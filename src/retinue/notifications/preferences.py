"""The users' preferences: the default channels for each type, and their own choices."""

from collections.abc import Sequence
from typing import Any

import msgspec
import sqlalchemy as sa
from msgspec import UNSET

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.errors import Invalid
from retinue.notifications.models import Preferences, Ways
from retinue.notifications.schemas import PreferencesUpdate

MAX_TYPES = 200

_preferences = Preferences.__table__


def _ways(*, email: bool = False, team_chat: bool = False) -> Ways:
    return Ways(in_app=True, email=email, team_chat=team_chat)


DEFAULTS: dict[str, Ways] = {
    "workflow_completed": _ways(),
    "workflow_failed": _ways(email=True),
    "form_submission": _ways(),
    "approval_requested": _ways(email=True, team_chat=True),
    "agent_training_failed": _ways(),
    "webhook_disabled": _ways(email=True),
    "credential_expiring": _ways(email=True),
    "budget_threshold": _ways(email=True),
    "security_alert": _ways(email=True),
    "account_pending": _ways(email=True),
    "access_requested": _ways(email=True),
    "tool_drifted": _ways(),
}
_DEFAULT_WAYS = _ways()


async def load_own(ctx: Context) -> dict[str, Ways]:
    """Return the caller's preferences merged over the defaults."""
    stored = await ctx.db.find(Preferences, user_id=ctx.principal.id)
    return {**DEFAULTS, **(stored.ways if stored else {})}


async def update(ctx: Context, body: PreferencesUpdate) -> dict[str, Ways]:
    """Change the given preferences; the others stay unchanged."""
    await ctx.db.insert_missing(Preferences(user_id=ctx.principal.id, ways={}))
    row = await ctx.db.find(Preferences, user_id=ctx.principal.id)
    stored = await ctx.db.lock(Preferences, row.id) if row else None
    assert stored is not None, "inserted above"
    ways = dict(stored.ways)
    for type, chosen in body.preferences.items():
        given = {name: value for name, value in msgspec.structs.asdict(chosen).items() if value is not UNSET}
        ways[type] = msgspec.structs.replace(ways.get(type) or _default(type), **given)
    if len(ways) > MAX_TYPES:
        raise Invalid({"preferences": f"must cover at most {MAX_TYPES} types"})
    if ways != stored.ways:
        await ctx.db.update(stored, ways=ways)
    return {**DEFAULTS, **ways}


async def load_for_users(ctx: Context, user_ids: Sequence[str], type: str) -> dict[str, Ways]:
    """Return each user's channels for this type."""
    chosen: dict[str, Ways] = {}
    if user_ids:
        wanted = _preferences.c.user_id.in_([sa.literal(id) for id in sorted(user_ids)])
        stored: Statement[Any] = record_statement(Preferences, sa.select(_preferences).where(wanted))
        chosen = {row.user_id: row.ways[type] for row in await ctx.db.rows(stored) if type in row.ways}
    return {user_id: chosen.get(user_id) or _default(type) for user_id in user_ids}


def _default(type: str) -> Ways:
    return DEFAULTS.get(type, _DEFAULT_WAYS)
