from retinue.events.events import (
    SigningSecretRevealed,
    SigningSecretRotated,
    SubscriptionCreated,
    SubscriptionDeleted,
    SubscriptionUpdated,
    Tested,
)
from retinue.events.jobs import JOBS
from retinue.events.models import SignedMessage, SigningSecret, Subscription
from retinue.events.routes import ROUTES
from retinue.events.subscription_router import ROUTER
from retinue.events.workflow_action import WORKFLOW_ACTION
from retinue.kit.context.manifest import Manifest

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
    actions=(WORKFLOW_ACTION,),
    config_schemas=(WORKFLOW_ACTION.config_schema,),
)
