from retinue.kit.manifest import Listener, Manifest
from retinue.kit.references import Reference
from retinue.notifications.actions import action
from retinue.notifications.channels import detach_credential
from retinue.notifications.delivering import deliver_notification
from retinue.notifications.events import (
    ChannelCreated,
    ChannelDeleted,
    ChannelFailed,
    ChannelRevealed,
    ChannelUpdated,
)
from retinue.notifications.jobs import purge_notifications
from retinue.notifications.listening import TOLD, notify_of_event
from retinue.notifications.models import (
    Channel,
    ChannelTotals,
    Delivery,
    Inbox,
    Preferences,
    SeenKey,
    UserNotification,
)
from retinue.notifications.queries import find_users_of_credential
from retinue.notifications.routes import ROUTES

manifest = Manifest(
    name="notifications",
    records=(Channel, Delivery, ChannelTotals, UserNotification, Inbox, Preferences, SeenKey),
    routes=ROUTES,
    events=(ChannelCreated, ChannelUpdated, ChannelDeleted, ChannelRevealed, ChannelFailed),
    jobs=(deliver_notification, notify_of_event, purge_notifications),
    listeners=tuple(Listener(type, notify_of_event) for type in TOLD),
    references=(
        Reference(to="credential", kind="channels", find=find_users_of_credential, detach=detach_credential),
    ),
    actions=(action,),
)
