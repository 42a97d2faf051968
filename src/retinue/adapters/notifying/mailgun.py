"""Mail over Mailgun's API, as the form it documents."""

import base64
import secrets
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from retinue.adapters.notifying.recipients import encoded_sender, mail_address, mail_sender
from retinue.adapters.notifying.sending import Message, Outside, Sent
from retinue.adapters.notifying.wire import Wire

ID, NAME = "mailgun", "Mailgun"
_ADDRESSES = {"us": "https://api.mailgun.net", "eu": "https://api.eu.mailgun.net"}


async def send(outside: Outside, config: dict[str, Any], message: Message) -> Sent:
    wire = Wire(outside, NAME, config["api_key"])
    content, content_type = _form(_fields(config, message))
    login = base64.b64encode(f"api:{config['api_key']}".encode()).decode()
    answer = await wire.call(
        "POST",
        f"{outside.address(ID, _ADDRESSES[config['region']])}/v3/{quote(config['domain'], safe='')}/messages",
        content,
        {"Authorization": f"Basic {login}", "Content-Type": content_type},
    )
    if not answer.is_success:
        # A wrong key is answered with the bare word "Forbidden".
        wire.refuse(answer, answer.fields.get("message") or answer.text)
    return Sent(provider_id=str(answer.fields.get("id", "")), detail=wire.quote(answer.fields.get("message")))


def _fields(config: dict[str, Any], message: Message) -> dict[str, str]:
    return {
        "from": encoded_sender(config),
        "to": mail_address(message.recipient),
        "subject": message.subject,
        "text": message.text,
        **({"html": message.html} if message.html is not None else {}),
        "h:Message-Id": mail_sender(config).message_id(message.id),
        "h:Auto-Submitted": "auto-generated",
    }


def _form(fields: Mapping[str, str]) -> tuple[bytes, str]:
    """The body and its content type; no value can guess the boundary that would end its part."""
    boundary = f"retinue-{secrets.token_hex(16)}"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    return "".join([*parts, f"--{boundary}--\r\n"]).encode(), f"multipart/form-data; boundary={boundary}"
