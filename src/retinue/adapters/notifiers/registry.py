"""The registry of notification providers."""

import msgspec

from retinue.adapters.notifiers import http, mailgun, sendgrid, ses, slack, smtp, twilio, vonage
from retinue.adapters.notifiers.channel_config import CREDENTIAL_KEY, validate_config
from retinue.adapters.notifiers.errors import ProviderRefused
from retinue.adapters.notifiers.message_text import clean_body, one_line
from retinue.adapters.notifiers.notifier import (
    ConfigKey,
    NotificationMessage,
    Notifier,
    SendContext,
    SendReceipt,
)
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.kit.text.redaction import Redactor

_TEXT = ConfigKey("string")
_REQUIRED = ConfigKey("string", required=True)
_SECRET = ConfigKey("string", secret=True)
_REQUIRED_SECRET = ConfigKey("string", required=True, secret=True)
_WORD = ConfigKey("string", required=True, format="word")
_FROM = ConfigKey("string", required=True, format="email")


async def _send_in_app(
    _context: SendContext, _config: JsonObject, _message: NotificationMessage
) -> SendReceipt:
    """Send nothing: the domain stores in-app notifications itself."""
    return SendReceipt(detail="in_app")


_NOTIFIERS = (
    Notifier(
        smtp.ID,
        "email",
        "SMTP",
        (),
        {
            "host": ConfigKey("string", required=True, format="host"),
            "port": ConfigKey("integer", format="port"),
            "username": _TEXT,
            "password": _SECRET,
            "encryption": ConfigKey("string", default="auto", choices=smtp.ENCRYPTIONS),
            "from_email": ConfigKey("string", format="email"),
            "from_name": _TEXT,
        },
        smtp.send,
        smtp.check,
    ),
    Notifier(
        sendgrid.ID,
        "email",
        "SendGrid",
        (),
        {"api_key": _REQUIRED_SECRET, "from_email": _FROM, "from_name": _TEXT},
        sendgrid.send,
    ),
    Notifier(
        mailgun.ID,
        "email",
        "Mailgun",
        (),
        {
            "api_key": _REQUIRED_SECRET,
            "domain": ConfigKey("string", required=True, format="domain"),
            "region": ConfigKey("string", default="us", choices=("us", "eu")),
            "from_email": _FROM,
            "from_name": _TEXT,
        },
        mailgun.send,
    ),
    Notifier(
        ses.ID,
        "email",
        "Amazon SES",
        ("aws_ses",),
        {
            "access_key_id": _WORD,
            "secret_access_key": _REQUIRED_SECRET,
            "region": ConfigKey("string", default="us-east-1", format="region"),
            "from_email": _FROM,
            "from_name": _TEXT,
        },
        ses.send,
    ),
    Notifier(
        slack.WEBHOOK_ID,
        "team_chat",
        "Incoming webhook (Slack, Mattermost, Rocket.Chat, Discord)",
        ("slack",),
        {
            "webhook_url": ConfigKey("string", required=True, secret=True, format="url"),
            "channel": _TEXT,
            "username": _TEXT,
        },
        slack.send_to_webhook,
    ),
    Notifier(
        slack.BOT_ID,
        "team_chat",
        "Slack bot",
        (),
        {"bot_token": _REQUIRED_SECRET, "default_channel": _TEXT},
        slack.send_as_bot,
    ),
    Notifier(
        http.ID,
        "webhook",
        "HTTP endpoint",
        ("webhook", "generic"),
        {
            "url": ConfigKey("string", required=True, format="url"),
            "method": ConfigKey("string", default="POST", choices=http.METHODS),
            "headers": ConfigKey("object", format="headers"),
            "secret": _SECRET,
        },
        http.send,
        http.check,
    ),
    Notifier(
        twilio.ID,
        "sms",
        "Twilio",
        (),
        {"account_sid": _WORD, "auth_token": _REQUIRED_SECRET, "from_number": _REQUIRED},
        twilio.send,
    ),
    Notifier(
        vonage.ID,
        "sms",
        "Vonage",
        (),
        {"api_key": _WORD, "api_secret": _REQUIRED_SECRET, "from": _REQUIRED},
        vonage.send,
    ),
    Notifier("in_app", "in_app", "In the product itself", ("builtin",), {}, _send_in_app),
)

NOTIFIERS: dict[str, Notifier] = {provider.id: provider for provider in _NOTIFIERS}
_BY_NAME = {name: provider for provider in _NOTIFIERS for name in (provider.id, *provider.aliases)}


def find_notifier(id_or_alias: str) -> Notifier | None:
    return _BY_NAME.get(id_or_alias)


async def send(
    context: SendContext, provider: Notifier, config: JsonObject, message: NotificationMessage
) -> SendReceipt:
    """Send one message; `config` contains the secrets themselves rather than a credential."""
    plain_config = {name: value for name, value in config.items() if name != CREDENTIAL_KEY}
    checked = validate_config(provider, plain_config, context.egress)
    secrets = (str(checked.get(name) or "") for name, key in provider.config.items() if key.secret)
    with Redactor(secrets).guarding_logs():
        return await provider.send(context, checked, _prepare_message(message))


def _prepare_message(message: NotificationMessage) -> NotificationMessage:
    """Clean the texts and fill in the subject and text that every provider requires."""
    subject, text = one_line(message.subject), clean_body(message.text)
    if not subject and not text.strip():
        raise ProviderRefused("The message is empty.", is_permanent=True)
    return msgspec.structs.replace(
        message,
        subject=subject or one_line(text, 80),
        text=text if text.strip() else subject,
        html=None if message.html is None else clean_body(message.html),
        id=one_line(message.id) or new_id("msg"),
    )
