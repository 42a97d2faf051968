"""Mail through version 2 of the Amazon SES API."""

import re

from retinue.adapters.api_client import ApiBody
from retinue.adapters.aws_signing import AwsKeys, payload_hash, sign_request
from retinue.adapters.notifiers.client import NotifierClient, NotifierResponse
from retinue.adapters.notifiers.notifier import NotificationMessage, SendContext, SendReceipt
from retinue.adapters.notifiers.recipients import mail_address, mail_sender
from retinue.kit.json_types import JsonObject
from retinue.kit.secrets import Secret

ID, NAME = "ses", "Amazon SES"
_PATH = "/v2/email/outbound-emails"
_UNSAFE_IN_TAGS = re.compile(r"[^A-Za-z0-9_-]")
# Errors with status 400 although neither the message nor its recipient is at fault.
_TRANSIENT_ERRORS = frozenset(
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


async def send(context: SendContext, config: JsonObject, message: NotificationMessage) -> SendReceipt:
    region = config["region"]
    client = NotifierClient(context, NAME, config["secret_access_key"])
    url = context.address(ID, f"https://email.{region}.amazonaws.com") + _PATH
    content = client.as_json(_mail(config, message))
    keys = AwsKeys(config["access_key_id"], Secret(config["secret_access_key"]))
    headers = sign_request(
        "POST",
        url,
        {"Content-Type": "application/json"},
        payload_hash(content),
        region,
        "ses",
        keys,
        context.clock.time(),
    )
    response = await client.send("POST", url, ApiBody(content, content_type=""), headers)
    if not response.is_success:
        kind = _error_name(response)
        error_text = response.fields.get("message") or response.fields.get("Message") or ""
        explanation = ": ".join(part for part in (kind, error_text) if isinstance(part, str) and part)
        client.refuse(response, explanation, is_permanent=False if kind in _TRANSIENT_ERRORS else None)
    return SendReceipt(provider_id=str(response.fields.get("MessageId", "")), detail="accepted")


def _mail(config: JsonObject, message: NotificationMessage) -> JsonObject:
    body = {"Text": _utf8(message.text)}
    if message.html is not None:
        body["Html"] = _utf8(message.html)
    return {
        "FromEmailAddress": mail_sender(config).header,
        "Destination": {"ToAddresses": [mail_address(message.recipient)]},
        "Content": {"Simple": {"Subject": _utf8(message.subject), "Body": body}},
        # SES sets the Message-ID itself; the tag links its events to our id.
        "EmailTags": [{"Name": "message_id", "Value": _UNSAFE_IN_TAGS.sub("_", message.id)[:256]}],
    }


def _utf8(text: str) -> dict[str, str]:
    return {"Data": text, "Charset": "UTF-8"}


def _error_name(response: NotifierResponse) -> str:
    """Return the error's name: before the colon in a header, or after the # in the body."""
    header = response.headers.get("X-Amzn-ErrorType", "")
    name = header.partition(":")[0] or str(response.fields.get("__type", "")).rpartition("#")[2]
    return name if name.isascii() and name.isalnum() else ""
