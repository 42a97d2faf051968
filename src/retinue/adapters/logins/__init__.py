"""Tests of SSH and SMTP logins by logging in."""

import asyncio
from contextlib import AbstractAsyncContextManager

import msgspec

from retinue.adapters.logins.errors import (
    HostKeyMismatch,
    LoginCheckFailed,
    LoginNotConfigured,
    LoginRefused,
    LoginTimeout,
    LoginUnreachable,
)
from retinue.kit.egress import Egress
from retinue.kit.extras import require_extra
from retinue.kit.secrets import Secret
from retinue.kit.time_limit import time_limit

__all__ = [
    "HostKeyMismatch",
    "LoginCheckFailed",
    "LoginCheckResult",
    "LoginNotConfigured",
    "LoginRefused",
    "LoginTimeout",
    "LoginUnreachable",
    "check_smtp",
    "check_ssh",
]

_NO_SECRET = Secret("")


class LoginCheckResult(msgspec.Struct, frozen=True):
    """A successful login; `host_key_fingerprint` is set for SSH servers."""

    latency_ms: int
    host_key_fingerprint: str | None = None


async def check_ssh(
    egress: Egress,
    *,
    host: str,
    port: int = 22,
    username: str,
    private_key: Secret = _NO_SECRET,
    passphrase: Secret = _NO_SECRET,
    password: Secret = _NO_SECRET,
    host_key_fingerprint: str = "",
    timeout_s: float,
) -> LoginCheckResult:
    """Exchange keys, compare the host key with the expected one, if any, and log in."""
    require_extra("ssh", LoginNotConfigured)
    from retinue.adapters.logins import ssh

    started = _now()
    async with _time_limit(timeout_s):
        fingerprint = await ssh.log_in(
            egress,
            host,
            port,
            username,
            private_key=private_key,
            passphrase=passphrase,
            password=password,
            host_key_fingerprint=host_key_fingerprint,
        )
    return LoginCheckResult(_milliseconds_since(started), fingerprint)


async def check_smtp(
    egress: Egress,
    *,
    host: str,
    port: int = 587,
    username: str = "",
    password: Secret = _NO_SECRET,
    encryption: str = "starttls",
    timeout_s: float,
) -> LoginCheckResult:
    """Greet the server, encrypt as requested (none, starttls, tls), and log in if there is a username."""
    from retinue.adapters.logins import smtp

    started = _now()
    async with _time_limit(timeout_s):
        await smtp.log_in(egress, host, port, username, password, encryption)
    return LoginCheckResult(_milliseconds_since(started))


def _now() -> float:
    return asyncio.get_running_loop().time()


def _milliseconds_since(started: float) -> int:
    return round((_now() - started) * 1000)


def _time_limit(timeout_s: float) -> AbstractAsyncContextManager[None]:
    return time_limit(timeout_s, LoginTimeout(f"The server did not respond within {timeout_s:g} seconds."))
