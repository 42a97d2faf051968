"""Mail through SendGrid's Web API v3."""

from retinue.adapters.notifiers.client import NotifierClient, NotifierResponse
from retinue.adapters.notifiers.notifier import NotificationMessage, SendContext, SendReceipt
from retinue.adapters.notifiers.recipients import mail_address, mail_sender, sender_name
from retinue.kit.json_types import JsonObject

ID, NAME = "sendgrid", "SendGrid"
_ADDRESS = "https://api.sendgrid.com"


async def send(context: SendContext, config: JsonObject, message: NotificationMessage) -> SendReceipt:
    client = NotifierClient(context, NAME, config["api_key"])
    response = await client.post_json(
        f"{context.address(ID, _ADDRESS)}/v3/mail/send",
        _mail(config, message),
        {"Authorization": f"Bearer {config['api_key']}"},
    )
    if not response.is_success:
        client.refuse(response, _error_text(response))
    return SendReceipt(provider_id=response.headers.get("X-Message-Id", ""), detail="accepted")


def _mail(config: JsonObject, message: NotificationMessage) -> JsonObject:
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


def _error_text(response: NotifierResponse) -> str:
    errors = response.fields.get("errors")
    error_objects = [error for error in errors if isinstance(error, dict)] if isinstance(errors, list) else []
    return "; ".join(
        f"{error.get('message')} ({error['field']})" if error.get("field") else str(error.get("message"))
        for error in error_objects
    )
