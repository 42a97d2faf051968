"""Refused requests for tokens, recorded in the audit log of the account's tenant."""

import msgspec

from retinue.kit.context import Context
from retinue.service_accounts.events import TokenRefused
from retinue.service_accounts.job_kinds import RECORD_REFUSED_TOKEN, RefusedToken
from retinue.service_accounts.models import ServiceAccount

_MAX_ID_LENGTH = 64


async def enqueue_record(ctx: Context, client_id: str, error: str, reason: str) -> None:
    """Have a job record the refusal: doing it here would reveal by timing whether the account exists."""
    caller = ctx.caller
    refused = RefusedToken(client_id[:_MAX_ID_LENGTH], error, reason, caller.ip_address, caller.user_agent)
    async with ctx.unit() as unit:
        unit.defer(RECORD_REFUSED_TOKEN, refused)


async def record_refused_token(ctx: Context, payload: RefusedToken) -> None:
    system = ctx.system("the client id alone says whose it is")
    account = await system.find(ServiceAccount, id=payload.client_id)
    # Without an account there is no tenant whose audit log could tell of it; the server's log does.
    if account is None:
        return
    ctx.bind_tenant(account.tenant_id)
    ctx.caller = msgspec.structs.replace(
        ctx.caller, ip_address=payload.ip_address, user_agent=payload.user_agent
    )
    refused = TokenRefused(
        service_account_id=account.id, name=account.name, error=payload.error, reason=payload.reason
    )
    ctx.emit(refused, success=False)
