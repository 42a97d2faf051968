"""Notifications, recipients and routes before anything is stored."""

import re

import msgspec

from retinue.access.models import Role
from retinue.adapters.mail.mail_body import Paragraph
from retinue.kit.json_types import JsonObject
from retinue.notifications.models import Channel, ChannelType, Priority

MAX_TITLE_LENGTH = 200
MAX_MESSAGE_LENGTH = 10_000
TEST_TYPE = "test"

_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_CONTROLS_BUT_LINES = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """A user already notified with the same `dedupe_key` within a day is skipped.

    `mail` replaces the message in mails. Only the recipient reads it, so it may contain more.
    """

    type: str
    title: str
    message: str = ""
    data: JsonObject = {}
    priority: Priority = Priority.normal
    action_url: str | None = None
    dedupe_key: str = ""
    mail: tuple[Paragraph, ...] = ()


class Recipients(msgspec.Struct, frozen=True, kw_only=True):
    """The named users and all users with one of the roles; inactive users are skipped.

    `emails` are addresses of any person. A user's address means that user; the others get a mail if the
    tenant allows it.
    """

    user_ids: tuple[str, ...] = ()
    roles: tuple[Role, ...] = ()
    emails: tuple[str, ...] = ()
    is_everyone: bool = False


class NotificationRoute(msgspec.Struct, frozen=True, kw_only=True):
    """Chosen channel types or channels, which override the users' preferences."""

    types: tuple[ChannelType, ...] = ()
    channels: tuple[Channel, ...] = ()


class AcceptedDelivery(msgspec.Struct, frozen=True):
    channel_id: str
    log_id: str


class SkippedChannel(msgspec.Struct, frozen=True):
    """A chosen channel type to which nothing was sent: `reason` for programs, `message` for people."""

    channel_type: ChannelType
    reason: str
    message: str


class NotifyResult(msgspec.Struct, kw_only=True):
    """The stored notifications, the accepted deliveries and the skipped channel types."""

    notification_ids: list[str] = []
    deliveries: list[AcceptedDelivery] = []
    skipped: list[SkippedChannel] = []


def skipped_no_active_channel(type: ChannelType) -> SkippedChannel:
    message = (
        f"Nothing was sent: there is no active channel of type {type}. "
        "Add one under /api/v1/notification-channels or activate it."
    )
    return SkippedChannel(type, "no_active_channel", message)


def skipped_no_verified_address() -> SkippedChannel:
    message = "No mail was sent: none of the recipients has a verified email address."
    return SkippedChannel(ChannelType.email, "no_verified_address", message)


def clean_title(text: str) -> str:
    """Return the text as one line of limited length."""
    return _CONTROLS.sub(" ", text).strip()[:MAX_TITLE_LENGTH]


def clean_message(text: str) -> str:
    """Return the text without control characters other than line breaks."""
    return _CONTROLS_BUT_LINES.sub(" ", text)[:MAX_MESSAGE_LENGTH]
