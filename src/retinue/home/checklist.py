"""The first steps of a tenant, from what is really there."""

from typing import Any

import sqlalchemy as sa

from retinue.agents.models import Agent, AgentStatus
from retinue.embed.models import EmbedKey, EmbedKeyStatus
from retinue.home.schemas import Checklist
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.knowledge.models import Document
from retinue.providers.models import ProviderKey
from retinue.usage.models import Budget
from retinue.users.models import Invitation, User


def _one_of(column: Any, *conditions: Any, limit: int = 1) -> Statement[Any]:
    return Statement(sa.select(column).where(*conditions).limit(limit))


_keys, _agents, _documents = ProviderKey.__table__, Agent.__table__, Document.__table__
_users, _invitations = User.__table__, Invitation.__table__
_embed_keys, _budgets = EmbedKey.__table__, Budget.__table__
# Step, the permission that shows it, and a query that finds a row once the step is done.
_STEPS: dict[str, tuple[str, Statement[Any]]] = {
    "model": ("api_keys:read", _one_of(_keys.c.id, _keys.c.is_active.is_(True))),
    "agent": ("agents:read", _one_of(_agents.c.id, _agents.c.status == AgentStatus.published.value)),
    "knowledge": ("agents:read", _one_of(_documents.c.id, _documents.c.indexed_at.is_not(None))),
    "embed": (
        "embed_keys:read",
        _one_of(_embed_keys.c.id, _embed_keys.c.status == EmbedKeyStatus.active.value),
    ),
    "budget": ("usage:read", _one_of(_budgets.c.id)),
}
_TWO_USERS = _one_of(_users.c.id, _users.c.last_login_at.is_not(None), limit=2)
_INVITATION = _one_of(_invitations.c.id)


async def load_checklist(ctx: Context, permissions: frozenset[str]) -> Checklist:
    done: dict[str, bool | None] = {}
    for step, (permission, statement) in _STEPS.items():
        done[step] = bool(await ctx.db.rows(statement)) if permission in permissions else None
    return Checklist(**done, colleague=await _has_colleague(ctx) if "admin:users" in permissions else None)


async def _has_colleague(ctx: Context) -> bool:
    """Return whether somebody else was invited or has signed in: an unused account is no colleague."""
    return len(await ctx.db.rows(_TWO_USERS)) > 1 or bool(await ctx.db.rows(_INVITATION))
