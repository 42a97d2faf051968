"""Service accounts as principals: by access token, or by id in the background."""

from functools import lru_cache

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.session import Db
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.errors import PersonRequired, Unauthorized
from retinue.kit.http.request import Request
from retinue.kit.limits import PlanLimits, limits_for
from retinue.kit.principal import SERVICE_ACCOUNT_ROLE, Principal
from retinue.kit.principal_cache import LoadedPrincipal, find_principal
from retinue.kit.tokens import Claims
from retinue.service_accounts.errors import AddressNotAllowed
from retinue.service_accounts.models import ServiceAccount, ServiceAccountSecret, ServiceAccountStatus
from retinue.service_accounts.networks import is_allowed
from retinue.service_accounts.schemas import current_status
from retinue.tenants.models import Tenant
from retinue.usage.monthly_tokens import tokens_left

TOKEN_KIND = "service"  # noqa: S105  the kind of principal that a token stands for

_accounts, _secrets = ServiceAccount.__table__, ServiceAccountSecret.__table__
_tenants = Tenant.__table__

_PRINCIPAL_BY_TOKEN = Statement(
    sa.select(
        _accounts.c.permissions,
        _accounts.c.allowed_ips,
        _accounts.c.rate_limit_per_minute,
        _accounts.c.monthly_token_budget,
        _accounts.c.tokens_used,
        _accounts.c.tokens_month,
        _accounts.c.strict,
        _tenants.c.plan,
        _tenants.c.limits,
        _tenants.c.is_listened_to,
        _secrets.c.expires_at,
        _accounts.c.expires_at.label("account_expires_at"),
    )
    .select_from(
        _accounts.join(
            _secrets,
            sa.and_(_secrets.c.tenant_id == _accounts.c.tenant_id, _secrets.c.account_id == _accounts.c.id),
        ).join(_tenants, _tenants.c.id == _accounts.c.tenant_id)
    )
    .where(
        _accounts.c.id == sa.bindparam("account_id"),
        _accounts.c.status == ServiceAccountStatus.active.value,
        sa.or_(_accounts.c.expires_at.is_(None), _accounts.c.expires_at > sa.bindparam("now")),
        _secrets.c.id == sa.bindparam("secret_id"),
        _secrets.c.expires_at > sa.bindparam("now"),
    )
)


async def authenticate(instance: Instance, request: Request, claims: Claims) -> Principal:
    """Return the account of a verified token, with what the token and the account both allow now."""
    key = (claims.tid, claims.sub, claims.sid, claims.extra["scope"], request.ip_address)
    principal = await find_principal(
        instance, claims.tid, key, lambda: _load(instance, claims, request.ip_address)
    )
    if principal is None:
        raise Unauthorized(
            "token_revoked", "The service account or the secret of this token is no longer valid."
        )
    requested_tenant = request.headers.get(b"x-tenant-id")
    if requested_tenant is not None and requested_tenant.decode("latin-1") != claims.tid:
        raise PersonRequired(SERVICE_ACCOUNT_ROLE)
    return principal


async def _load(instance: Instance, claims: Claims, ip_address: str) -> LoadedPrincipal | None:
    now = instance.clock.now()
    unit = UnitOfWork(instance.database, reads_outside_transaction=True)
    row = await Db(unit, instance.clock, instance.ring, claims.tid).first(
        _PRINCIPAL_BY_TOKEN, account_id=claims.sub, secret_id=claims.sid, now=now
    )
    if row is None:
        return None
    permissions, allowed_ips, per_minute, budget, used, month, strict, *rest = row
    plan, limits, is_listened_to, secret_expires_at, account_expires_at = rest
    if not is_allowed(ip_address, allowed_ips):
        raise AddressNotAllowed
    principal = Principal(
        kind="service_account",
        id=claims.sub,
        tenant_id=claims.tid,
        role=SERVICE_ACCOUNT_ROLE,
        permissions=_permission_set(claims.extra["scope"], permissions),
        limits=_plan_limits(plan, limits),
        requests_per_minute=per_minute,
        tokens_left=tokens_left(budget, used, month, now),
        is_strict=bool(strict),
    )
    # Each chat changes what is left of a monthly budget, and a chat is no change of configuration.
    return LoadedPrincipal(
        principal,
        min(secret_expires_at, account_expires_at or secret_expires_at),
        bool(is_listened_to),
        is_cacheable=budget is None,
    )


async def find_active_principal(ctx: Context, account_id: str) -> Principal | None:
    """Return the account of the context's tenant with today's permissions; None if it may not act now."""
    account = await ctx.db.get(ServiceAccount, account_id)
    if account is None or not is_active(account, ctx.now):
        return None
    return Principal(
        kind="service_account",
        id=account.id,
        tenant_id=ctx.tenant_id,
        role=SERVICE_ACCOUNT_ROLE,
        permissions=frozenset(account.permissions),
        tokens_left=tokens_left(
            account.monthly_token_budget, account.tokens_used, account.tokens_month, ctx.now
        ),
    )


def is_active(account: ServiceAccount, now: Instant) -> bool:
    return current_status(account, now) is ServiceAccountStatus.active


# Keyed by the stored texts: a changed account or plan has a different text, so nothing has to be invalidated.
@lru_cache(maxsize=1024)
def _permission_set(scope: str, stored: str) -> frozenset[str]:
    return frozenset(scope.split()).intersection(msgspec.json.decode(stored))


@lru_cache(maxsize=1024)
def _plan_limits(plan: str, stored: str) -> PlanLimits:
    return limits_for(plan, msgspec.json.decode(stored))
