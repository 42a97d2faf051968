"""What is to be said, to whom and how, before any of it is stored."""

import re
from typing import Any

import msgspec

from retinue.access.models import Role
from retinue.notifications.models import Channel, ChannelType, Priority

LONGEST_TITLE = 200
LONGEST_MESSAGE = 10_000
TEST_TYPE = "test"

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_CONTROLS_BUT_LINES = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """Whoever was told the same `dedupe_key` within a day is not told again."""

    type: str
    title: str
    message: str = ""
    data: dict[str, Any] = {}
    priority: Priority = Priority.normal
    action_url: str | None = None
    dedupe_key: str = ""


class Recipients(msgspec.Struct, frozen=True, kw_only=True):
    """Everyone named, and everyone with one of the roles; who is not active hears nothing."""

    user_ids: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    is_everyone: bool = False


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """Ways that were chosen instead of leaving it to the preferences: types of channels, or certain ones."""

    types: tuple[ChannelType, ...] = ()
    channels: tuple[Channel, ...] = ()


class AcceptedDelivery(msgspec.Struct, frozen=True):
    channel_id: str
    log_id: str


class Notified(msgspec.Struct, kw_only=True):
    """What became of it: notifications that were stored, and deliveries that are on their way."""

    notification_ids: list[str] = []
    deliveries: list[AcceptedDelivery] = []


def one_line(text: str) -> str:
    """A title: one line, not too long, whatever it was made from."""
    return _CONTROLS.sub(" ", text).strip()[:LONGEST_TITLE]


def plain(text: str) -> str:
    """A message: line breaks are kept, other control characters are not."""
    return _CONTROLS_BUT_LINES.sub(" ", text)[:LONGEST_MESSAGE]
