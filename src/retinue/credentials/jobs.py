"""What happens to credentials by themselves: tokens are renewed in time, and their end is announced."""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.credentials import refreshing
from retinue.credentials.errors import CredentialNotFound, TokenNotRenewed
from retinue.credentials.events import CredentialExpired, CredentialExpiring
from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import NoPayload, Retry, job

_BATCH = 500
_DAY_S = 24 * 3600
_RENEWED_BEFORE_S = 5 * 60
_RETRY_AFTER_S = 15 * 60
_GIVEN_UP_AFTER_S = _DAY_S
_ANNOUNCED_BEFORE_S = 7 * _DAY_S
_EXPIRING, _EXPIRED = "expiring", "expired"

_credentials = Credential.__table__
_not_over = sa.or_(_credentials.c.expires_at.is_(None), _credentials.c.expires_at > sa.bindparam("now"))
_rested = sa.or_(
    _credentials.c.refresh_failed_at.is_(None), _credentials.c.refresh_failed_at < sa.bindparam("rested")
)
_ENDING_TOKENS: Statement[Any] = Statement(
    sa.select(_credentials.c.tenant_id, _credentials.c.id)
    .where(
        _credentials.c.token_expires_at <= sa.bindparam("soon"),
        _credentials.c.token_expires_at > sa.bindparam("given_up"),
        _credentials.c.is_valid,
        _not_over,
        _rested,
    )
    .order_by(_credentials.c.token_expires_at)
    .limit(_BATCH)
)
_UNANNOUNCED: Statement[Any] = Statement(
    sa.select(_credentials.c.tenant_id, _credentials.c.id)
    .where(
        _credentials.c.expires_at <= sa.bindparam("soon"),
        sa.or_(
            _credentials.c.expiry_announced.is_(None),
            sa.and_(
                _credentials.c.expiry_announced == _EXPIRING, _credentials.c.expires_at <= sa.bindparam("now")
            ),
        ),
    )
    .order_by(_credentials.c.expires_at)
    .limit(_BATCH)
)


class TokenToRenew(msgspec.Struct):
    credential_id: str


@job(every_s=60, transactional=False)
async def renew_tokens(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001  a periodic job
    """Ask for a renewal of every token that ends soon; one that failed rests, and is given up after a day."""
    async with ctx.unit() as unit:
        ending = await unit.system("tokens end in every tenant").rows(
            _ENDING_TOKENS,
            now=unit.now,
            soon=unit.clock.ahead(_RENEWED_BEFORE_S),
            rested=unit.clock.ahead(-_RETRY_AFTER_S),
            given_up=unit.clock.ahead(-_GIVEN_UP_AFTER_S),
        )
    for tenant_id, credential_id in ending:
        async with ctx.unit() as unit:
            unit.act_in(tenant_id)
            unit.defer(renew_token, TokenToRenew(credential_id), dedupe_key=f"renew:{credential_id}")


@job(retry=Retry((0,)), transactional=False)
async def renew_token(ctx: Context, payload: TokenToRenew) -> None:
    """What goes wrong is recorded with the credential, and tried again by a later round."""
    try:
        await refreshing.renew(ctx, payload.credential_id, before_end_s=_RENEWED_BEFORE_S)
    except (TokenNotRenewed, CredentialNotFound):
        return


@job(every_s=300, transactional=False)
async def announce_expiries(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001  a periodic job
    """Say once that a credential expires within a week, and once that it has."""
    while True:
        async with ctx.unit() as unit:
            found = await unit.system("credentials expire in every tenant").rows(
                _UNANNOUNCED, now=unit.now, soon=unit.clock.ahead(_ANNOUNCED_BEFORE_S)
            )
        for tenant_id, credential_id in found:
            async with ctx.unit() as unit:
                unit.act_in(tenant_id)
                await _announce(unit, credential_id)
        if len(found) < _BATCH:
            return


async def _announce(ctx: Context, credential_id: str) -> None:
    held = await ctx.db.lock(Credential, credential_id)
    if held is None or held.expires_at is None or held.expires_at > ctx.clock.ahead(_ANNOUNCED_BEFORE_S):
        return
    stage = _EXPIRED if held.is_expired(ctx.now) else _EXPIRING
    if held.expiry_announced == stage:
        return
    await ctx.db.update(held, expiry_announced=stage)
    kind = CredentialExpired if stage == _EXPIRED else CredentialExpiring
    ctx.emit(kind.about(held, expires_at=held.expires_at))
