from typing import Annotated

from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RateLimited
from retinue.kit.http.replies import EventStream
from retinue.kit.http.request import Request
from retinue.kit.http.routing import SIGNED_IN, Loaded, Routes
from retinue.notifications import by_hand, inbox, preferences
from retinue.notifications.errors import (
    ChannelInactive,
    ChannelNotFound,
    NotificationNotFound,
    TooManyNotifications,
)
from retinue.notifications.live import follow
from retinue.notifications.models import UserNotification
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

OwnNotification = Annotated[UserNotification, Loaded("notification_id", inbox.find_own, NotificationNotFound)]


@routes.get("", requires=SIGNED_IN)
async def list_notifications(ctx: Context, query: NotificationQuery) -> NotificationPage:
    return NotificationPage.shown(await inbox.page(ctx, query))


@routes.post(
    "",
    requires="notification_channels:write",
    status=202,
    errors=(ChannelNotFound, ChannelInactive, TooManyNotifications),
)
async def send_notification(ctx: Context, body: NotificationSend) -> NotificationsSent:
    return await by_hand.send(ctx, body)


@routes.get("/stream", requires=SIGNED_IN, errors=(RateLimited,))
async def stream_notifications(ctx: Context, request: Request) -> EventStream:
    after, apart = _last_event(request), ctx.apart()
    return EventStream(lambda: follow(apart, after))


@routes.get("/unread/count", requires=SIGNED_IN)
async def count_unread_notifications(ctx: Context) -> UnreadCount:
    return UnreadCount(count=(await inbox.find(ctx)).unread)


@routes.post("/read-all", requires=SIGNED_IN)
async def mark_all_notifications_read(ctx: Context, body: ReadAll) -> MarkedAllRead:
    updated = await inbox.mark_all_read(ctx, body)
    return MarkedAllRead(message=f"{updated} notifications were marked as read.", updated=updated)


@routes.get("/preferences", requires=SIGNED_IN)
async def get_notification_preferences(ctx: Context) -> PreferencesOut:
    return PreferencesOut(preferences=await preferences.read(ctx))


@routes.put("/preferences", requires=SIGNED_IN)
async def update_notification_preferences(ctx: Context, body: PreferencesUpdate) -> PreferencesOut:
    return PreferencesOut(preferences=await preferences.update(ctx, body))


@routes.post("/test", requires=SIGNED_IN, calls_out=True, errors=(TooManyNotifications,))
async def test_notification(ctx: Context, body: NotificationTest) -> NotificationTested:
    return await by_hand.test_self(ctx, body)


@routes.post("/{notification_id}/read", requires=SIGNED_IN)
async def mark_notification_read(ctx: Context, notification: OwnNotification) -> MarkedRead:
    return MarkedRead.shown(await inbox.mark_read(ctx, notification))


@routes.delete("/{notification_id}", requires=SIGNED_IN, status=204)
async def delete_notification(ctx: Context, notification: OwnNotification) -> None:
    await inbox.delete(ctx, notification)


def _last_event(request: Request) -> int | None:
    given = request.header(b"last-event-id")
    if not given:
        return None
    if not given.isascii() or not given.isdigit() or len(given) > 18:
        raise Invalid({"Last-Event-ID": "must be the id of an event"})
    return int(given)
