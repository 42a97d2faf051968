"""Refused requests for tokens, counted in the audit log of the account's tenant.

A chain of audit rows cannot change a row, so an attack must not add one for each attempt: an account has at
most one row per reason and hour, which stands for all refusals since the row before.
"""

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.principal import SYSTEM
from retinue.service_accounts.events import TokenRefused
from retinue.service_accounts.job_kinds import (
    RECORD_LAST_REFUSALS,
    RECORD_REFUSED_TOKEN,
    CountedRefusals,
    RefusedToken,
)
from retinue.service_accounts.models import ServiceAccount, TokenRefusals

_MAX_ID_LENGTH = 64
_HOUR_LENGTH = len("2026-11-15T08")

_refusals = TokenRefusals.__table__
_DUE = Statement(
    sa.select(_refusals.c.tenant_id, _refusals.c.account_id, _refusals.c.id)
    .where(_refusals.c.count > 0, _refusals.c.hour < sa.bindparam("hour"))
    .order_by(_refusals.c.tenant_id, _refusals.c.id)
)


async def enqueue_record(ctx: Context, client_id: str, error: str, reason: str) -> None:
    """Have a job record the refusal: doing it here would reveal by timing whether the account exists."""
    caller = ctx.caller
    refused = RefusedToken(client_id[:_MAX_ID_LENGTH], error, reason, caller.ip_address, caller.user_agent)
    async with ctx.unit() as unit:
        unit.defer(RECORD_REFUSED_TOKEN, refused)


async def record_refused_token(ctx: Context, payload: RefusedToken) -> None:
    """Count a refusal; the first one of an hour is written to the audit log at once."""
    system = ctx.system("the client id alone says whose it is")
    account = await system.find(ServiceAccount, id=payload.client_id)
    # Without an account there is no tenant whose audit log could tell of it; the server's log does.
    if account is None:
        return
    ctx.bind_tenant(account.tenant_id)
    # Lock order: the account first, as everywhere; it may be deleted at this moment.
    locked = await ctx.db.lock(ServiceAccount, account.id)
    if locked is None:
        return
    counted = await _find_or_begin(ctx, locked, payload)
    await ctx.db.update(
        counted,
        count=counted.count + 1,
        since=counted.since or ctx.now,
        ip_address=payload.ip_address,
        user_agent=payload.user_agent,
    )
    if counted.hour < _hour(ctx.now):
        await _write_row(ctx, locked, counted)


async def _find_or_begin(ctx: Context, account: ServiceAccount, payload: RefusedToken) -> TokenRefusals:
    found = await ctx.db.find(TokenRefusals, account_id=account.id, reason=payload.reason)
    if found is None:
        return await ctx.db.insert(
            TokenRefusals(account_id=account.id, error=payload.error, reason=payload.reason)
        )
    return found


async def record_rest(ctx: Context) -> None:
    """Write the audit rows of hours that are over, so that an attack that stopped is counted in full."""
    async with ctx.unit() as unit:
        system = unit.system("every tenant's refusals are recorded")
        due = await system.rows(_DUE, hour=_hour(ctx.now))
    for tenant_id, account_id, refusals_id in due:
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            account = await unit.db.lock(ServiceAccount, account_id)
            # Read under the account's lock: a refusal may have written the row meanwhile.
            counted = await unit.db.get(TokenRefusals, refusals_id)
            if account and counted and counted.count and counted.hour < _hour(unit.now):
                await _write_row(unit, account, counted)


async def enqueue_last_record(ctx: Context, account: ServiceAccount) -> None:
    """Have a job record what is counted of a locked account that is about to be deleted.

    A row that is written here would name whoever deletes the account as the one who was refused.
    """
    for counted in await ctx.db.all(TokenRefusals, account_id=account.id):
        if counted.count:
            ctx.defer(RECORD_LAST_REFUSALS, _counted_refusals(account, counted))


async def record_last_refusals(ctx: Context, payload: CountedRefusals) -> None:
    """Write the audit row; the one who deleted the account caused this job, but no refusal."""
    ctx.caller = msgspec.structs.replace(ctx.caller, actor={"type": SYSTEM.kind, "id": SYSTEM.id})
    _emit_refused(ctx, payload)


async def _write_row(ctx: Context, account: ServiceAccount, counted: TokenRefusals) -> None:
    """Write an audit row for everything counted, and begin to count again."""
    _emit_refused(ctx, _counted_refusals(account, counted))
    await ctx.db.update(counted, hour=_hour(ctx.now), count=0, since="")


def _counted_refusals(account: ServiceAccount, counted: TokenRefusals) -> CountedRefusals:
    return CountedRefusals(
        account_id=account.id,
        name=account.name,
        error=counted.error,
        reason=counted.reason,
        count=counted.count,
        since=counted.since,
        ip_address=counted.ip_address,
        user_agent=counted.user_agent,
    )


def _emit_refused(ctx: Context, refusals: CountedRefusals) -> None:
    """Emit the event in the name of the last caller, who is nobody we know but has an address."""
    ctx.caller = msgspec.structs.replace(
        ctx.caller, ip_address=refusals.ip_address, user_agent=refusals.user_agent
    )
    refused = TokenRefused(
        service_account_id=refusals.account_id,
        name=refusals.name,
        error=refusals.error,
        reason=refusals.reason,
        count=refusals.count,
        since=refusals.since,
    )
    ctx.emit(refused, success=False)


def _hour(now: Instant) -> str:
    return now[:_HOUR_LENGTH]
