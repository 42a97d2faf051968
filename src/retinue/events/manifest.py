from retinue.events.acting import ROUTER, act_on_event
from retinue.events.events import (
    SigningSecretRevealed,
    SigningSecretRotated,
    SubscriptionCreated,
    SubscriptionDeleted,
    SubscriptionUpdated,
    Tested,
)
from retinue.events.jobs import forget_old_events
from retinue.events.models import SignedMessage, SigningSecret, Subscription
from retinue.events.posting import post_message
from retinue.events.routes import ROUTES
from retinue.events.workflow_action import WORKFLOW_ACTION
from retinue.kit.manifest import Manifest

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
    jobs=(act_on_event, post_message, forget_old_events),
    routers=(ROUTER,),
    actions=(WORKFLOW_ACTION,),
)
