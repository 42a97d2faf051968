"""Mail over version 2 of the API of Amazon SES."""

import re
from typing import Any

from retinue.adapters.aws_signing import AwsKeys, payload_hash, sign
from retinue.adapters.notifying.recipients import encoded_sender, mail_address
from retinue.adapters.notifying.sending import Message, Outside, Sent
from retinue.adapters.notifying.wire import Answer, Wire
from retinue.kit.secrets import Secret

ID, NAME = "ses", "Amazon SES"
_PATH = "/v2/email/outbound-emails"
_ODD_IN_TAGS = re.compile(r"[^A-Za-z0-9_-]")
# Answered with 400 although neither the message nor its recipient is at fault.
_PASSING = frozenset(
    {
        "AccountSuspendedException",
        "LimitExceededException",
        "RequestExpired",
        "SendingPausedException",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)


async def send(outside: Outside, config: dict[str, Any], message: Message) -> Sent:
    region = config["region"]
    wire = Wire(outside, NAME, config["secret_access_key"])
    url = outside.address(ID, f"https://email.{region}.amazonaws.com") + _PATH
    content = wire.as_json(_mail(config, message))
    keys = AwsKeys(config["access_key_id"], Secret(config["secret_access_key"]))
    headers = sign(
        "POST",
        url,
        {"Content-Type": "application/json"},
        payload_hash(content),
        region,
        "ses",
        keys,
        outside.clock.time(),
    )
    answer = await wire.call("POST", url, content, headers)
    if not answer.is_success:
        kind = _kind(answer)
        said = answer.fields.get("message") or answer.fields.get("Message") or ""
        told = ": ".join(part for part in (kind, said) if isinstance(part, str) and part)
        wire.refuse(answer, told, is_permanent=False if kind in _PASSING else None)
    return Sent(provider_id=str(answer.fields.get("MessageId", "")), detail="accepted")


def _mail(config: dict[str, Any], message: Message) -> dict[str, Any]:
    body = {"Text": _utf8(message.text)}
    if message.html is not None:
        body["Html"] = _utf8(message.html)
    return {
        "FromEmailAddress": encoded_sender(config),
        "Destination": {"ToAddresses": [mail_address(message.recipient)]},
        "Content": {"Simple": {"Subject": _utf8(message.subject), "Body": body}},
        # SES makes the Message-ID itself; the tag is how its events name ours.
        "EmailTags": [{"Name": "message_id", "Value": _ODD_IN_TAGS.sub("_", message.id)[:256]}],
    }


def _utf8(text: str) -> dict[str, str]:
    return {"Data": text, "Charset": "UTF-8"}


def _kind(answer: Answer) -> str:
    """The name of the error, which stands before an address in a header, or after one in the body."""
    header = next((value for name, value in answer.headers.items() if name.lower() == "x-amzn-errortype"), "")
    named = header.partition(":")[0] or str(answer.fields.get("__type", "")).rpartition("#")[2]
    return named if named.isascii() and named.isalnum() else ""
