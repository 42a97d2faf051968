"""The mails a test's service has sent, read from its outbox."""

import re
from email import message_from_bytes, policy
from email.message import EmailMessage

from retinue.app import Service

_TOKEN = re.compile(r"[?&](?:token|invite_token)=([\w-]+)")


async def mails_to(service: Service, to: str) -> list[EmailMessage]:
    """Send the queued mails; return all mails to this address, oldest first."""
    await service.runner.drain()
    files = sorted((service.settings.data_dir / "outbox").glob("*.eml"))
    read = [message_from_bytes(file.read_bytes(), policy=policy.default) for file in files]
    return [mail for mail in read if mail["To"] == to]


async def last_mail(service: Service, to: str) -> EmailMessage:
    mails = await mails_to(service, to)
    assert mails, f"no mail to {to}"
    return mails[-1]


def text_of(mail: EmailMessage) -> str:
    body = mail.get_body(("plain",))
    assert body is not None
    return body.get_content()


def html_of(mail: EmailMessage) -> str:
    body = mail.get_body(("html",))
    assert body is not None
    return body.get_content()


def link_token(mail: EmailMessage) -> str:
    """Return the token of the link in the mail."""
    found = _TOKEN.search(text_of(mail))
    assert found, text_of(mail)
    return found[1]
