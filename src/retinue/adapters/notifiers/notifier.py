"""The interface of all senders: configuration, message, receipt and context."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from retinue.kit.clock import Clock
from retinue.kit.egress import Egress
from retinue.kit.json_types import JsonObject

SEND_TIMEOUT_SECONDS = 15.0

ConfigFormat = Literal["", "url", "email", "host", "port", "domain", "region", "word", "headers"]


class ConfigKey(msgspec.Struct, frozen=True):
    """One key of a provider's configuration; `type` is a JSON Schema type, `format` narrows it."""

    type: str
    required: bool = False
    secret: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    format: ConfigFormat = ""


class NotificationMessage(msgspec.Struct, frozen=True):
    """A notification for one recipient; `id` stays the same when it is sent again.

    `hops` counts the chain of causes (`kit.hop_count`), because the receiver may be this server again.
    """

    # An address, a number, a channel or a user; empty for the channel's own target.
    recipient: str
    subject: str
    text: str
    html: str | None = None
    data: JsonObject = {}
    id: str = ""
    hops: int = 0


class SendReceipt(msgspec.Struct, frozen=True):
    """Confirms that the provider accepted the message; `provider_id` is the provider's id for it."""

    provider_id: str = ""
    detail: str = ""


@dataclass(frozen=True)
class SendContext:
    """Dependencies of a sender; `base_addresses` replaces a provider's address, by its id, with a gateway."""

    egress: Egress
    clock: Clock
    base_addresses: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = SEND_TIMEOUT_SECONDS

    def address(self, provider_id: str, default: str) -> str:
        return self.base_addresses.get(provider_id, default).rstrip("/")


SendFunction = Callable[[SendContext, JsonObject, NotificationMessage], Awaitable[SendReceipt]]
# Checks a whole configuration beyond single keys; returns the faults by key.
ConfigCheck = Callable[[JsonObject, Egress | None], dict[str, str]]


class Notifier(msgspec.Struct, frozen=True):
    id: str
    type: str
    name: str
    aliases: tuple[str, ...]
    config: dict[str, ConfigKey]
    send: SendFunction
    check: ConfigCheck | None = None
