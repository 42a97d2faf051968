"""Whom a message goes to: exactly one address or number, or nobody."""

import re
from email.headerregistry import Address
from email.utils import formataddr
from typing import Any

from retinue.adapters.mail.message import Sender, recipient
from retinue.adapters.notifying.errors import ProviderRefused
from retinue.adapters.notifying.texts import one_line
from retinue.kit.errors import Invalid

_SEPARATORS = re.compile(r"[ ().\-/]")
_NUMBER = re.compile(r"((?:whatsapp|rcs):)?\+?([1-9][0-9]{4,14})", re.ASCII)
_LONGEST_NUMBER = 40
_LONGEST_CHANNEL = 100
_LONGEST_NAME = 200


def mail_address(message_recipient: str) -> str:
    try:
        return recipient(message_recipient)
    except Invalid:
        raise ProviderRefused("The recipient must be one mail address.", is_permanent=True) from None


def phone_number(message_recipient: str) -> tuple[str, str]:
    """What stands before the number (`whatsapp:`, mostly nothing), and its digits with the country code."""
    number = _SEPARATORS.sub("", message_recipient) if len(message_recipient) <= _LONGEST_NUMBER else ""
    matched = _NUMBER.fullmatch(number)
    if matched is None:
        message = "The recipient must be one telephone number with its country code."
        raise ProviderRefused(message, is_permanent=True)
    return matched[1] or "", matched[2]


def chat_channel(message_recipient: str, config: dict[str, Any], key: str) -> str:
    """The channel or user of the message, else the configured one, else nothing."""
    channel = message_recipient or str(config.get(key) or "")
    if len(channel) > _LONGEST_CHANNEL or not channel.isprintable() or "," in channel:
        raise ProviderRefused("The recipient must be one channel or user.", is_permanent=True)
    return channel


def sender_name(config: dict[str, Any]) -> str:
    return one_line(str(config.get("from_name") or ""), _LONGEST_NAME)


def mail_sender(config: dict[str, Any]) -> Sender:
    """Whom the mail is from; the name is quoted, so that it never becomes an address."""
    address, name = recipient(config["from_email"]), sender_name(config)
    return Sender(str(Address(name, addr_spec=address)) if name else address, address)


def encoded_sender(config: dict[str, Any]) -> str:
    """The same for an API that takes the header as it is sent, in ASCII."""
    return formataddr((sender_name(config), recipient(config["from_email"])))
