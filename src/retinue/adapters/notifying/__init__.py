"""Notifications on their way out: mail, team chat, text messages and any HTTP endpoint."""

from retinue.adapters.notifying.checking import checked_config
from retinue.adapters.notifying.errors import InvalidConfig, ProviderRefused
from retinue.adapters.notifying.providers import PROVIDERS, provider_named, send
from retinue.adapters.notifying.sending import ConfigKey, Message, Outside, Provider, Sent

__all__ = [
    "PROVIDERS",
    "ConfigKey",
    "InvalidConfig",
    "Message",
    "Outside",
    "Provider",
    "ProviderRefused",
    "Sent",
    "checked_config",
    "provider_named",
    "send",
]
