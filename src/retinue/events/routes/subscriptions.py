from retinue.events import service as subscriptions
from retinue.events import signing
from retinue.events.errors import SubscriptionNotFound, TooManySubscriptions
from retinue.events.loaders import SubscriptionById
from retinue.events.queries import page_of_subscriptions
from retinue.events.schemas import (
    SigningSecretOut,
    SigningSecretRotate,
    SigningSecretRotation,
    SubscriptionCreate,
    SubscriptionList,
    SubscriptionOut,
    SubscriptionUpdate,
    Switched,
)
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.routing import Routes
from retinue.kit.lists import FlatPage

routes = Routes("/api/v1/event-subscriptions", tag="events")
of_workflows = Routes("/api/v1/workflows/{workflow_id}/subscriptions", tag="events")


@routes.get("", requires="events:read")
async def list_subscriptions(ctx: Context, query: SubscriptionList) -> FlatPage[SubscriptionOut]:
    """Return the subscriptions of the tenant, by default newest first. Values of headers are masked."""
    return (await page_of_subscriptions(ctx, query)).to_flat_page(SubscriptionOut.of)


@routes.post("", requires="events:write", status=201, errors=(TooManySubscriptions, VaultSealed))
async def create_subscription(ctx: Context, body: SubscriptionCreate) -> SubscriptionOut:
    """Create a subscription that carries out an action for every matching event. A tenant can have 1,000."""
    return SubscriptionOut.of(await subscriptions.create(ctx, body))


@routes.get("/signing-secret", requires="events:write", errors=(VaultSealed,))
async def get_signing_secret(ctx: Context) -> SigningSecretOut:
    """Return the secret that signs messages to the `url` of a subscription and to a `callback_url`.

    It is created on first use; every read is audited.
    """
    return await signing.reveal(ctx)


@routes.post("/signing-secret/rotate", requires="events:write", idempotent=False, errors=(VaultSealed,))
async def rotate_signing_secret(ctx: Context, body: SigningSecretRotate) -> SigningSecretRotation:
    """Replace the tenant's signing secret and return the new one.

    During the grace period messages carry signatures of both secrets.
    """
    return await signing.rotate(ctx, body.grace_seconds)


@routes.get("/{subscription_id}", requires="events:read")
async def get_subscription(
    ctx: Context,  # noqa: ARG001  every handler takes it
    subscription: SubscriptionById,
) -> SubscriptionOut:
    """Return a subscription with its counters and its latest error. Values of headers are masked."""
    return SubscriptionOut.of(subscription)


@routes.put("/{subscription_id}", requires="events:write", errors=(SubscriptionNotFound,))
async def update_subscription(
    ctx: Context, subscription: SubscriptionById, body: SubscriptionUpdate
) -> SubscriptionOut:
    """Change the fields that are sent.

    `action_config` is replaced as a whole; masked headers keep their stored values.
    """
    return SubscriptionOut.of(await subscriptions.update(ctx, subscription, body))


@routes.delete("/{subscription_id}", requires="events:write", status=204)
async def delete_subscription(ctx: Context, subscription: SubscriptionById) -> None:
    """Delete the subscription. Actions that are queued for it are dropped."""
    await subscriptions.delete(ctx, subscription)


@of_workflows.post("/activate", requires="events:write")
async def activate_subscriptions(ctx: Context, workflow_id: str) -> Switched:
    """Activate all subscriptions whose `action_config` names the workflow.

    An unknown workflow answers 200 with `updated: 0`.
    """
    return await subscriptions.set_active_for_workflow(ctx, workflow_id, active=True)


@of_workflows.post("/deactivate", requires="events:write")
async def deactivate_subscriptions(ctx: Context, workflow_id: str) -> Switched:
    """Deactivate all subscriptions whose `action_config` names the workflow.

    An unknown workflow answers 200 with `updated: 0`.
    """
    return await subscriptions.set_active_for_workflow(ctx, workflow_id, active=False)
