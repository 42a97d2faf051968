"""A mail and its MIME form, built so that no value can become a header."""

import ipaddress
import re
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Protocol

import msgspec

from retinue.adapters.mail.addresses import (
    SMTP,
    SMTPUTF8,
    UNSAFE,
    from_header,
    parse_address,
    parse_named_address,
)
from retinue.kit.clock import Clock, parse_instant
from retinue.kit.errors import InternalError, Invalid
from retinue.kit.ids import new_id
from retinue.kit.network_addresses import canonical_text
from retinue.kit.settings import BadSetting

_UNSAFE_IN_IDS = re.compile(r"[^A-Za-z0-9_.-]")
# The limit of RFC 5322, without the line break.
MAX_LINE_BYTES = 998
# For reading in an editor: UTF-8, and no unnecessary line breaks. A character has up to four bytes, so
# headers are folded well before the limit.
_FILE_POLICY = SMTPUTF8.clone(linesep="\n", max_line_length=MAX_LINE_BYTES // 4)


class Mail(msgspec.Struct, frozen=True):
    to: str
    subject: str
    text: str
    html: str | None = None


class Mailer(Protocol):
    async def send(self, mail: Mail) -> None:
        """Send the mail; raises `MailFailed`."""
        ...


class MailFailed(InternalError):
    """The mail could not be sent. Check the mail server's settings and try again."""

    def __init__(self, message: str | None = None, *, permanent: bool = False) -> None:
        """`permanent` means that the server would reject the same mail again."""
        super().__init__(message)
        self.permanent = permanent


class Sender(msgspec.Struct, frozen=True):
    header: str
    address: str

    @classmethod
    def of(cls, name: str, address: str) -> "Sender":
        """Return the sender with this name, which may be empty, and this parsed address."""
        return cls(from_header(name, address), address)

    @classmethod
    def parse(cls, text: str) -> "Sender":
        parsed = parse_named_address(text)
        if parsed is None:
            raise BadSetting(
                "RETINUE_MAIL_FROM must be a mail address, or a name and a <mail address>; "
                "put a name with special characters in quotes"
            )
        return cls.of(*parsed)

    def message_id(self, id: str = "") -> str:
        """Return a Message-ID: always the same for the same `id`, random without one."""
        return f"<{_UNSAFE_IN_IDS.sub('_', id) or new_id('mail')}@{self.address.rpartition('@')[2]}>"


def mail_domain(host: str) -> str:
    """Return a host as the domain of a mail address; IP addresses need brackets there."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host
    text = canonical_text(address)
    return f"[{text}]" if address.version == 4 else f"[IPv6:{text}]"


def parse_recipient(to: str) -> str:
    """Return the single bare address of a recipient, with its domain in ASCII."""
    address = parse_address(to)
    if address is None:
        raise Invalid({"to": "must be one email address"})
    return address


def build_mime_message(
    mail: Mail, sender: Sender, clock: Clock, *, message_id: str = "", as_file: bool = False
) -> EmailMessage:
    """Return the message for a mail server, or `as_file` for people to read."""
    to = parse_recipient(mail.to)
    if UNSAFE.search(mail.subject):
        raise Invalid({"subject": "must be one line without control characters"})
    wire_policy = SMTP if (to + sender.address).isascii() else SMTPUTF8
    message = EmailMessage(policy=_FILE_POLICY if as_file else wire_policy)
    message["From"] = sender.header
    message["To"] = to
    message["Subject"] = mail.subject
    # The email package decodes `=?utf-8?q?a=0D=0ABcc:…?=` and would write the line break inside.
    if UNSAFE.search(str(message["Subject"])):
        raise Invalid({"subject": "must be one line without control characters"})
    message["Date"] = format_datetime(parse_instant(clock.now()))
    message["Message-ID"] = sender.message_id(message_id)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(_text(mail.text), cte="8bit" if as_file else None)
    if mail.html is not None:
        message.add_alternative(_text(mail.html), subtype="html", cte="8bit" if as_file else None)
    if as_file:
        _name_encodings(message)
    return message


def _name_encodings(message: EmailMessage) -> None:
    """Set each part's RFC 2045 transfer encoding to match its unencoded text."""
    for part in message.walk():
        if part.is_multipart():
            continue
        content = part.get_payload(decode=True)
        assert isinstance(content, bytes), "a part that is not made of parts has bytes"
        encoding = "7bit" if content.isascii() else "8bit"
        if any(len(line) > MAX_LINE_BYTES for line in content.splitlines()):
            encoding = "binary"
        part.replace_header("Content-Transfer-Encoding", encoding)


def _text(body: str) -> str:
    return body.encode(errors="replace").decode()
