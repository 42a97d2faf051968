"""Authentication by embed key, with one query per request, so that revocation takes effect at once."""

from functools import lru_cache

import msgspec
import sqlalchemy as sa

from retinue.embed.errors import EMBED_KEY_ROLE, OriginNotAllowed
from retinue.embed.installations import note_refusal
from retinue.embed.models import EmbedKey, EmbedKeyStatus
from retinue.embed.origins import is_allowed
from retinue.kit.config_cache import config_version_now
from retinue.kit.context.instance import Instance
from retinue.kit.db.config_versions import config_version_of
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.errors import Unauthorized
from retinue.kit.http.embed_keys import EMBED_KEY_PREFIX
from retinue.kit.http.request import Request
from retinue.kit.ids import hash_token
from retinue.kit.limits import PlanLimits, limits_for
from retinue.kit.principal import Principal
from retinue.tenants.event_listeners import no_listeners_until
from retinue.tenants.models import Tenant
from retinue.usage.monthly_tokens import tokens_left

_MAX_KEY_LENGTH = 200

_keys, _tenants = EmbedKey.__table__, Tenant.__table__


class ActiveEmbedKey(msgspec.Struct, frozen=True):
    """A currently valid key, and what its tenant's plan allows."""

    id: str
    tenant_id: str
    agent_id: str
    allowed_domains: list[str]
    requests_per_minute: int | None
    requests_per_visitor: int | None
    tokens_left: int | None
    limits: PlanLimits
    is_listened_to: bool
    stamp: int | None


_FIND = Statement(
    sa.select(
        _keys.c.id,
        _keys.c.tenant_id,
        _keys.c.agent_id,
        _keys.c.allowed_domains,
        _keys.c.rate_limit_per_minute,
        _keys.c.rate_limit_per_visitor,
        _keys.c.monthly_token_budget,
        _keys.c.tokens_used,
        _keys.c.tokens_month,
        _tenants.c.plan,
        _tenants.c.limits,
        _tenants.c.is_listened_to,
        config_version_of(_keys.c.tenant_id),
    )
    .select_from(_keys.join(_tenants, _tenants.c.id == _keys.c.tenant_id))
    .where(
        sa.or_(
            _keys.c.key_hash == sa.bindparam("hash"),
            _keys.c.page_hash == sa.bindparam("hash"),
            sa.and_(
                _keys.c.previous_hash == sa.bindparam("hash"), _keys.c.previous_until > sa.bindparam("now")
            ),
        ),
        _keys.c.status == EmbedKeyStatus.active.value,
        sa.or_(_keys.c.expires_at.is_(None), _keys.c.expires_at > sa.bindparam("now")),
    )
)


async def authenticate(instance: Instance, request: Request) -> Principal:
    """Return the principal of the request's embed key; raise OriginNotAllowed for other origins."""
    key = await find_active_key(instance, request.embed_key or "")
    if key is None:
        raise Unauthorized("invalid_api_key", "The embed key is unknown, expired or revoked.")
    origin = request.headers.get(b"origin")
    if not is_allowed(origin.decode("latin-1") if origin is not None else None, key.allowed_domains):
        if origin is not None and _loads_widget(request):
            # The page may read this one refusal, so that the widget does not show a chat that cannot work.
            request.origin_is_allowed = True
            await note_refusal(instance, key.tenant_id, key.id, key.agent_id, origin.decode("latin-1"))
        raise OriginNotAllowed
    request.origin_is_allowed = True
    return Principal(
        kind="embed_key",
        id=key.id,
        tenant_id=key.tenant_id,
        role=EMBED_KEY_ROLE,
        limits=key.limits,
        agent_id=key.agent_id,
        requests_per_minute=key.requests_per_minute,
        requests_per_visitor=key.requests_per_visitor,
        tokens_left=key.tokens_left,
        config_version=config_version_now(instance.clock, key.stamp),
        no_listeners_until=no_listeners_until(instance.clock, is_listened_to=key.is_listened_to),
    )


def _loads_widget(request: Request) -> bool:
    return request.method == "GET" and request.path.endswith("/widget")


async def find_active_key(instance: Instance, text: str) -> ActiveEmbedKey | None:
    """Return the active key with this text. The key itself identifies the tenant, so no fence applies."""
    if not text.startswith(EMBED_KEY_PREFIX) or len(text) > _MAX_KEY_LENGTH:
        return None
    now = instance.clock.now()
    system = SystemDb(
        UnitOfWork(instance.database, reads_outside_transaction=True), instance.clock, instance.ring
    )
    row = await system.first(_FIND, hash=hash_token(text), now=now)
    if row is None:
        return None
    id, tenant_id, agent_id, domains, per_minute, per_visitor, *more = row
    budget, used, month, plan, limits, is_listened_to, stamp = more
    return ActiveEmbedKey(
        id=id,
        tenant_id=tenant_id,
        agent_id=agent_id,
        allowed_domains=_parse_domains(domains),
        requests_per_minute=per_minute,
        requests_per_visitor=per_visitor,
        tokens_left=tokens_left(budget, used, month, now),
        limits=_plan_limits(plan, limits),
        is_listened_to=bool(is_listened_to),
        stamp=stamp,
    )


# Cached by the stored text: a changed list or plan is another text, so nothing must be invalidated.
@lru_cache(maxsize=4096)
def _parse_domains(stored: str) -> list[str]:
    entries: list[str] = msgspec.json.decode(stored)
    return entries


@lru_cache(maxsize=4096)
def _plan_limits(plan: str, stored: str) -> PlanLimits:
    return limits_for(plan, msgspec.json.decode(stored))
