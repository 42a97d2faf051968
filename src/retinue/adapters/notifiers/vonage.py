"""Text messages through Vonage's SMS API, which always responds with 200."""

from retinue.adapters.notifiers.client import NotifierClient, NotifierResponse
from retinue.adapters.notifiers.message_text import truncate, with_subject
from retinue.adapters.notifiers.notifier import NotificationMessage, SendContext, SendReceipt
from retinue.adapters.notifiers.recipients import phone_number
from retinue.adapters.notifiers.twilio import MAX_SMS_LENGTH, TRUNCATION_MARK
from retinue.kit.json_types import JsonObject

ID, NAME = "vonage", "Vonage"
_ADDRESS = "https://rest.nexmo.com"
_MAX_REFERENCE_LENGTH = 40
_DELIVERED, _THROTTLED = "0", "1"
# Missing or invalid parameters, an invalid message, a barred number, too long, an invalid sender, an
# unreachable number, one not on the account's list, and one out of use.
_PERMANENT = frozenset({"2", "3", "6", "7", "12", "15", "22", "29", "33"})
# The SMS alphabet (GSM 03.38); any other character needs the Unicode message type.
_GSM = frozenset(
    "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿"
    "abcdefghijklmnopqrstuvwxyzäöñüà^{}\\[~]|€"
)


async def send(context: SendContext, config: JsonObject, message: NotificationMessage) -> SendReceipt:
    _, digits = phone_number(message.recipient)
    client = NotifierClient(context, NAME, config["api_secret"])
    text = truncate(with_subject(message.subject, message.text), MAX_SMS_LENGTH, TRUNCATION_MARK)
    response = await client.post_json(
        f"{context.address(ID, _ADDRESS)}/sms/json",
        {
            "api_key": config["api_key"],
            "api_secret": config["api_secret"],
            "from": config["from"].removeprefix("+"),
            "to": digits,
            "text": text,
            "type": "text" if _GSM.issuperset(text) else "unicode",
            "client-ref": message.id[:_MAX_REFERENCE_LENGTH],
        },
    )
    parts = _parts(response)
    if not response.is_success or not parts:
        client.refuse(response, response.fields.get("error_title") or "unexpected response")
    statuses = [str(part.get("status")) for part in parts]
    failed = next((part for part in parts if str(part.get("status")) != _DELIVERED), None)
    if failed is not None:
        _raise_refusal(client, response, failed, is_partly_sent=_DELIVERED in statuses)
    return SendReceipt(provider_id=str(parts[0].get("message-id", "")), detail=f"parts: {len(parts)}")


def _raise_refusal(
    client: NotifierClient, response: NotifierResponse, failed: JsonObject, *, is_partly_sent: bool
) -> None:
    status = str(failed.get("status"))
    error_text = f"{failed.get('error-text') or 'status'} ({status})"
    if status == _THROTTLED:
        response = NotifierResponse(429, {"Retry-After": "1"}, b"")
    # Sending the message again would repeat the parts that arrived.
    client.refuse(response, error_text, is_permanent=is_partly_sent or status in _PERMANENT)


def _parts(response: NotifierResponse) -> list[JsonObject]:
    parts = response.fields.get("messages")
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
