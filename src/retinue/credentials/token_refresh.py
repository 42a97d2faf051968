"""OAuth 2 access tokens, renewed before they expire and by one caller at a time.

A caller that finds a token due acquires a lease on the credential, requests a new token outside any
transaction, and stores it before it is used. Others wait and read the result. The lease of a process that
died expires.
"""

import asyncio
from typing import Any

import msgspec
import structlog

from retinue.adapters.oauth import OAuthFailed, OAuthToken, request_token
from retinue.credentials.errors import TokenNotRenewed
from retinue.credentials.events import CredentialRefreshed, CredentialRefreshFailed
from retinue.credentials.kinds import values_to_redact
from retinue.credentials.models import Credential, CredentialType
from retinue.credentials.queries import lock_credential
from retinue.credentials.sealed_secrets import decrypt_secrets, sealed_columns
from retinue.kit.clock import Instant, parse_instant
from retinue.kit.context import Context
from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.egress import Egress
from retinue.kit.json_types import JsonObject
from retinue.kit.secrets import Secret
from retinue.kit.text.redaction import Redactor

log = structlog.get_logger("retinue.credentials")

RENEW_BEFORE_SECONDS = 60
LEASE_SECONDS = 30
_REQUEST_TIMEOUT_SECONDS = 10
_WAIT_SECONDS = 12
_FAILURE_COOLDOWN_SECONDS = 10
# For servers that send no lifetime; most of them mean an hour.
_DEFAULT_LIFETIME_SECONDS = 3600
_STORE_RETRY_DELAYS = (0.2, 1, 3, 5)

_renewals: set[asyncio.Task[Credential]] = set()


class RefreshGrant(msgspec.Struct, frozen=True, kw_only=True):
    """The secrets that a new token is requested with."""

    token_url: str
    client_id: str
    client_secret: Secret | None
    refresh_token: Secret | None
    scopes: tuple[str, ...]

    def belongs_to(self, other: "RefreshGrant | None") -> bool:
        """Return whether a token requested with this grant fits the secrets of the other."""
        return other is not None and (self.token_url, self.client_id, self.refresh_token) == (
            other.token_url,
            other.client_id,
            other.refresh_token,
        )


def grant_of(secrets: JsonObject) -> RefreshGrant | None:
    """Return the grant that renews a token with these secrets, or None if they cannot."""
    texts = {name: secrets.get(name) or "" for name in ("client_id", "client_secret", "refresh_token")}
    is_client = bool(texts["client_id"] and texts["client_secret"])
    if not secrets.get("token_url") or not (texts["refresh_token"] or is_client):
        return None
    return RefreshGrant(
        token_url=secrets["token_url"],
        client_id=texts["client_id"],
        client_secret=Secret(texts["client_secret"]) if texts["client_secret"] else None,
        refresh_token=Secret(texts["refresh_token"]) if texts["refresh_token"] else None,
        scopes=tuple(secrets.get("scopes") or ()),
    )


def is_due(credential: Credential, now: Instant, before_end_s: float = RENEW_BEFORE_SECONDS) -> bool:
    """Return whether the access token expires within `before_end_s`; without a known expiry it is due.

    A token is used for at least half its lifetime, so that short-lived ones are not renewed by every call.
    """
    if credential.type is not CredentialType.oauth2 or "token_url" not in credential.secret_keys:
        return False
    if "access_token" not in credential.secret_keys or credential.token_expires_at is None:
        return True
    if credential.token_renewed_at is not None:
        lifetime = parse_instant(credential.token_expires_at) - parse_instant(credential.token_renewed_at)
        before_end_s = min(before_end_s, lifetime.total_seconds() / 2)
    remaining = parse_instant(credential.token_expires_at) - parse_instant(now)
    return remaining.total_seconds() <= before_end_s


async def ensure_fresh(ctx: Context, credential: Credential) -> Credential:
    """Return the credential with an access token that lasts for the next call."""
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
    ctx: Context, credential_id: str, *, before_end_s: float = RENEW_BEFORE_SECONDS, is_forced: bool = False
) -> Credential:
    """Return the credential with a new token if it was due or `is_forced`.

    No transaction may be open. If the caller is cancelled, the renewal continues: a token that the server
    has replaced already must not be lost.
    """
    loop = asyncio.get_running_loop()
    deadline, pause_s = loop.time() + _WAIT_SECONDS, 0.02
    while True:
        lease = await _acquire_lease(ctx, credential_id, before_end_s, is_forced=is_forced)
        if isinstance(lease, Credential):
            return lease
        if lease is not None:
            return await _run_shielded(_request_and_store(ctx, credential_id, lease))
        if loop.time() > deadline:
            message = "The renewal of the access token takes too long. Try again later."
            raise TokenNotRenewed(message, reason="timeout")
        await asyncio.sleep(pause_s)
        # After another caller's renewal any token that has not expired will do.
        before_end_s, pause_s = 0, min(pause_s * 2, 0.5)


