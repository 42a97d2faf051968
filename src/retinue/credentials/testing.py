"""Trying a credential at its counterpart: a real connection, within seconds, outside any transaction."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec

from retinue.adapters import databases, logins
from retinue.credentials import destinations, metadata, refreshing
from retinue.credentials.errors import CredentialUnusable, DestinationChanged, TokenNotRenewed
from retinue.credentials.events import CredentialTested
from retinue.credentials.kinds import hidden_values
from retinue.credentials.models import Credential, CredentialType
from retinue.credentials.queries import hold
from retinue.credentials.schemas import CredentialTestResult, FailedTest
from retinue.credentials.sealing import open_secrets
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.egress import Egress, EgressRefused, check_headers
from retinue.kit.errors import RetinueError
from retinue.kit.redaction import Redactor
from retinue.kit.secrets import Secret

Checked = Literal["connection", "token", "format"]

_LONGEST_S = 15
# Each attempt ends before the whole test does, so that it can say itself what took so long.
_ATTEMPT_S = 12


class Refused(RetinueError):
    """The counterpart does not accept the credential."""

    status, code = 502, "auth_error"


class Unexpected(RetinueError):
    """The counterpart does not answer as hoped for."""

    status, code = 502, "http_error"


class _Trial(msgspec.Struct, frozen=True):
    """A credential with its secrets at hand, on the way to its counterpart."""

    ctx: Context
    credential: Credential
    secrets: dict[str, Any]
    known: metadata.Known

    @property
    def egress(self) -> Egress:
        return self.ctx.adapter(Egress)

    def text(self, name: str) -> str:
        return self.secrets.get(name) or ""

    def secret(self, name: str) -> Secret:
        return Secret(self.text(name))


_Attempt = Callable[[_Trial], Awaitable[str]]
"""Tries the credential and says what worked, or raises what did not."""


async def test(ctx: Context, credential: Credential) -> CredentialTestResult:
    """Try the credential, and remember and tell what came of it."""
    secrets = open_secrets(ctx, credential)
    trial = _Trial(ctx, credential, secrets, metadata.known(credential.metadata))
    redactor = Redactor(hidden_values(credential.type, secrets))
    checked, attempt = _attempt_for(trial)
    began = ctx.clock.monotonic()
    with redactor.guarding_logs():
        code, said = await _tried(trial, attempt)
    latency_ms = round((ctx.clock.monotonic() - began) * 1000)
    message = redactor.text(said)
    failure = FailedTest(code=code, message=message) if code else None
    return CredentialTestResult(
        success=failure is None,
        is_valid=failure is None,
        message=message,
        checked=checked,
        latency_ms=latency_ms,
        tested_at=await _record(ctx, credential, failure),
        error=failure,
    )


async def _tried(trial: _Trial, attempt: _Attempt) -> tuple[str, str]:
    """The code of what went wrong, empty when nothing did, and what there is to say."""
    try:
        if trial.credential.is_expired(trial.ctx.now):
            raise CredentialUnusable("This credential has expired.")
        async with asyncio.timeout(_LONGEST_S):
            return "", await attempt(trial)
    except TimeoutError:
        return "timeout", "The counterpart did not answer in time."
    except TokenNotRenewed as error:
        return error.reason, error.message
    except RetinueError as error:
        return error.code, error.message


async def _record(ctx: Context, credential: Credential, failure: FailedTest | None) -> Instant:
    """What was found out counts for the secrets that were tried, not for others entered meanwhile."""
    async with ctx.unit() as unit:
        held = await hold(unit, credential.id)
        tested_at = unit.now
        if held.version == credential.version:
            await unit.db.update(held, is_valid=failure is None, last_tested_at=tested_at)
        event = CredentialTested.about(held)
        unit.emit(event, success=failure is None, reason=failure.code if failure else None)
    return tested_at


def _attempt_for(trial: _Trial) -> tuple[Checked, _Attempt]:
    if trial.credential.type in _SERVERS:
        return "connection", _SERVERS[trial.credential.type]
    if trial.credential.type is CredentialType.oauth2 and refreshing.grant_of(trial.secrets):
        return "token", _renew_token
    if trial.known.test_url and _login_headers(trial):
        return "connection", _get_test_url
    return "format", _nothing


async def _nothing(_: _Trial) -> str:
    """The form was checked when the secrets were entered."""
    return "The secrets have the right form; there is nothing to try them at."


async def _renew_token(trial: _Trial) -> str:
    await refreshing.renew(trial.ctx, trial.credential.id, is_forced=True)
    return "A new access token was issued."


async def _get_test_url(trial: _Trial) -> str:
    url = trial.known.test_url or ""
    if destinations.origin_of(url) not in trial.credential.destinations:
        raise DestinationChanged
    headers = _login_headers(trial)
    try:
        check_headers(headers)
    except EgressRefused:
        raise Refused("The secrets have characters that no header can carry.") from None
    async with trial.egress.request(
        "GET", url, headers=headers, timeout_s=_ATTEMPT_S, require_https=True
    ) as response:
        status = response.status
    if status in {401, 403}:
        raise Refused(f"The test URL refused the credential (status {status}).")
    if not 200 <= status < 300:
        raise Unexpected(f"The test URL answered with status {status}.")
    return f"The test URL accepts the credential (status {status})."


def _login_headers(trial: _Trial) -> dict[str, str]:
    match trial.credential.type:
        case CredentialType.api_key:
            return {trial.known.header_name or "X-API-Key": trial.text("api_key")}
        case CredentialType.bearer_token:
            return {"Authorization": f"Bearer {trial.text('token')}"}
        case CredentialType.oauth2 if trial.text("access_token"):
            return {"Authorization": f"Bearer {trial.text('access_token')}"}
        case CredentialType.basic_auth:
            pair = f"{trial.text('username')}:{trial.text('password')}"
            return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    return {}


async def _ping_database(trial: _Trial) -> str:
    port = trial.secrets.get("port")
    assumed = "mysql" if port == metadata.DATABASE_PORTS["mysql"] else "postgresql"
    spec = databases.ConnectionSpec(
        db_type=databases.find_db_type(trial.known.db_type or assumed) or "postgresql",
        host=trial.text("host"),
        port=port,
        database=trial.text("database"),
        username=trial.text("username"),
        password=trial.secret("password"),
        tls=databases.tls_mode(ssl_mode=trial.secrets.get("ssl_mode")),
    )
    await databases.ping(trial.egress, spec, timeout_s=_ATTEMPT_S)
    return "The database accepts the login and answers."


async def _log_in_by_ssh(trial: _Trial) -> str:
    expected = trial.text("host_key_fingerprint")
    checked = await logins.check_ssh(
        trial.egress,
        host=trial.text("host"),
        port=trial.secrets["port"],
        username=trial.text("username"),
        private_key=trial.secret("private_key"),
        passphrase=trial.secret("passphrase"),
        password=trial.secret("password"),
        host_key_fingerprint=expected,
        timeout_s=_ATTEMPT_S,
    )
    said = "The server accepts the login."
    if expected:
        return said
    return (
        f"{said} Its key is {checked.host_key_fingerprint}; enter it as host_key_fingerprint to insist on it."
    )


async def _log_in_to_mail(trial: _Trial) -> str:
    await logins.check_smtp(
        trial.egress,
        host=trial.text("host"),
        port=trial.secrets["port"],
        username=trial.text("username"),
        password=trial.secret("password"),
        encryption=trial.secrets["encryption"],
        timeout_s=_ATTEMPT_S,
    )
    return "The mail server accepts the login." if trial.text("username") else "The mail server answers."


_SERVERS: dict[CredentialType, _Attempt] = {
    CredentialType.database: _ping_database,
    CredentialType.ssh: _log_in_by_ssh,
    CredentialType.smtp: _log_in_to_mail,
}
