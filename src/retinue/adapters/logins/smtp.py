"""An SMTP login: greeting, encryption and AUTH; no mail is sent."""

from contextlib import suppress
from typing import Literal, get_args

import aiosmtplib

from retinue.adapters.logins.connections import pin
from retinue.adapters.logins.errors import (
    LoginCheckFailed,
    LoginNotConfigured,
    LoginRefused,
    LoginTimeout,
    LoginUnreachable,
)
from retinue.adapters.mail.smtp_connection import connect
from retinue.kit.egress import Egress
from retinue.kit.egress.tls import is_certificate_failure
from retinue.kit.errors import RetinueError
from retinue.kit.secrets import Secret

Encryption = Literal["none", "starttls", "tls"]

_QUIT_TIMEOUT_SECONDS = 1.0


async def log_in(
    egress: Egress, host: str, port: int, username: str, password: Secret, encryption: str
) -> None:
    """Send EHLO, and AUTH if there is a username."""
    if encryption not in get_args(Encryption):
        raise LoginNotConfigured(f"The encryption must be one of {', '.join(get_args(Encryption))}.")
    pinned = await pin(egress, host, port)
    client = None
    try:
        client = await connect(pinned, encryption)
        if username:
            await _authenticate(client, username, password)
        with suppress(aiosmtplib.SMTPException, OSError):
            await client.quit(timeout=_QUIT_TIMEOUT_SECONDS)
    except RetinueError:
        raise
    except Exception as error:  # noqa: BLE001 - a hostile server can make the library raise anything
        raise _translate_error(error) from None
    finally:
        if client is not None:
            client.close()


async def _authenticate(client: aiosmtplib.SMTP, username: str, password: Secret) -> None:
    if not client.supported_auth_methods:
        raise LoginRefused("The mail server does not support logging in, or only with encryption.")
    await client.login(username, password.reveal())


def _translate_error(error: Exception) -> LoginCheckFailed:
    """Return our error without the server's text, which may echo the rejected login."""
    if isinstance(error, aiosmtplib.SMTPAuthenticationError):
        return LoginRefused(f"The mail server rejected the login ({error.code}).")
    if isinstance(error, TimeoutError):
        return LoginTimeout()
    if isinstance(error, aiosmtplib.SMTPResponseException):
        return LoginUnreachable(f"The mail server responded with {error.code}.")
    if is_certificate_failure(error):
        return LoginUnreachable("The mail server's certificate could not be verified.")
    if type(error) is aiosmtplib.SMTPException:
        return LoginUnreachable("The mail server does not support the requested encryption.")
    return LoginUnreachable("The mail server could not be used.")
