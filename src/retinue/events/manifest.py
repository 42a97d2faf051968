from retinue.events.events import (
    SigningSecretRevealed,
    SigningSecretRotated,
    SubscriptionCreated,
    SubscriptionDeleted,
    SubscriptionUpdated,
    Tested,
)
from retinue.events.jobs import JOBS
from retinue.events.live_log import LiveLog
from retinue.events.models import SignedMessage, SigningSecret, Subscription
from retinue.events.queries import find_subscriptions_of_channel, keep_channel_reference
from retinue.events.routes import ROUTES
from retinue.events.subscription_router import ROUTER
from retinue.events.workflow_action import WORKFLOW_ACTION
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.process_state import ProcessState
from retinue.kit.context.references import Reference

manifest = Manifest(
    name="events",
    records=(Subscription, SigningSecret, SignedMessage),
    routes=ROUTES,
    events=(
        Tested,
        SubscriptionCreated,
        SubscriptionUpdated,
        SubscriptionDeleted,
        SigningSecretRevealed,
        SigningSecretRotated,
    ),
    jobs=JOBS,
    routers=(ROUTER,),
    references=(
        Reference(
            to="notification_channel",
            kind="subscriptions",
            find=find_subscriptions_of_channel,
            detach=keep_channel_reference,
        ),
    ),
    actions=(WORKFLOW_ACTION,),
    process_state=(ProcessState(LiveLog, LiveLog, LiveLog.close),),
    config_schemas=(WORKFLOW_ACTION.config_schema,),
)
