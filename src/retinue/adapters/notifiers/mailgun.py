"""Mail through Mailgun's API."""

import base64
from urllib.parse import quote

from retinue.adapters.multipart import multipart_body
from retinue.adapters.notifiers.client import NotifierClient
from retinue.adapters.notifiers.notifier import NotificationMessage, SendContext, SendReceipt
from retinue.adapters.notifiers.recipients import mail_address, mail_sender
from retinue.kit.json_types import JsonObject

ID, NAME = "mailgun", "Mailgun"
_ADDRESSES = {"us": "https://api.mailgun.net", "eu": "https://api.eu.mailgun.net"}


async def send(context: SendContext, config: JsonObject, message: NotificationMessage) -> SendReceipt:
    client = NotifierClient(context, NAME, config["api_key"])
    login = base64.b64encode(f"api:{config['api_key']}".encode()).decode()
    response = await client.send(
        "POST",
        f"{context.address(ID, _ADDRESSES[config['region']])}/v3/{quote(config['domain'], safe='')}/messages",
        multipart_body(_fields(config, message)),
        {"Authorization": f"Basic {login}"},
    )
    if not response.is_success:
        # Mailgun answers a wrong key with the bare word "Forbidden".
        client.refuse(response, response.explanation)
    return SendReceipt(
        provider_id=str(response.fields.get("id", "")), detail=client.quote(response.fields.get("message"))
    )


def _fields(config: JsonObject, message: NotificationMessage) -> dict[str, str]:
    return {
        "from": mail_sender(config).header,
        "to": mail_address(message.recipient),
        "subject": message.subject,
        "text": message.text,
        **({"html": message.html} if message.html is not None else {}),
        "h:Message-Id": mail_sender(config).message_id(message.id),
        "h:Auto-Submitted": "auto-generated",
    }
