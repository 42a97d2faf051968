"""Mail over an SMTP server of the tenant's, reached at checked addresses only."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from retinue.adapters.mail.message import Mail, Sender, compose, mail_domain
from retinue.adapters.notifying.errors import ProviderRefused
from retinue.adapters.notifying.recipients import mail_address, mail_sender
from retinue.adapters.notifying.sending import Message, Outside, Sent
from retinue.adapters.notifying.wire import Wire
from retinue.kit.egress import Egress, EgressRefused
from retinue.kit.errors import Invalid, RetinueError

if TYPE_CHECKING:
    from aiosmtplib import SMTP

ID, NAME = "smtp", "The mail server"
ENCRYPTIONS = ("auto", "starttls", "tls", "ssl", "none")
_GOODBYE_S = 1.0


async def send(outside: Outside, config: dict[str, Any], message: Message) -> Sent:
    from aiosmtplib import SMTPException

    to, sender = mail_address(message.recipient), _sender(config)
    mail = Mail(to, message.subject, message.text, message.html)
    letter = compose(mail, sender, outside.clock, message_id=message.id)
    wire = Wire(outside, NAME, str(config.get("password") or ""))
    client = None
    try:
        async with asyncio.timeout(outside.timeout_s):
            client = await _connected(outside, config)
            _, answer = await client.send_message(
                letter, sender=sender.address, recipients=[to], timeout=outside.timeout_s
            )
        # The server has the mail now: a failing goodbye must not look like a failed mail.
        with suppress(SMTPException, OSError):
            await client.quit(timeout=_GOODBYE_S)
    except ProviderRefused:
        raise
    except Exception as error:  # noqa: BLE001 - a hostile server can make a library raise anything
        _refuse(wire, error, outside.timeout_s)
    finally:
        if client is not None:
            client.close()
    return Sent(provider_id=str(letter["Message-ID"]), detail=wire.quote(answer))


def check(config: dict[str, Any], egress: Egress | None) -> dict[str, str]:
    if egress is None or config.get("encryption") != "none" or _may_be_plain(egress, config):
        return {}
    return {"encryption": "none is only for hosts that outgoing calls may reach unencrypted"}


async def _connected(outside: Outside, config: dict[str, Any]) -> "SMTP":
    from retinue.adapters.mail.connecting import connect

    encryption, is_plain_allowed = _encryption(config), _may_be_plain(outside.egress, config)
    if encryption == "none" and not is_plain_allowed:
        raise ProviderRefused("The mail server may only be used with encryption.", is_permanent=True)
    pinned = await outside.egress.pin(config["host"], _port(config))
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
        raise ProviderRefused(f"{NAME} offers no login, or none without encryption.")


def _encryption(config: dict[str, Any]) -> str:
    chosen = config.get("encryption") or "auto"
    if chosen == "ssl" or (chosen == "auto" and _port(config) == 465):
        return "tls"
    return str(chosen)


def _port(config: dict[str, Any]) -> int:
    return int(config.get("port") or (465 if config.get("encryption") in {"tls", "ssl"} else 587))


def _may_be_plain(egress: Egress, config: dict[str, Any]) -> bool:
    """Whether the operator lets calls without encryption go there, as for plain http."""
    host = str(config["host"])
    written = f"[{host}]" if ":" in host and not host.startswith("[") else host
    try:
        egress.check(f"http://{written}:{_port(config)}", require_https=True)
    except EgressRefused:
        return False
    return True


def _sender(config: dict[str, Any]) -> Sender:
    """The configured sender, else the login if it is an address, else a name at the host."""
    for candidate in (config.get("from_email"), config.get("username")):
        with suppress(Invalid):
            return mail_sender({**config, "from_email": str(candidate or "")})
    return mail_sender({**config, "from_email": f"notifications@{mail_domain(config['host'])}"})


def _refuse(wire: Wire, error: Exception, timeout_s: float) -> NoReturn:
    from aiosmtplib import SMTPNotSupported, SMTPRecipientsRefused, SMTPResponseException

    from retinue.adapters.mail.smtp import failure_of

    if isinstance(error, RetinueError):
        message = f"{NAME} cannot be used: {error.message}"
        raise ProviderRefused(message, is_permanent=isinstance(error, EgressRefused)) from None
    if isinstance(error, SMTPNotSupported):
        message = f"{NAME} does not support what this mail needs, such as international addresses."
        raise ProviderRefused(message, is_permanent=True) from None
    for told in error.recipients if isinstance(error, SMTPRecipientsRefused) else [error]:
        if isinstance(told, SMTPResponseException):
            told.message = wire.quote(told.message)
    failure = failure_of(error, timeout_s)
    # No cause is kept: a server may echo the login it refuses.
    raise ProviderRefused(failure.message, is_permanent=failure.permanent) from None
