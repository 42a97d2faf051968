"""Logging in over SMTP: the greeting, the encryption asked for, and AUTH; no mail is sent."""

from contextlib import suppress
from typing import Literal, get_args

import aiosmtplib

from retinue.adapters.logins.errors import (
    LoginFailed,
    LoginNotConfigured,
    LoginRefused,
    LoginTimeout,
    LoginUnreachable,
)
from retinue.adapters.logins.reaching import pin
from retinue.adapters.mail.connecting import connect
from retinue.kit.egress import Egress
from retinue.kit.egress.tls import is_certificate_failure
from retinue.kit.errors import RetinueError
from retinue.kit.secrets import Secret

Encryption = Literal["none", "starttls", "tls"]

_GOODBYE_S = 1.0


async def log_in(
    egress: Egress, host: str, port: int, username: str, password: Secret, encryption: str
) -> None:
    """EHLO, and AUTH when there is a username."""
    if encryption not in get_args(Encryption):
        raise LoginNotConfigured(f"The encryption must be one of {', '.join(get_args(Encryption))}.")
    pinned = await pin(egress, host, port)
    client = None
    try:
        client = await connect(pinned, encryption)
        if username:
            await _authenticate(client, username, password)
        with suppress(aiosmtplib.SMTPException, OSError):
            await client.quit(timeout=_GOODBYE_S)
    except RetinueError:
        raise
    except Exception as error:  # noqa: BLE001 - a hostile server can make a library raise anything
        raise _translated(error) from None
    finally:
        if client is not None:
            client.close()


async def _authenticate(client: aiosmtplib.SMTP, username: str, password: Secret) -> None:
    if not client.supported_auth_methods:
        raise LoginRefused("The mail server offers no login, or none without encryption.")
    await client.login(username, password.reveal())


def _translated(error: Exception) -> LoginFailed:
    """Our error for one of aiosmtplib's, without the server's words: it may echo the login it refuses."""
    if isinstance(error, aiosmtplib.SMTPAuthenticationError):
        return LoginRefused(f"The mail server refused the login ({error.code}).")
    if isinstance(error, TimeoutError):
        return LoginTimeout()
    if isinstance(error, aiosmtplib.SMTPResponseException):
        return LoginUnreachable(f"The mail server answered {error.code}.")
    if is_certificate_failure(error):
        return LoginUnreachable("The mail server's certificate could not be verified.")
    if type(error) is aiosmtplib.SMTPException:
        return LoginUnreachable("The mail server does not offer the encryption that was asked for.")
    return LoginUnreachable("The mail server could not be used.")
