"""OAuth 2 access tokens, renewed before they end and by one caller at a time.

Whoever finds a token due takes a lease on the credential, asks for a new one without a transaction, and
stores it before anyone uses it. The others wait and read what came of it. The lease of a process that died
runs out.
"""

import asyncio
from typing import Any

import msgspec
import structlog

from retinue.adapters.oauth import OAuthFailed, Token, request_token
from retinue.credentials.errors import TokenNotRenewed
from retinue.credentials.events import CredentialRefreshed, CredentialRefreshFailed
from retinue.credentials.kinds import hidden_values
from retinue.credentials.models import Credential, CredentialType
from retinue.credentials.queries import hold
from retinue.credentials.sealing import sealed, stored_secrets
from retinue.kit.clock import Instant, moment
from retinue.kit.context import Context
from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.egress import Egress
from retinue.kit.redaction import Redactor
from retinue.kit.secrets import Secret

log = structlog.get_logger("retinue.credentials")

BEFORE_END_S = 60
LEASE_S = 30
_ANSWER_S = 10
_PATIENCE_S = 12
_QUIET_AFTER_FAILURE_S = 10
# A server that does not say how long a token lives mostly means an hour.
_USUAL_LIFE_S = 3600
_STORING_PAUSES_S = (0.2, 1, 3, 5)

_running: set[asyncio.Task[Credential]] = set()


class Grant(msgspec.Struct, frozen=True, kw_only=True):
    """What a new token is asked for with."""

    token_url: str
    client_id: str
    client_secret: Secret | None
    refresh_token: Secret | None
    scopes: tuple[str, ...]

    def continues(self, other: "Grant | None") -> bool:
        """Whether a token got with this one belongs to the secrets that the other was made of."""
        return other is not None and (self.token_url, self.client_id, self.refresh_token) == (
            other.token_url,
            other.client_id,
            other.refresh_token,
        )


def grant_of(secrets: dict[str, Any]) -> Grant | None:
    """How a token can be renewed with these secrets; None where it cannot."""
    texts = {name: secrets.get(name) or "" for name in ("client_id", "client_secret", "refresh_token")}
    is_client = bool(texts["client_id"] and texts["client_secret"])
    if not secrets.get("token_url") or not (texts["refresh_token"] or is_client):
        return None
    return Grant(
        token_url=secrets["token_url"],
        client_id=texts["client_id"],
        client_secret=Secret(texts["client_secret"]) if texts["client_secret"] else None,
        refresh_token=Secret(texts["refresh_token"]) if texts["refresh_token"] else None,
        scopes=tuple(secrets.get("scopes") or ()),
    )


def is_due(credential: Credential, now: Instant, before_end_s: float = BEFORE_END_S) -> bool:
    """Whether no access token lasts that much longer; one whose end is not known is due.

    A token of a short life is good for half of it, or everyone who comes would renew it again.
    """
    if credential.type is not CredentialType.oauth2 or "token_url" not in credential.secret_keys:
        return False
    if "access_token" not in credential.secret_keys or credential.token_expires_at is None:
        return True
    if credential.token_renewed_at is not None:
        life = moment(credential.token_expires_at) - moment(credential.token_renewed_at)
        before_end_s = min(before_end_s, life.total_seconds() / 2)
    left = moment(credential.token_expires_at) - moment(now)
    return left.total_seconds() <= before_end_s


async def current(ctx: Context, credential: Credential) -> Credential:
    """The credential with an access token that will last for the call at hand."""
    if not is_due(credential, ctx.now):
        return credential
    try:
        return await renew(ctx, credential.id)
    except TokenNotRenewed:
        ends_at = credential.token_expires_at
        if "access_token" in credential.secret_keys and (ends_at is None or ends_at > ctx.now):
            return credential
        raise


async def renew(
    ctx: Context, credential_id: str, *, before_end_s: float = BEFORE_END_S, is_forced: bool = False
) -> Credential:
    """The credential with a new token if it was due, or in any case if that is forced.

    No transaction may be open. Whoever is cancelled here leaves the renewal running: a token that the
    server has replaced already must not be lost.
    """
    loop = asyncio.get_running_loop()
    give_up_at, pause_s = loop.time() + _PATIENCE_S, 0.02
    while True:
        turn = await _take_turn(ctx, credential_id, before_end_s, is_forced=is_forced)
        if isinstance(turn, Credential):
            return turn
        if turn is not None:
            return await _unbroken(_renewed(ctx, credential_id, turn))
        if loop.time() > give_up_at:
            message = "The access token is being renewed, and that takes too long."
            raise TokenNotRenewed(message, reason="timeout")
        await asyncio.sleep(pause_s)
        # After another's turn any token that still lives is good, however short its life.
        before_end_s, pause_s = 0, min(pause_s * 2, 0.5)


