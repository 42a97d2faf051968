"""Senders of notifications: email, team chat, text messages and any HTTP endpoint."""

from retinue.adapters.notifiers.channel_config import validate_config
from retinue.adapters.notifiers.errors import InvalidConfig, ProviderRefused
from retinue.adapters.notifiers.notifier import (
    ConfigKey,
    NotificationMessage,
    Notifier,
    SendContext,
    SendReceipt,
)
from retinue.adapters.notifiers.registry import NOTIFIERS, find_notifier, send

__all__ = [
    "NOTIFIERS",
    "ConfigKey",
    "InvalidConfig",
    "NotificationMessage",
    "Notifier",
    "ProviderRefused",
    "SendContext",
    "SendReceipt",
    "find_notifier",
    "send",
    "validate_config",
]