class _Lease(msgspec.Struct, frozen=True):
    """An acquired lease: request a token with this grant, for secrets of this version."""

    grant: RefreshGrant
    version: int
    hidden: list[str]


async def _acquire_lease(
    ctx: Context, credential_id: str, before_end_s: float, *, is_forced: bool
) -> Credential | _Lease | None:
    """Return the credential if nothing is to be done, a lease, or None while another caller has it."""
    async with ctx.unit() as unit:
        locked = await lock_credential(unit, credential_id)
        if not is_forced and not is_due(locked, unit.now, before_end_s):
            return locked
        if locked.refresh_lease_until is not None and locked.refresh_lease_until > unit.now:
            return None
        cooldown_start = unit.clock.ahead(-_FAILURE_COOLDOWN_SECONDS)
        if (
            not is_forced
            and locked.refresh_failed_at is not None
            and locked.refresh_failed_at > cooldown_start
        ):
            raise TokenNotRenewed
        secrets = decrypt_secrets(unit, locked)
        grant = grant_of(secrets)
        if grant is None:
            return locked
        await unit.db.update(locked, refresh_lease_until=unit.clock.ahead(LEASE_SECONDS))
    return _Lease(grant, locked.version, values_to_redact(locked.type, secrets))


async def _run_shielded(work: Any) -> Credential:
    task: asyncio.Task[Credential] = asyncio.create_task(work)
    _renewals.add(task)
    task.add_done_callback(_on_done)
    return await asyncio.shield(task)


def _on_done(task: asyncio.Task[Credential]) -> None:
    """Retrieve the exception, which is recorded already, so that asyncio does not log it as unhandled."""
    _renewals.discard(task)
    if not task.cancelled():
        task.exception()


async def _request_and_store(ctx: Context, credential_id: str, lease: _Lease) -> Credential:
    grant = lease.grant
    try:
        token = await request_token(
            ctx.adapter(Egress),
            token_url=grant.token_url,
            client_id=grant.client_id,
            client_secret=grant.client_secret,
            grant="refresh_token" if grant.refresh_token else "client_credentials",
            refresh_token=grant.refresh_token,
            scopes=grant.scopes,
            timeout_s=_REQUEST_TIMEOUT_SECONDS,
        )
    except OAuthFailed as failed:
        await _record_failure(ctx, credential_id, lease, failed)
        message = Redactor(lease.hidden).text(failed.message)
        raise TokenNotRenewed(message, reason=failed.kind) from None
    return await _store_with_retries(ctx, credential_id, lease, token)


async def _record_failure(ctx: Context, credential_id: str, lease: _Lease, failed: OAuthFailed) -> None:
    async with ctx.unit() as unit:
        locked = await lock_credential(unit, credential_id)
        is_same = locked.version == lease.version
        await unit.db.update(
            locked,
            refresh_lease_until=None,
            refresh_failed_at=unit.now if is_same else None,
            is_valid=locked.is_valid and not (is_same and failed.permanent),
        )
        unit.emit(CredentialRefreshFailed.about(locked), success=False, reason=failed.kind)


async def _store_with_retries(
    ctx: Context, credential_id: str, lease: _Lease, token: OAuthToken
) -> Credential:
    """Store the token; wait for an unavailable database, because the old token may be invalid already."""
    for pause_s in _STORE_RETRY_DELAYS:
        try:
            return await _store_token(ctx, credential_id, lease, token)
        except DatabaseUnavailable:
            log.warning("renewed_token_not_stored", credential_id=credential_id)
            await asyncio.sleep(pause_s)
    return await _store_token(ctx, credential_id, lease, token)


async def _store_token(ctx: Context, credential_id: str, lease: _Lease, token: OAuthToken) -> Credential:
    async with ctx.unit() as unit:
        locked = await lock_credential(unit, credential_id)
        secrets = decrypt_secrets(unit, locked)
        if not lease.grant.belongs_to(grant_of(secrets)):
            # Other secrets were entered meanwhile, and the token does not fit them.
            return await unit.db.update(locked, refresh_lease_until=None)
        secrets["access_token"] = token.access_token.reveal()
        if token.refresh_token is not None:
            secrets["refresh_token"] = token.refresh_token.reveal()
        is_same = locked.version == lease.version
        await unit.db.update(
            locked,
            **sealed_columns(secrets),
            token_expires_at=unit.clock.ahead(token.expires_in_s or _DEFAULT_LIFETIME_SECONDS)
            if is_same
            else None,
            token_renewed_at=unit.now,
            refresh_lease_until=None,
            refresh_failed_at=None,
            is_valid=True,
        )
        unit.emit(CredentialRefreshed.about(locked))
    return locked