class _Turn(msgspec.Struct, frozen=True):
    """The lease is ours: ask with this grant for secrets of this version."""

    grant: Grant
    version: int
    hidden: list[str]


async def _take_turn(
    ctx: Context, credential_id: str, before_end_s: float, *, is_forced: bool
) -> Credential | _Turn | None:
    """The credential if there is nothing to do, our turn, or None while it is another's."""
    async with ctx.unit() as unit:
        held = await hold(unit, credential_id)
        if not is_forced and not is_due(held, unit.now, before_end_s):
            return held
        if held.refresh_lease_until is not None and held.refresh_lease_until > unit.now:
            return None
        lately = unit.clock.ahead(-_QUIET_AFTER_FAILURE_S)
        if not is_forced and held.refresh_failed_at is not None and held.refresh_failed_at > lately:
            raise TokenNotRenewed
        secrets = stored_secrets(unit, held)
        grant = grant_of(secrets)
        if grant is None:
            return held
        await unit.db.update(held, refresh_lease_until=unit.clock.ahead(LEASE_S))
    return _Turn(grant, held.version, hidden_values(held.type, secrets))


async def _unbroken(work: Any) -> Credential:
    task: asyncio.Task[Credential] = asyncio.create_task(work)
    _running.add(task)
    task.add_done_callback(_ended)
    return await asyncio.shield(task)


def _ended(task: asyncio.Task[Credential]) -> None:
    """Nobody may be left to hear of the error, which is recorded where it happened."""
    _running.discard(task)
    if not task.cancelled():
        task.exception()


async def _renewed(ctx: Context, credential_id: str, turn: _Turn) -> Credential:
    grant = turn.grant
    try:
        token = await request_token(
            ctx.adapter(Egress),
            token_url=grant.token_url,
            client_id=grant.client_id,
            client_secret=grant.client_secret,
            grant="refresh_token" if grant.refresh_token else "client_credentials",
            refresh_token=grant.refresh_token,
            scopes=grant.scopes,
            timeout_s=_ANSWER_S,
        )
    except OAuthFailed as failed:
        await _record_failure(ctx, credential_id, turn, failed)
        message = Redactor(turn.hidden).text(failed.message)
        raise TokenNotRenewed(message, reason=failed.kind) from None
    return await _stored(ctx, credential_id, turn, token)


async def _record_failure(ctx: Context, credential_id: str, turn: _Turn, failed: OAuthFailed) -> None:
    async with ctx.unit() as unit:
        held = await hold(unit, credential_id)
        is_same = held.version == turn.version
        await unit.db.update(
            held,
            refresh_lease_until=None,
            refresh_failed_at=unit.now if is_same else None,
            is_valid=held.is_valid and not (is_same and failed.permanent),
        )
        unit.emit(CredentialRefreshFailed.about(held), success=False, reason=failed.kind)


async def _stored(ctx: Context, credential_id: str, turn: _Turn, token: Token) -> Credential:
    """The server may have ended the old token by now, so a database that is away is waited for."""
    for pause_s in _STORING_PAUSES_S:
        try:
            return await _store(ctx, credential_id, turn, token)
        except DatabaseUnavailable:
            log.warning("a renewed token waits for the database", credential_id=credential_id)
            await asyncio.sleep(pause_s)
    return await _store(ctx, credential_id, turn, token)


async def _store(ctx: Context, credential_id: str, turn: _Turn, token: Token) -> Credential:
    async with ctx.unit() as unit:
        held = await hold(unit, credential_id)
        secrets = stored_secrets(unit, held)
        if not turn.grant.continues(grant_of(secrets)):
            # Other secrets were entered meanwhile, and this token is not theirs.
            return await unit.db.update(held, refresh_lease_until=None)
        secrets["access_token"] = token.access_token.reveal()
        if token.refresh_token is not None:
            secrets["refresh_token"] = token.refresh_token.reveal()
        is_same = held.version == turn.version
        await unit.db.update(
            held,
            **sealed(secrets),
            token_expires_at=unit.clock.ahead(token.expires_in_s or _USUAL_LIFE_S) if is_same else None,
            token_renewed_at=unit.now,
            refresh_lease_until=None,
            refresh_failed_at=None,
            is_valid=True,
        )
        unit.emit(CredentialRefreshed.about(held))
    return held
