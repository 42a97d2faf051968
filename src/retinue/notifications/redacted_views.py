"""Notifications and channel logs, without conversation content the caller may not read (ADR 21)."""

from collections.abc import Sequence

from retinue.kit.context import Context
from retinue.kit.context.conversation_access import load_content_reader
from retinue.notifications.models import Delivery, UserNotification
from retinue.notifications.schemas import ChannelLogOut, NotificationOut


async def shown_notifications(ctx: Context, stored: Sequence[UserNotification]) -> list[NotificationOut]:
    """Return the notifications, redacted where the caller may not read a quoted conversation."""
    reader = await load_content_reader(ctx, (row.conversation_ids for row in stored))
    return [
        NotificationOut.from_record(row, is_readable=reader.may_read(row.conversation_ids)) for row in stored
    ]


async def shown_logs(ctx: Context, stored: Sequence[Delivery]) -> list[ChannelLogOut]:
    """Return the log entries, redacted where the caller may not read a quoted conversation."""
    reader = await load_content_reader(ctx, (row.conversation_ids for row in stored))
    return [
        ChannelLogOut.from_record(row, is_readable=reader.may_read(row.conversation_ids)) for row in stored
    ]
