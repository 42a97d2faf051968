"""Text messages over Twilio."""

import base64
from typing import Any
from urllib.parse import quote, urlencode

from retinue.adapters.notifying.recipients import phone_number
from retinue.adapters.notifying.sending import Message, Outside, Sent
from retinue.adapters.notifying.texts import shortened, titled
from retinue.adapters.notifying.wire import Wire

ID, NAME = "twilio", "Twilio"
_ADDRESS = "https://api.twilio.com"
# Twilio refuses more; the mark is in the alphabet of text messages, so that it does not cost a second one.
LONGEST_TEXT = 1600
MARK = "..."


async def send(outside: Outside, config: dict[str, Any], message: Message) -> Sent:
    account, token, sender = config["account_sid"], config["auth_token"], config["from_number"]
    prefix, digits = phone_number(message.recipient)
    wire = Wire(outside, NAME, token)
    login = base64.b64encode(f"{account}:{token}".encode()).decode()
    fields = {
        "To": f"{prefix}+{digits}",
        "MessagingServiceSid" if sender.startswith("MG") else "From": sender,
        "Body": shortened(titled(message.subject, message.text), LONGEST_TEXT, MARK),
    }
    answer = await wire.call(
        "POST",
        f"{outside.address(ID, _ADDRESS)}/2010-04-01/Accounts/{quote(account, safe='')}/Messages.json",
        urlencode(fields).encode(),
        {"Authorization": f"Basic {login}", "Content-Type": "application/x-www-form-urlencoded"},
    )
    told = answer.fields
    if not answer.is_success:
        said, code = told.get("message"), told.get("code")
        wire.refuse(answer, f"{said} ({code})" if said and code else said)
    return Sent(provider_id=str(told.get("sid", "")), detail=wire.quote(told.get("status")))
