"""Mail over SendGrid's Web API v3."""

from typing import Any

from retinue.adapters.notifying.recipients import mail_address, mail_sender, sender_name
from retinue.adapters.notifying.sending import Message, Outside, Sent
from retinue.adapters.notifying.wire import Answer, Wire

ID, NAME = "sendgrid", "SendGrid"
_ADDRESS = "https://api.sendgrid.com"


async def send(outside: Outside, config: dict[str, Any], message: Message) -> Sent:
    wire = Wire(outside, NAME, config["api_key"])
    answer = await wire.post_json(
        f"{outside.address(ID, _ADDRESS)}/v3/mail/send",
        _mail(config, message),
        {"Authorization": f"Bearer {config['api_key']}"},
    )
    if not answer.is_success:
        wire.refuse(answer, _said(answer))
    given = {name.lower(): value for name, value in answer.headers.items()}
    return Sent(provider_id=given.get("x-message-id", ""), detail="accepted")


def _mail(config: dict[str, Any], message: Message) -> dict[str, Any]:
    sender = mail_sender(config)
    name = sender_name(config)
    content = [{"type": "text/plain", "value": message.text}]
    if message.html is not None:
        content.append({"type": "text/html", "value": message.html})
    return {
        "personalizations": [{"to": [{"email": mail_address(message.recipient)}]}],
        "from": {"email": sender.address, **({"name": name} if name else {})},
        "subject": message.subject,
        "content": content,
        "headers": {"Message-ID": sender.message_id(message.id), "Auto-Submitted": "auto-generated"},
        "custom_args": {"message_id": message.id},
    }


def _said(answer: Answer) -> str:
    errors = answer.fields.get("errors")
    told = [error for error in errors if isinstance(error, dict)] if isinstance(errors, list) else []
    return "; ".join(
        f"{error.get('message')} ({error['field']})" if error.get("field") else str(error.get("message"))
        for error in told
    )
