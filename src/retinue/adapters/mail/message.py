"""A mail and its wire form, built so that no value can become a header of its own."""

import ipaddress
import re
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime, parseaddr
from typing import Protocol

import msgspec

from retinue.kit.clock import Clock, moment
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.ids import new_id
from retinue.kit.settings import BadSetting

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ODD_IN_IDS = re.compile(r"[^A-Za-z0-9_.-]")
_ATOM = r"""[^\s@<>()\[\]\\,;:"]"""
_ADDRESS = re.compile(rf"{_ATOM}{{1,64}}@(?:{_ATOM}{{1,253}}|\[(?:IPv6:)?[0-9A-Fa-f.:]+\])")


class Mail(msgspec.Struct, frozen=True):
    to: str
    subject: str
    text: str
    html: str | None = None


class Mailer(Protocol):
    async def send(self, mail: Mail) -> None:
        """Hands the mail over, or raises `MailFailed`."""
        ...


class MailFailed(RetinueError):
    """The mail could not be handed to the mail server."""

    status, code = 502, "mail_failed"

    def __init__(self, message: str | None = None, *, permanent: bool = False) -> None:
        """`permanent` says that sending the same mail again would be refused again."""
        super().__init__(message)
        self.permanent = permanent


class Sender(msgspec.Struct, frozen=True):
    header: str
    address: str

    @classmethod
    def parse(cls, text: str) -> "Sender":
        _, address = parseaddr(text)
        if _UNSAFE.search(text) or not _ADDRESS.fullmatch(address):
            raise BadSetting("RETINUE_MAIL_FROM must be a mail address, or a name and a <mail address>")
        return cls(text, address)

    def message_id(self, id: str = "") -> str:
        """The Message-ID of a mail from here; the same for the same `id`, new without one."""
        return f"<{_ODD_IN_IDS.sub('_', id) or new_id('mail')}@{self.address.rpartition('@')[2]}>"


def mail_domain(host: str) -> str:
    """What stands after the @ for a host; an address needs brackets there."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host
    return f"[{address}]" if address.version == 4 else f"[IPv6:{address}]"


def recipient(to: str) -> str:
    """The one bare address a mail goes to, its domain in ASCII."""
    if len(to) > 254 or _UNSAFE.search(to) or "=?" in to or not _ADDRESS.fullmatch(to):
        raise Invalid({"to": "must be one mail address"})
    local, _, domain = to.rpartition("@")
    try:
        return f"{local}@{domain if domain.isascii() else domain.encode('idna').decode()}"
    except UnicodeError:
        raise Invalid({"to": "must be one mail address"}) from None


def compose(mail: Mail, sender: Sender, clock: Clock, *, message_id: str = "") -> EmailMessage:
    to = recipient(mail.to)
    if _UNSAFE.search(mail.subject):
        raise Invalid({"subject": "must be one line without control characters"})
    message = EmailMessage(policy=SMTP if to.isascii() else SMTPUTF8)
    message["From"] = sender.header
    message["To"] = to
    message["Subject"] = mail.subject
    # The email package decodes `=?utf-8?q?a=0D=0ABcc:…?=` and would then write the line break it finds.
    if _UNSAFE.search(str(message["Subject"])):
        raise Invalid({"subject": "must be one line without control characters"})
    message["Date"] = format_datetime(moment(clock.now()))
    message["Message-ID"] = sender.message_id(message_id)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(_text(mail.text))
    if mail.html is not None:
        message.add_alternative(_text(mail.html), subtype="html")
    return message


def _text(body: str) -> str:
    return body.encode(errors="replace").decode()
