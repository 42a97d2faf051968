"""Periodic jobs: renew access tokens in time, and announce the expiry of credentials."""

import sqlalchemy as sa

from retinue.credentials import token_refresh
from retinue.credentials.errors import CredentialNotFound, TokenNotRenewed
from retinue.credentials.events import CredentialExpired, CredentialExpiring
from retinue.credentials.job_kinds import RENEW_TOKEN, TokenToRenew
from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import implement, periodic

_BATCH_SIZE = 500
_DAY_SECONDS = 24 * 3600
_RENEW_BEFORE_SECONDS = 5 * 60
_RETRY_AFTER_SECONDS = 15 * 60
_GIVE_UP_AFTER_SECONDS = _DAY_SECONDS
_ANNOUNCE_BEFORE_SECONDS = 7 * _DAY_SECONDS
_EXPIRING, _EXPIRED = "expiring", "expired"

_credentials = Credential.__table__
_is_unexpired = sa.or_(_credentials.c.expires_at.is_(None), _credentials.c.expires_at > sa.bindparam("now"))
_is_past_cooldown = sa.or_(
    _credentials.c.refresh_failed_at.is_(None), _credentials.c.refresh_failed_at < sa.bindparam("rested")
)
_ENDING_TOKENS = Statement(
    sa.select(_credentials.c.tenant_id, _credentials.c.id)
    .where(
        _credentials.c.token_expires_at <= sa.bindparam("soon"),
        _credentials.c.token_expires_at > sa.bindparam("given_up"),
        _credentials.c.is_valid,
        _is_unexpired,
        _is_past_cooldown,
    )
    .order_by(_credentials.c.token_expires_at)
    .limit(_BATCH_SIZE)
)
_UNANNOUNCED = Statement(
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
    .limit(_BATCH_SIZE)
)


async def renew_tokens(ctx: Context) -> None:
    """Enqueue the renewal of tokens that expire soon; failed ones wait, and are given up after a day."""
    async with ctx.unit() as unit:
        ending = await unit.system("tokens end in every tenant").rows(
            _ENDING_TOKENS,
            now=unit.now,
            soon=unit.clock.ahead(_RENEW_BEFORE_SECONDS),
            rested=unit.clock.ahead(-_RETRY_AFTER_SECONDS),
            given_up=unit.clock.ahead(-_GIVE_UP_AFTER_SECONDS),
        )
    for tenant_id, credential_id in ending:
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            unit.defer(RENEW_TOKEN, TokenToRenew(credential_id), dedupe_key=f"renew:{credential_id}")


async def renew_token(ctx: Context, payload: TokenToRenew) -> None:
    """Renew one token; a failure is recorded with the credential, and a later run retries it."""
    try:
        await token_refresh.renew(ctx, payload.credential_id, before_end_s=_RENEW_BEFORE_SECONDS)
    except (TokenNotRenewed, CredentialNotFound):
        return


async def announce_expiries(ctx: Context) -> None:
    """Emit one event when a credential expires within a week, and one when it has expired."""
    while True:
        async with ctx.unit() as unit:
            found = await unit.system("credentials expire in every tenant").rows(
                _UNANNOUNCED, now=unit.now, soon=unit.clock.ahead(_ANNOUNCE_BEFORE_SECONDS)
            )
        for tenant_id, credential_id in found:
            async with ctx.unit() as unit:
                unit.bind_tenant(tenant_id)
                await _announce(unit, credential_id)
        if len(found) < _BATCH_SIZE:
            return


async def _announce(ctx: Context, credential_id: str) -> None:
    locked = await ctx.db.lock(Credential, credential_id)
    if (
        locked is None
        or locked.expires_at is None
        or locked.expires_at > ctx.clock.ahead(_ANNOUNCE_BEFORE_SECONDS)
    ):
        return
    stage = _EXPIRED if locked.is_expired(ctx.now) else _EXPIRING
    if locked.expiry_announced == stage:
        return
    await ctx.db.update(locked, expiry_announced=stage)
    kind = CredentialExpired if stage == _EXPIRED else CredentialExpiring
    ctx.emit(kind.about(locked, expires_at=locked.expires_at))


JOBS = (
    periodic("credentials.renew_tokens", renew_tokens, every_s=60, transactional=False),
    implement(RENEW_TOKEN, renew_token, transactional=False),
    periodic(
        "credentials.announce_expiries",
        announce_expiries,
        every_s=300,
        transactional=False,
    ),
)
