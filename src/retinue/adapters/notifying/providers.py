"""The providers of notifications, and sending by one of them."""

from typing import Any

import msgspec

from retinue.adapters.notifying import http, mailgun, sendgrid, ses, slack, smtp, twilio, vonage
from retinue.adapters.notifying.checking import CREDENTIAL, checked_config
from retinue.adapters.notifying.errors import ProviderRefused
from retinue.adapters.notifying.sending import ConfigKey, Message, Outside, Provider, Sent
from retinue.adapters.notifying.texts import body, one_line
from retinue.kit.ids import new_id
from retinue.kit.redaction import Redactor

_TEXT = ConfigKey("string")
_NEEDED = ConfigKey("string", required=True)
_SECRET = ConfigKey("string", secret=True)
_NEEDED_SECRET = ConfigKey("string", required=True, secret=True)
_WORD = ConfigKey("string", required=True, format="word")
_FROM = ConfigKey("string", required=True, format="email")


async def _keep_inside(_outside: Outside, _config: dict[str, Any], _message: Message) -> Sent:
    """What is shown in the product itself is a record of the domain; nothing goes out."""
    return Sent(detail="in_app")


_ALL = (
    Provider(
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
    Provider(
        sendgrid.ID,
        "email",
        "SendGrid",
        (),
        {"api_key": _NEEDED_SECRET, "from_email": _FROM, "from_name": _TEXT},
        sendgrid.send,
    ),
    Provider(
        mailgun.ID,
        "email",
        "Mailgun",
        (),
        {
            "api_key": _NEEDED_SECRET,
            "domain": ConfigKey("string", required=True, format="domain"),
            "region": ConfigKey("string", default="us", choices=("us", "eu")),
            "from_email": _FROM,
            "from_name": _TEXT,
        },
        mailgun.send,
    ),
    Provider(
        ses.ID,
        "email",
        "Amazon SES",
        ("aws_ses",),
        {
            "access_key_id": _WORD,
            "secret_access_key": _NEEDED_SECRET,
            "region": ConfigKey("string", default="us-east-1", format="region"),
            "from_email": _FROM,
            "from_name": _TEXT,
        },
        ses.send,
    ),
    Provider(
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
    Provider(
        slack.BOT_ID,
        "team_chat",
        "Slack bot",
        (),
        {"bot_token": _NEEDED_SECRET, "default_channel": _TEXT},
        slack.send_as_bot,
    ),
    Provider(
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
    Provider(
        twilio.ID,
        "sms",
        "Twilio",
        (),
        {"account_sid": _WORD, "auth_token": _NEEDED_SECRET, "from_number": _NEEDED},
        twilio.send,
    ),
    Provider(
        vonage.ID,
        "sms",
        "Vonage",
        (),
        {"api_key": _WORD, "api_secret": _NEEDED_SECRET, "from": _NEEDED},
        vonage.send,
    ),
    Provider("in_app", "in_app", "In the product itself", ("builtin",), {}, _keep_inside),
)

PROVIDERS: dict[str, Provider] = {provider.id: provider for provider in _ALL}
_BY_NAME = {name: provider for provider in _ALL for name in (provider.id, *provider.aliases)}


def provider_named(id_or_alias: str) -> Provider | None:
    return _BY_NAME.get(id_or_alias)


async def send(outside: Outside, provider: Provider, config: dict[str, Any], message: Message) -> Sent:
    """Hand one message to the provider; `config` holds the secrets themselves, no longer a credential."""
    whole = {name: value for name, value in config.items() if name != CREDENTIAL}
    checked = checked_config(provider, whole, outside.egress)
    secrets = (str(checked.get(name) or "") for name, key in provider.config.items() if key.secret)
    with Redactor(secrets).guarding_logs():
        return await provider.send(outside, checked, _prepared(message))


def _prepared(message: Message) -> Message:
    """The message without what could break out of its place, and with the words every provider asks for."""
    subject, text = one_line(message.subject), body(message.text)
    if not subject and not text.strip():
        raise ProviderRefused("The message is empty.", is_permanent=True)
    return msgspec.structs.replace(
        message,
        subject=subject or one_line(text, 80),
        text=text if text.strip() else subject,
        html=None if message.html is None else body(message.html),
        id=one_line(message.id) or new_id("msg"),
    )
