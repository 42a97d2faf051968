"""Whether a login really works, found out by logging in: over SSH and over SMTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from retinue.adapters.logins.errors import (
    HostKeyMismatch,
    LoginFailed,
    LoginNotConfigured,
    LoginRefused,
    LoginTimeout,
    LoginUnreachable,
)
from retinue.kit.egress import Egress
from retinue.kit.secrets import Secret

__all__ = [
    "HostKeyMismatch",
    "LoginChecked",
    "LoginFailed",
    "LoginNotConfigured",
    "LoginRefused",
    "LoginTimeout",
    "LoginUnreachable",
    "check_smtp",
    "check_ssh",
]

_NOTHING = Secret("")


class LoginChecked(msgspec.Struct, frozen=True):
    """A login that worked; `host_key_fingerprint` is that of an SSH server."""

    latency_ms: int
    host_key_fingerprint: str | None = None


async def check_ssh(
    egress: Egress,
    *,
    host: str,
    port: int = 22,
    username: str,
    private_key: Secret = _NOTHING,
    passphrase: Secret = _NOTHING,
    password: Secret = _NOTHING,
    host_key_fingerprint: str = "",
    timeout_s: float,
) -> LoginChecked:
    """Exchange keys, compare the host's key with the expected one if there is one, and log in."""
    from retinue.adapters.logins import ssh

    started = _now()
    async with _time_limit(timeout_s):
        seen = await ssh.log_in(
            egress,
            host,
            port,
            username,
            private_key=private_key,
            passphrase=passphrase,
            password=password,
            host_key_fingerprint=host_key_fingerprint,
        )
    return LoginChecked(_milliseconds_since(started), seen)


async def check_smtp(
    egress: Egress,
    *,
    host: str,
    port: int = 587,
    username: str = "",
    password: Secret = _NOTHING,
    encryption: str = "starttls",
    timeout_s: float,
) -> LoginChecked:
    """Say hello, encrypt as `encryption` says (none, starttls, tls), and log in when there is a username."""
    from retinue.adapters.logins import smtp

    started = _now()
    async with _time_limit(timeout_s):
        await smtp.log_in(egress, host, port, username, password, encryption)
    return LoginChecked(_milliseconds_since(started))


def _now() -> float:
    return asyncio.get_running_loop().time()


def _milliseconds_since(started: float) -> int:
    return round((_now() - started) * 1000)


@asynccontextmanager
async def _time_limit(timeout_s: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError:
        raise LoginTimeout(f"The server did not answer within {timeout_s:g} seconds.") from None
