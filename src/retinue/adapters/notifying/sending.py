"""What every sender is given and gives back."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

from retinue.kit.clock import Clock
from retinue.kit.egress import Egress

TIMEOUT_S = 15.0

Format = Literal["", "url", "email", "host", "port", "domain", "region", "word", "headers"]


class ConfigKey(msgspec.Struct, frozen=True):
    """One key of a provider's configuration; `type` is that of JSON Schema, `format` narrows it."""

    type: str
    required: bool = False
    secret: bool = False
    default: Any = None
    choices: tuple[str, ...] = ()
    format: Format = ""


class Message(msgspec.Struct, frozen=True):
    """A notification for one recipient; `id` stays the same when it is sent again.

    `hops` is how far the chain of its causes has come (`kit.hops`), for receivers that may be us again.
    """

    # An address, a number, a channel or a user; empty for the channel's own target.
    recipient: str
    subject: str
    text: str
    html: str | None = None
    data: dict[str, Any] = {}
    id: str = ""
    hops: int = 0


class Sent(msgspec.Struct, frozen=True):
    """The provider has the message; `provider_id` is what it calls it."""

    provider_id: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Outside:
    """What a sender needs; `base_addresses` puts a private gateway in a provider's place, by its id."""

    egress: Egress
    clock: Clock
    base_addresses: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = TIMEOUT_S

    def address(self, provider_id: str, default: str) -> str:
        return self.base_addresses.get(provider_id, default).rstrip("/")


Send = Callable[[Outside, dict[str, Any], Message], Awaitable[Sent]]
# What one look at a single key cannot tell: the faults of a whole configuration, by key.
Check = Callable[[dict[str, Any], Egress | None], dict[str, str]]


class Provider(msgspec.Struct, frozen=True):
    id: str
    type: str
    name: str
    aliases: tuple[str, ...]
    config: dict[str, ConfigKey]
    send: Send
    check: Check | None = None
