"""Mail through a tenant's SMTP server, reached at checked addresses only."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from retinue.adapters.mail.message import Mail, Sender, build_mime_message, mail_domain
from retinue.adapters.notifiers.client import NotifierClient
from retinue.adapters.notifiers.errors import ProviderRefused
from retinue.adapters.notifiers.notifier import NotificationMessage, SendContext, SendReceipt
from retinue.adapters.notifiers.recipients import mail_address, mail_sender
from retinue.kit.egress import Egress, EgressRefused
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.json_types import JsonObject

if TYPE_CHECKING:
    from aiosmtplib import SMTP

ID, NAME = "smtp", "The mail server"
ENCRYPTIONS = ("auto", "starttls", "tls", "ssl", "none")
_QUIT_TIMEOUT_SECONDS = 1.0


async def send(context: SendContext, config: JsonObject, message: NotificationMessage) -> SendReceipt:
    from aiosmtplib import SMTPException

    to, sender = mail_address(message.recipient), _sender(config)
    mail = Mail(to, message.subject, message.text, message.html)
    mime_message = build_mime_message(mail, sender, context.clock, message_id=message.id)
    quote = NotifierClient(context, NAME, str(config.get("password") or "")).quote
    client = None
    try:
        async with asyncio.timeout(context.timeout_s):
            client = await _connect(context, config)
            _, response = await client.send_message(
                mime_message, sender=sender.address, recipients=[to], timeout=context.timeout_s
            )
        # The server has accepted the mail: a failing QUIT must not look like a failed mail.
        with suppress(SMTPException, OSError):
            await client.quit(timeout=_QUIT_TIMEOUT_SECONDS)
    except ProviderRefused:
        raise
    except Exception as error:  # noqa: BLE001 - a hostile server can make the library raise anything
        _raise_refusal(quote, error, context.timeout_s)
    finally:
        if client is not None:
            client.close()
    return SendReceipt(provider_id=str(mime_message["Message-ID"]), detail=quote(response))


def check(config: JsonObject, egress: Egress | None) -> dict[str, str]:
    if egress is None or config.get("encryption") != "none" or _may_be_plain(egress, config):
        return {}
    return {"encryption": "none is allowed only for hosts that outgoing calls may reach without encryption"}


async def _connect(context: SendContext, config: JsonObject) -> "SMTP":
    from retinue.adapters.mail.smtp_connection import connect

    encryption, is_plain_allowed = _encryption(config), _may_be_plain(context.egress, config)
    if encryption == "none" and not is_plain_allowed:
        raise ProviderRefused("The mail server may be used with encryption only.", is_permanent=True)
    pinned = await context.egress.pin(config["host"], _port(config))
    if encryption == "auto" and not is_plain_allowed:
        encryption = "starttls"
    client = await connect(pinned, encryption)
    if config.get("username"):
        try:
            _require_login(client)
            await client.login(config["username"], str(config.get("password") or ""))
        except BaseException:
            client.close()
            raise
    return client


def _require_login(client: "SMTP") -> None:
    if not client.supported_auth_methods:
        raise ProviderRefused(f"{NAME} does not support logging in, or only with encryption.")


def _encryption(config: JsonObject) -> str:
    encryption = config.get("encryption") or "auto"
    if encryption == "ssl" or (encryption == "auto" and _port(config) == 465):
        return "tls"
    return str(encryption)


def _port(config: JsonObject) -> int:
    return int(config.get("port") or (465 if config.get("encryption") in {"tls", "ssl"} else 587))


def _may_be_plain(egress: Egress, config: JsonObject) -> bool:
    """Return whether the operator allows unencrypted calls to the host, as for plain http."""
    host = str(config["host"])
    url_host = f"[{host}]" if ":" in host and not host.startswith("[") else host
    try:
        egress.check(f"http://{url_host}:{_port(config)}", require_https=True)
    except EgressRefused:
        return False
    return True


def _sender(config: JsonObject) -> Sender:
    """Return the configured sender, else the login if it is an address, else a name at the host."""
    for candidate in (config.get("from_email"), config.get("username")):
        with suppress(Invalid):
            return mail_sender({**config, "from_email": str(candidate or "")})
    return mail_sender({**config, "from_email": f"notifications@{mail_domain(config['host'])}"})


def _raise_refusal(quote: Callable[[object], str], error: Exception, timeout_s: float) -> NoReturn:
    from aiosmtplib import SMTPNotSupported, SMTPRecipientsRefused, SMTPResponseException

    from retinue.adapters.mail.smtp import smtp_failure

    if isinstance(error, RetinueError):
        message = f"{NAME} cannot be used: {error.message}"
        raise ProviderRefused(message, is_permanent=isinstance(error, EgressRefused)) from None
    if isinstance(error, SMTPNotSupported):
        message = f"{NAME} does not support a feature that this mail needs, such as international addresses."
        raise ProviderRefused(message, is_permanent=True) from None
    for refused in error.recipients if isinstance(error, SMTPRecipientsRefused) else [error]:
        if isinstance(refused, SMTPResponseException):
            refused.message = quote(refused.message)
    failure = smtp_failure(error, timeout_s)
    # Drop the cause: a server may echo the login it rejects.
    raise ProviderRefused(failure.message, is_permanent=failure.permanent) from None
