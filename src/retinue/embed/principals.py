"""From an embed key to a principal: one query on every request, so a revoked key is over at once."""

from functools import lru_cache
from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.embed.errors import YOUR_ROLE, OriginNotAllowed
from retinue.embed.models import EmbedKey, EmbedKeyStatus
from retinue.embed.origins import is_allowed
from retinue.embed.usage import tokens_left
from retinue.kit.db.configuration import stamp_of
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit import Unit
from retinue.kit.errors import Unauthorized
from retinue.kit.http.carriers import EMBED_KEY_PREFIX
from retinue.kit.http.request import Request
from retinue.kit.ids import hash_token
from retinue.kit.instance import Instance
from retinue.kit.limits import PlanLimits, limits_for
from retinue.kit.principal import Principal
from retinue.kit.remembering import heard
from retinue.tenants.listening import unheard_until
from retinue.tenants.models import Tenant

_LONGEST = 200

_keys, _tenants = EmbedKey.__table__, Tenant.__table__


class KnownKey(msgspec.Struct, frozen=True):
    """A key that is good at this moment, and what its tenant's plan allows."""

    id: str
    tenant_id: str
    agent_id: str
    allowed_domains: list[str]
    requests_per_minute: int | None
    tokens_left: int | None
    limits: PlanLimits
    is_listened_to: bool
    stamp: int | None


_FIND: Statement[Any] = Statement(
    sa.select(
        _keys.c.id,
        _keys.c.tenant_id,
        _keys.c.agent_id,
        _keys.c.allowed_domains,
        _keys.c.rate_limit_per_minute,
        _keys.c.monthly_token_budget,
        _keys.c.tokens_used,
        _keys.c.tokens_month,
        _tenants.c.plan,
        _tenants.c.limits,
        _tenants.c.is_listened_to,
        stamp_of(_keys.c.tenant_id),
    )
    .select_from(_keys.join(_tenants, _tenants.c.id == _keys.c.tenant_id))
    .where(
        sa.or_(
            _keys.c.key_hash == sa.bindparam("hash"),
            sa.and_(
                _keys.c.previous_hash == sa.bindparam("hash"), _keys.c.previous_until > sa.bindparam("now")
            ),
        ),
        _keys.c.status == EmbedKeyStatus.active.value,
        sa.or_(_keys.c.expires_at.is_(None), _keys.c.expires_at > sa.bindparam("now")),
    )
)


async def authenticate(instance: Instance, request: Request) -> Principal:
    """Who holds the key that the request carries; a page of the wrong origin is told so."""
    key = await find_key(instance, request.embed_key or "")
    if key is None:
        raise Unauthorized("invalid_api_key", "The embed key is not known, or no longer good.")
    origin = request.headers.get(b"origin")
    if not is_allowed(origin.decode("latin-1") if origin is not None else None, key.allowed_domains):
        raise OriginNotAllowed
    request.origin_is_allowed = True
    return Principal(
        kind="embed_key",
        id=key.id,
        tenant_id=key.tenant_id,
        role=YOUR_ROLE,
        limits=key.limits,
        agent_id=key.agent_id,
        requests_per_minute=key.requests_per_minute,
        tokens_left=key.tokens_left,
        configuration=heard(instance.clock, key.stamp),
        unheard_until=unheard_until(instance.clock, is_listened_to=key.is_listened_to),
    )


async def find_key(instance: Instance, text: str) -> KnownKey | None:
    """The key with this text; it says for itself which tenant it belongs to, so there is no fence here."""
    if not text.startswith(EMBED_KEY_PREFIX) or len(text) > _LONGEST:
        return None
    now = instance.clock.now()
    system = SystemDb(Unit(instance.database, reads_freely=True), instance.clock, instance.ring)
    row = await system.first(_FIND, hash=hash_token(text), now=now)
    if row is None:
        return None
    id, tenant_id, agent_id, domains, per_minute, budget, used, month, plan, limits, *of_tenant = row
    is_listened_to, stamp = of_tenant
    return KnownKey(
        id=id,
        tenant_id=tenant_id,
        agent_id=agent_id,
        allowed_domains=_entries(domains),
        requests_per_minute=per_minute,
        tokens_left=tokens_left(budget, used, month, now),
        limits=_plan_limits(plan, limits),
        is_listened_to=bool(is_listened_to),
        stamp=stamp,
    )


# The stored text is the key: a changed list or plan is another text, so nothing has to be invalidated.
@lru_cache(maxsize=4096)
def _entries(stored: str) -> list[str]:
    entries: list[str] = msgspec.json.decode(stored)
    return entries


@lru_cache(maxsize=4096)
def _plan_limits(plan: str, stored: str) -> PlanLimits:
    return limits_for(plan, msgspec.json.decode(stored))
