from typing import Annotated

from retinue.kit.context import Context
from retinue.kit.errors import RateLimited
from retinue.kit.http.last_event import read_last_event_id
from retinue.kit.http.replies import EventStream
from retinue.kit.http.request import Request
from retinue.kit.http.routing import SIGNED_IN, PathLoader, Routes
from retinue.notifications import inbox, manual_sends, preferences
from retinue.notifications.errors import (
    ChannelInactive,
    ChannelNotFound,
    NotificationNotFound,
    TooManyNotifications,
)
from retinue.notifications.live_inboxes import follow_inbox
from retinue.notifications.models import UserNotification
from retinue.notifications.redacted_views import shown_notifications
from retinue.notifications.schemas import (
    MarkedAllRead,
    MarkedRead,
    NotificationPage,
    NotificationQuery,
    NotificationSend,
    NotificationsSent,
    NotificationTest,
    NotificationTested,
    PreferencesOut,
    PreferencesUpdate,
    ReadAll,
    UnreadCount,
)

routes = Routes("/api/v1/notifications", tag="notifications")

OwnNotification = Annotated[
    UserNotification, PathLoader("notification_id", inbox.find_own, NotificationNotFound)
]


@routes.get("", requires=SIGNED_IN)
async def list_notifications(ctx: Context, query: NotificationQuery) -> NotificationPage:
    """List the caller's own notifications, newest first."""
    page = await inbox.page(ctx, query)
    return NotificationPage.of(page, data=await shown_notifications(ctx, page.items))


@routes.post(
    "",
    requires="notification_channels:write",
    status=202,
    errors=(ChannelNotFound, ChannelInactive, TooManyNotifications),
)
async def send_notification(ctx: Context, body: NotificationSend) -> NotificationsSent:
    """Notify users of the tenant.

    Name the recipients by `user_ids`, `roles` or `all`; only a notification to fixed destinations, such as a
    team chat or webhook, needs none. Mail goes to verified addresses only. Deliveries are made in the
    background. At most 120 requests per minute and tenant.
    """
    return await manual_sends.send(ctx, body)


@routes.get("/stream", requires=SIGNED_IN, errors=(RateLimited,))
async def stream_notifications(ctx: Context, request: Request) -> EventStream:
    """Receive the caller's notifications, and changes of the tenant's objects, as server-sent events.

    `notification` events carry a notification, `unread` events the number of unread ones. `changed` events
    tell lists what to load again: `{ type, id, by }`, about types that the caller may read, within about a
    second. `by` is the user who changed it. If many changed, `id` is null, as for others' conversations.
    Send the last event's id as `Last-Event-ID` to receive missed notifications. At most 20 streams per user.
    """
    after, detached = read_last_event_id(request), ctx.detached()
    return EventStream(lambda: follow_inbox(detached, after), is_endless=True)


@routes.get("/unread/count", requires=SIGNED_IN)
async def count_unread_notifications(ctx: Context) -> UnreadCount:
    """Return how many unread notifications the caller has."""
    return UnreadCount(count=(await inbox.find_inbox(ctx)).unread)


@routes.post("/read-all", requires=SIGNED_IN)
async def mark_all_notifications_read(ctx: Context, body: ReadAll) -> MarkedAllRead:
    """Mark the caller's unread notifications as read; `type` and `before` narrow them down."""
    updated = await inbox.mark_all_read(ctx, body)
    return MarkedAllRead(message=f"{updated} notifications were marked as read.", updated=updated)


@routes.get("/preferences", requires=SIGNED_IN)
async def get_notification_preferences(ctx: Context) -> PreferencesOut:
    """Return how the caller receives each type of notification, including defaults."""
    return PreferencesOut(preferences=await preferences.load_own(ctx))


@routes.put("/preferences", requires=SIGNED_IN)
async def update_notification_preferences(ctx: Context, body: PreferencesUpdate) -> PreferencesOut:
    """Change how the caller receives notifications.

    Types and channels that are not sent stay unchanged.
    """
    return PreferencesOut(preferences=await preferences.update(ctx, body))


@routes.post("/test", requires=SIGNED_IN, calls_out=True, errors=(TooManyNotifications,))
async def test_notification(ctx: Context, body: NotificationTest) -> NotificationTested:
    """Send a test notification to the caller's own account.

    Without an active mail channel, `email` is sent by the instance itself; other types then answer 200 with
    `success: false`. At most ten tests per minute and user.
    """
    return await manual_sends.test_self(ctx, body)


@routes.post("/{notification_id}/read", requires=SIGNED_IN)
async def mark_notification_read(ctx: Context, notification: OwnNotification) -> MarkedRead:
    """Mark one of the caller's notifications as read. Marking it again keeps the first `read_at`."""
    return MarkedRead.from_record(await inbox.mark_read(ctx, notification))


@routes.delete("/{notification_id}", requires=SIGNED_IN, status=204)
async def delete_notification(ctx: Context, notification: OwnNotification) -> None:
    """Delete one of the caller's notifications."""
    await inbox.delete(ctx, notification)
