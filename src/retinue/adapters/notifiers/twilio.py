"""Text messages through Twilio."""

import base64
from urllib.parse import quote

from retinue.adapters.api_client import form_body
from retinue.adapters.notifiers.client import NotifierClient
from retinue.adapters.notifiers.message_text import truncate, with_subject
from retinue.adapters.notifiers.notifier import NotificationMessage, SendContext, SendReceipt
from retinue.adapters.notifiers.recipients import phone_number
from retinue.kit.json_types import JsonObject

ID, NAME = "twilio", "Twilio"
_ADDRESS = "https://api.twilio.com"
# Twilio's limit; the mark uses the SMS alphabet, so that it does not force a costlier encoding.
MAX_SMS_LENGTH = 1600
TRUNCATION_MARK = "..."


async def send(context: SendContext, config: JsonObject, message: NotificationMessage) -> SendReceipt:
    account, token, sender = config["account_sid"], config["auth_token"], config["from_number"]
    prefix, digits = phone_number(message.recipient)
    client = NotifierClient(context, NAME, token)
    login = base64.b64encode(f"{account}:{token}".encode()).decode()
    fields = {
        "To": f"{prefix}+{digits}",
        "MessagingServiceSid" if sender.startswith("MG") else "From": sender,
        "Body": truncate(with_subject(message.subject, message.text), MAX_SMS_LENGTH, TRUNCATION_MARK),
    }
    response = await client.send(
        "POST",
        f"{context.address(ID, _ADDRESS)}/2010-04-01/Accounts/{quote(account, safe='')}/Messages.json",
        form_body(fields),
        {"Authorization": f"Basic {login}"},
    )
    reply = response.fields
    if not response.is_success:
        error_text, code = reply.get("message"), reply.get("code")
        client.refuse(response, f"{error_text} ({code})" if error_text and code else error_text)
    return SendReceipt(provider_id=str(reply.get("sid", "")), detail=client.quote(reply.get("status")))
