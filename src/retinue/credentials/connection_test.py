"""Test of a credential at its service: a real connection with a timeout, outside any transaction."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec

from retinue.adapters import databases, logins
from retinue.credentials import destinations, metadata, token_refresh
from retinue.credentials.errors import CredentialUnusable, DestinationChanged, TokenNotRenewed
from retinue.credentials.events import CredentialTested
from retinue.credentials.kinds import validate_secrets, values_to_redact, with_defaults
from retinue.credentials.models import Credential, CredentialType
from retinue.credentials.queries import lock_credential
from retinue.credentials.schemas import CredentialTestResult, FailedTest
from retinue.credentials.sealed_secrets import decrypt_with_defaults
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.egress import Egress, EgressRefused, check_headers
from retinue.kit.errors import InternalError, RetinueError
from retinue.kit.json_types import JsonObject
from retinue.kit.secrets import Secret
from retinue.kit.text.redaction import Redactor

Checked = Literal["connection", "token", "format"]

_MAX_TEST_SECONDS = 15
# Shorter than the whole test, so that the attempt itself reports what took too long.
_ATTEMPT_TIMEOUT_SECONDS = 12


class CredentialRejected(InternalError):
    """The service rejected the credential. Check its secrets."""

    code = "auth_error"
    shown_in = "credential tests"


class UnexpectedResponse(InternalError):
    """The service returned an unexpected response."""

    code = "http_error"
    shown_in = "credential tests"


class _TestRun(msgspec.Struct, frozen=True):
    """A credential under test, with its secrets."""

    ctx: Context
    credential: Credential
    secrets: JsonObject
    known: metadata.KnownMetadata
    is_trial: bool = False
    """Whether the secrets are not those that are stored."""

    @property
    def egress(self) -> Egress:
        return self.ctx.adapter(Egress)

    def text(self, name: str) -> str:
        return self.secrets.get(name) or ""

    def secret(self, name: str) -> Secret:
        return Secret(self.text(name))


_Attempt = Callable[[_TestRun], Awaitable[str]]
"""Tests the credential and returns a message, or raises the failure."""


async def run_test(
    ctx: Context, credential: Credential, tried_secrets: JsonObject | None = None
) -> CredentialTestResult:
    """Test the credential, record the result and return it.

    Instead of the stored secrets, `tried_secrets` are sent where those may be sent; neither they nor the
    result are stored.
    """
    is_trial = tried_secrets is not None
    secrets = await _read_trial(ctx, credential, tried_secrets) if tried_secrets is not None else None
    if secrets is None:
        secrets = decrypt_with_defaults(ctx, credential)
    test_run = _TestRun(ctx, credential, secrets, metadata.known(credential.metadata), is_trial)
    redactor = Redactor(values_to_redact(credential.type, secrets))
    checked, attempt = _attempt_for(test_run)
    started = ctx.clock.monotonic()
    with redactor.guarding_logs():
        code, summary = await _run_attempt(test_run, attempt)
    latency_ms = round((ctx.clock.monotonic() - started) * 1000)
    message = redactor.text(summary)
    failure = FailedTest(code=code, message=message) if code else None
    return CredentialTestResult(
        success=failure is None,
        is_valid=failure is None,
        message=message,
        checked=checked,
        latency_ms=latency_ms,
        tested_at=await _record(ctx, credential, failure, is_trial=is_trial),
        error=failure,
    )


async def _run_attempt(test_run: _TestRun, attempt: _Attempt) -> tuple[str, str]:
    """Return the error code, empty on success, and a message."""
    try:
        if not test_run.is_trial and test_run.credential.is_expired(test_run.ctx.now):
            raise CredentialUnusable("This credential has expired.")
        async with asyncio.timeout(_MAX_TEST_SECONDS):
            return "", await attempt(test_run)
    except TimeoutError:
        return "timeout", "The service did not respond in time."
    except TokenNotRenewed as error:
        return error.reason, error.message
    except RetinueError as error:
        return error.code, error.message


async def _read_trial(ctx: Context, credential: Credential, secrets: JsonObject) -> JsonObject:
    """Return the secrets to try; raise `DestinationChanged` if they lead elsewhere than the stored ones."""
    validate_secrets(credential.type, secrets)
    before = decrypt_with_defaults(ctx, credential)
    after = with_defaults(credential.type, secrets)
    if destinations.changes_destination(credential.type, before, after):
        raise DestinationChanged
    return after


async def _record(
    ctx: Context, credential: Credential, failure: FailedTest | None, *, is_trial: bool
) -> Instant:
    """Record the result, unless other secrets were tried, or entered during the test."""
    async with ctx.unit() as unit:
        locked = await lock_credential(unit, credential.id)
        tested_at = unit.now
        if not is_trial and locked.version == credential.version:
            await unit.db.update(locked, is_valid=failure is None, last_tested_at=tested_at)
        event = CredentialTested.about(locked)
        unit.emit(event, success=failure is None, reason=failure.code if failure else None)
    return tested_at


def _attempt_for(test_run: _TestRun) -> tuple[Checked, _Attempt]:
    if test_run.credential.type in _SERVER_ATTEMPTS:
        return "connection", _SERVER_ATTEMPTS[test_run.credential.type]
    is_oauth = test_run.credential.type is CredentialType.oauth2
    # A token request would store the token that it gets.
    if is_oauth and not test_run.is_trial and token_refresh.grant_of(test_run.secrets):
        return "token", _renew_token
    if test_run.known.test_url and _login_headers(test_run):
        return "connection", _get_test_url
    return "format", _check_format


async def _check_format(_: _TestRun) -> str:
    """Succeed: the format was validated when the secrets were entered."""
    return "The format of the secrets is valid. There is no service to test them with."


async def _renew_token(test_run: _TestRun) -> str:
    await token_refresh.renew(test_run.ctx, test_run.credential.id, is_forced=True)
    return "A new access token was issued."


async def _get_test_url(test_run: _TestRun) -> str:
    url = test_run.known.test_url or ""
    if destinations.origin_of(url) not in test_run.credential.destinations:
        raise DestinationChanged
    headers = _login_headers(test_run)
    try:
        check_headers(headers)
    except EgressRefused:
        raise CredentialRejected("The secrets contain characters that are not allowed in a header.") from None
    async with test_run.egress.request(
        "GET", url, headers=headers, timeout_s=_ATTEMPT_TIMEOUT_SECONDS, require_https=True
    ) as response:
        status = response.status
    if status in {401, 403}:
        raise CredentialRejected(f"The test URL refused the credential (status {status}).")
    if not 200 <= status < 300:
        raise UnexpectedResponse(f"The test URL answered with status {status}.")
    return f"The test URL accepts the credential (status {status})."


def _login_headers(test_run: _TestRun) -> dict[str, str]:
    match test_run.credential.type:
        case CredentialType.api_key:
            return {test_run.known.header_name or "X-API-Key": test_run.text("api_key")}
        case CredentialType.bearer_token:
            return {"Authorization": f"Bearer {test_run.text('token')}"}
        case CredentialType.oauth2 if test_run.text("access_token"):
            return {"Authorization": f"Bearer {test_run.text('access_token')}"}
        case CredentialType.basic_auth:
            pair = f"{test_run.text('username')}:{test_run.text('password')}"
            return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    return {}


async def _ping_database(test_run: _TestRun) -> str:
    port = test_run.secrets.get("port")
    assumed = "mysql" if port == metadata.DATABASE_PORTS["mysql"] else "postgresql"
    spec = databases.ConnectionSpec(
        db_type=databases.find_db_type(test_run.known.db_type or assumed) or "postgresql",
        host=test_run.text("host"),
        port=port,
        database=test_run.text("database"),
        username=test_run.text("username"),
        password=test_run.secret("password"),
        tls=databases.tls_mode(ssl_mode=test_run.secrets.get("ssl_mode")),
    )
    await databases.ping(test_run.egress, spec, timeout_s=_ATTEMPT_TIMEOUT_SECONDS)
    return "The database accepts the login and answers."


async def _log_in_by_ssh(test_run: _TestRun) -> str:
    expected = test_run.text("host_key_fingerprint")
    checked = await logins.check_ssh(
        test_run.egress,
        host=test_run.text("host"),
        port=test_run.secrets["port"],
        username=test_run.text("username"),
        private_key=test_run.secret("private_key"),
        passphrase=test_run.secret("passphrase"),
        password=test_run.secret("password"),
        host_key_fingerprint=expected,
        timeout_s=_ATTEMPT_TIMEOUT_SECONDS,
    )
    summary = "The server accepts the login."
    if expected:
        return summary
    key = checked.host_key_fingerprint
    return f"{summary} Its key is {key}. Enter it as host_key_fingerprint to require it."


async def _log_in_to_mail(test_run: _TestRun) -> str:
    await logins.check_smtp(
        test_run.egress,
        host=test_run.text("host"),
        port=test_run.secrets["port"],
        username=test_run.text("username"),
        password=test_run.secret("password"),
        encryption=test_run.secrets["encryption"],
        timeout_s=_ATTEMPT_TIMEOUT_SECONDS,
    )
    return "The mail server accepts the login." if test_run.text("username") else "The mail server answers."


_SERVER_ATTEMPTS: dict[CredentialType, _Attempt] = {
    CredentialType.database: _ping_database,
    CredentialType.ssh: _log_in_by_ssh,
    CredentialType.smtp: _log_in_to_mail,
}
