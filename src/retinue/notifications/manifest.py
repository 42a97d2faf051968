from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import ProcessState
from retinue.kit.context.references import Reference
from retinue.kit.events.declare import Listener
from retinue.notifications.actions import action
from retinue.notifications.channels import detach_credential
from retinue.notifications.config_schemas import CONFIG_SCHEMAS as CHANNEL_CONFIG_SCHEMAS
from retinue.notifications.event_notifications import EVENT_NOTIFICATIONS
from retinue.notifications.events import (
    ChannelCreated,
    ChannelDeleted,
    ChannelFailed,
    ChannelRevealed,
    ChannelUpdated,
)
from retinue.notifications.inbox import find_inbox_referrers, lock_inbox_of_user
from retinue.notifications.job_kinds import NOTIFY_OF_EVENT
from retinue.notifications.jobs import JOBS
from retinue.notifications.live_inboxes import LiveInboxes
from retinue.notifications.models import (
    Channel,
    ChannelTotals,
    DedupeKey,
    Delivery,
    Inbox,
    OutsiderMailCount,
    Preferences,
    UserNotification,
)
from retinue.notifications.queries import find_users_of_credential
from retinue.notifications.routes import ROUTES

manifest = Manifest(
    name="notifications",
    records=(
        Channel,
        Delivery,
        ChannelTotals,
        UserNotification,
        Inbox,
        Preferences,
        DedupeKey,
        OutsiderMailCount,
    ),
    routes=ROUTES,
    events=(ChannelCreated, ChannelUpdated, ChannelDeleted, ChannelRevealed, ChannelFailed),
    jobs=JOBS,
    listeners=tuple(Listener(type, NOTIFY_OF_EVENT) for type in EVENT_NOTIFICATIONS),
    references=(
        Reference(to="credential", kind="channels", find=find_users_of_credential, detach=detach_credential),
        Reference(to="user", kind="inboxes", find=find_inbox_referrers, detach=lock_inbox_of_user),
    ),
    actions=(action,),
    config_schemas=(action.config_schema, *CHANNEL_CONFIG_SCHEMAS),
    process_state=(ProcessState(LiveInboxes, LiveInboxes, LiveInboxes.close),),
)
