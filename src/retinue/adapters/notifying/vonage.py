"""Text messages over Vonage's SMS API, which answers 200 whatever came of it."""

from typing import Any

from retinue.adapters.notifying.recipients import phone_number
from retinue.adapters.notifying.sending import Message, Outside, Sent
from retinue.adapters.notifying.texts import shortened, titled
from retinue.adapters.notifying.twilio import LONGEST_TEXT, MARK
from retinue.adapters.notifying.wire import Answer, Wire

ID, NAME = "vonage", "Vonage"
_ADDRESS = "https://rest.nexmo.com"
_LONGEST_REFERENCE = 40
_DELIVERED, _THROTTLED = "0", "1"
# Missing or invalid parameters, an invalid message, a barred number, too long, an invalid sender, a number
# without a network, one that is not on the account's list, and one that is out of use.
_PERMANENT = frozenset({"2", "3", "6", "7", "12", "15", "22", "29", "33"})
# The alphabet of text messages (GSM 03.38); any other character needs the message type for Unicode.
_GSM = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿"
    "abcdefghijklmnopqrstuvwxyzäöñüà^{}\\[~]|€"
)


async def send(outside: Outside, config: dict[str, Any], message: Message) -> Sent:
    _, digits = phone_number(message.recipient)
    wire = Wire(outside, NAME, config["api_secret"])
    text = shortened(titled(message.subject, message.text), LONGEST_TEXT, MARK)
    answer = await wire.post_json(
        f"{outside.address(ID, _ADDRESS)}/sms/json",
        {
            "api_key": config["api_key"],
            "api_secret": config["api_secret"],
            "from": config["from"].removeprefix("+"),
            "to": digits,
            "text": text,
            "type": "text" if _GSM.issuperset(text) else "unicode",
            "client-ref": message.id[:_LONGEST_REFERENCE],
        },
    )
    parts = _parts(answer)
    if not answer.is_success or not parts:
        wire.refuse(answer, answer.fields.get("error_title") or "no answer in its protocol")
    statuses = [str(part.get("status")) for part in parts]
    failed = next((part for part in parts if str(part.get("status")) != _DELIVERED), None)
    if failed is not None:
        _refuse(wire, answer, failed, is_partly_sent=_DELIVERED in statuses)
    return Sent(provider_id=str(parts[0].get("message-id", "")), detail=f"parts: {len(parts)}")


def _refuse(wire: Wire, answer: Answer, failed: dict[str, Any], *, is_partly_sent: bool) -> None:
    status = str(failed.get("status"))
    said = f"{failed.get('error-text') or 'status'} ({status})"
    if status == _THROTTLED:
        answer = Answer(429, {"Retry-After": "1"}, b"")
    # Sending the whole again would repeat the part that arrived.
    wire.refuse(answer, said, is_permanent=is_partly_sent or status in _PERMANENT)


def _parts(answer: Answer) -> list[dict[str, Any]]:
    parts = answer.fields.get("messages")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
