"""Mail through SMTP, one connection per mail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from retinue.adapters.mail.message import Mail, MailFailed, Sender, build_mime_message, parse_recipient
from retinue.kit.clock import Clock
from retinue.kit.connection_faults import describe_fault
from retinue.kit.egress.tls import is_certificate_failure
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting, is_loopback

if TYPE_CHECKING:
    from aiosmtplib import SMTP

_PORTS = {"smtp": 587, "smtps": 465}
_LOGIN_REQUIRED = 530


class SmtpMailer:
    """Sends through the server of an `smtp://user:password@host:port` or `smtps://…` address."""

    def __init__(self, url: Secret, sender: str, clock: Clock, *, timeout_s: float = 15.0) -> None:
        try:
            parts = urlsplit(url.reveal())
            self._host, port = parts.hostname or "", parts.port
        except ValueError:
            parts, self._host, port = urlsplit(""), "", None
        if (
            parts.scheme not in _PORTS
            or not self._host
            or parts.path.strip("/")
            or parts.query
            or parts.fragment
        ):
            raise BadSetting(
                "RETINUE_SMTP_URL must be smtp://user:password@host:port or smtps://…, "
                "with special characters of the password percent-encoded"
            )
        self._port = port or _PORTS[parts.scheme]
        self._tls_first = parts.scheme == "smtps"
        self._user = unquote(parts.username or "")
        self._password = Secret(unquote(parts.password or ""))
        self._sender = Sender.parse(sender)
        self._clock = clock
        self._timeout_s = timeout_s

    async def send(self, mail: Mail) -> None:
        message = build_mime_message(mail, self._sender, self._clock)
        async with self._session() as client:
            await client.send_message(
                message, sender=self._sender.address, recipients=[parse_recipient(mail.to)]
            )

    async def check_login(self) -> None:
        """Connect and sign in without sending anything; raise `MailFailed` with the reason otherwise."""
        async with self._session():
            pass

    @asynccontextmanager
    async def _session(self) -> AsyncIterator["SMTP"]:
        """Connect and sign in, and take leave after what was done within the time limit."""
        import aiosmtplib

        client = self._client()
        try:
            async with asyncio.timeout(self._timeout_s):
                await client.connect()
                yield client
            # The server has accepted the mail: a failing QUIT must not look like a failed mail.
            with suppress(aiosmtplib.SMTPException, OSError):
                await client.quit(timeout=2)
        except (aiosmtplib.SMTPException, OSError) as error:
            # Drop the cause: a server may echo the login it rejects.
            raise self._failure(error) from None
        finally:
            client.close()

    def _failure(self, error: Exception) -> MailFailed:
        return smtp_failure(error, self._timeout_s, f" at {self._host}:{self._port}")

    def _client(self) -> "SMTP":
        import aiosmtplib

        is_local = is_loopback(self._host)
        return aiosmtplib.SMTP(
            hostname=self._host,
            port=self._port,
            username=self._user or None,
            password=self._password.reveal() or None,
            timeout=self._timeout_s,
            use_tls=self._tls_first,
            # STARTTLS if offered; it is required before a password leaves this machine.
            start_tls=True if self._user and not is_local and not self._tls_first else None,
            validate_certs=not is_local,
        )


def smtp_failure(error: Exception, timeout_s: float, where: str = "") -> MailFailed:
    """Return our error for one of aiosmtplib's.

    `where` names the operator's own server. A tenant's may be any address, so it is told less: reasons would
    tell which ports of a network are open.
    """
    import aiosmtplib

    if isinstance(error, aiosmtplib.SMTPAuthenticationError):
        return MailFailed(f"The mail server{where} rejected the login ({error.code}).")
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        error = error.recipients[0]
    if isinstance(error, aiosmtplib.SMTPResponseException):
        response = " ".join(error.message.split())[:200]
        is_mail_fault = isinstance(error, aiosmtplib.SMTPRecipientRefused | aiosmtplib.SMTPDataError)
        return MailFailed(
            f"The mail server{where} answered {error.code} {response}",
            permanent=is_mail_fault and 500 <= error.code < 600 and error.code != _LOGIN_REQUIRED,
        )
    if isinstance(error, TimeoutError):
        return MailFailed(f"The mail server{where} did not respond within {timeout_s:g} seconds.")
    if is_certificate_failure(error):
        return MailFailed(f"The certificate of the mail server{where} could not be verified.")
    if not where:
        return MailFailed(f"The mail server could not be used ({type(error).__name__}).")
    return MailFailed(f"The mail server{where} cannot be used: {describe_fault(error)}.")
