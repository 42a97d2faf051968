"""Parsing of recipients: exactly one address or number."""

import re

from retinue.adapters.mail.message import Sender, parse_recipient
from retinue.adapters.notifiers.errors import ProviderRefused
from retinue.adapters.notifiers.message_text import one_line
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject

_SEPARATORS = re.compile(r"[ ().\-/]")
_NUMBER = re.compile(r"((?:whatsapp|rcs):)?\+?([1-9][0-9]{4,14})", re.ASCII)
_MAX_NUMBER_LENGTH = 40
_MAX_CHANNEL_LENGTH = 100
_MAX_NAME_LENGTH = 200


def mail_address(message_recipient: str) -> str:
    try:
        return parse_recipient(message_recipient)
    except Invalid:
        raise ProviderRefused("The recipient must be one email address.", is_permanent=True) from None


def phone_number(message_recipient: str) -> tuple[str, str]:
    """Return the number's prefix (such as `whatsapp:`, usually empty) and its digits with country code."""
    number = _SEPARATORS.sub("", message_recipient) if len(message_recipient) <= _MAX_NUMBER_LENGTH else ""
    matched = _NUMBER.fullmatch(number)
    if matched is None:
        message = "The recipient must be one phone number with its country code."
        raise ProviderRefused(message, is_permanent=True)
    return matched[1] or "", matched[2]


def chat_channel(message_recipient: str, config: JsonObject, key: str) -> str:
    """Return the channel or user of the message, else the configured one, else ""."""
    channel = message_recipient or str(config.get(key) or "")
    if len(channel) > _MAX_CHANNEL_LENGTH or not channel.isprintable() or "," in channel:
        raise ProviderRefused("The recipient must be one channel or user.", is_permanent=True)
    return channel


def sender_name(config: JsonObject) -> str:
    return one_line(str(config.get("from_name") or ""), _MAX_NAME_LENGTH)


def mail_sender(config: JsonObject) -> Sender:
    """Return the sender; its name is quoted so that it cannot become an address."""
    return Sender.of(sender_name(config), parse_recipient(config["from_email"]))
