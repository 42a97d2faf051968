"""The instance and its accounts: a sealed vault, a stuck worker, who waits, who was never used."""

import sqlalchemy as sa

from retinue.access.models import Role
from retinue.home.schemas import Need, NeedAction, NeedKind, NeedObject, NeedSeverity
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.users.email_addresses import normalize_email
from retinue.users.models import User, UserStatus

_MAX_COUNTED_ACCOUNTS = 100

_users = User.__table__
_WAITING_ACCOUNTS = Statement(
    sa.select(_users.c.id, _users.c.email, _users.c.created_at)
    .where(_users.c.is_pending.is_(True), _users.c.status == sa.literal(UserStatus.active.value))
    .order_by(_users.c.created_at)
    .limit(_MAX_COUNTED_ACCOUNTS)
)
# Whatever changes the account changes `updated_at`: a new password, a role, a deactivation.
_UNUSED_ADMINISTRATOR = Statement(
    sa.select(_users.c.id, _users.c.email, _users.c.created_at).where(
        _users.c.email == sa.bindparam("address"),
        _users.c.role == sa.literal(Role.super_admin.value),
        _users.c.status == sa.literal(UserStatus.active.value),
        _users.c.last_login_at.is_(None),
        _users.c.updated_at == _users.c.created_at,
    )
)


async def find_sealed_vault(ctx: Context) -> list[Need]:
    if not ctx.instance.vault.sealed_because:
        return []
    return [
        Need(
            kind=NeedKind.vault,
            severity=NeedSeverity.bad,
            title_code="vault_sealed",
            params={},
            object=NeedObject(type="vault", id="vault", name="Vault"),
            since=ctx.now,
            action=NeedAction.inspect,
        )
    ]


async def find_stuck_worker(ctx: Context) -> list[Need]:
    """Return the worker of this process if it stands still or all its jobs fail."""
    status = ctx.instance.worker_status()
    if status not in {"stalled", "failing"}:
        return []
    return [
        Need(
            kind=NeedKind.worker,
            severity=NeedSeverity.bad,
            title_code="worker_stuck",
            params={"status": status},
            object=NeedObject(type="worker", id="worker", name="Worker"),
            since=ctx.now,
            action=NeedAction.inspect,
        )
    ]


async def find_waiting_accounts(ctx: Context) -> list[Need]:
    """Return one need for all accounts that wait for approval, since the first of them registered."""
    rows = await ctx.db.rows(_WAITING_ACCOUNTS)
    if not rows:
        return []
    id, email, created_at = rows[0]
    return [
        Need(
            kind=NeedKind.account,
            severity=NeedSeverity.warn,
            title_code="accounts_waiting",
            params={"count": len(rows)},
            object=NeedObject(type="user", id=id, name=email),
            since=created_at,
            action=NeedAction.approve,
        )
    ]


async def find_unused_administrator(ctx: Context) -> list[Need]:
    """Return the administrator of the first start, whose password was printed, until somebody sees to it.

    Where the operator chose its password, nothing was printed.
    """
    if ctx.settings.admin_password:
        return []
    address = normalize_email(ctx.settings.admin_email)
    return [
        Need(
            kind=NeedKind.administrator,
            severity=NeedSeverity.warn,
            title_code="administrator_unused",
            params={"email": email},
            object=NeedObject(type="user", id=id, name=email),
            since=created_at,
            action=NeedAction.deactivate,
        )
        for id, email, created_at in await ctx.db.rows(_UNUSED_ADMINISTRATOR, address=address)
    ]
