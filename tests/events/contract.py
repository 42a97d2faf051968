"""Objects and calls of events and subscriptions for the contract tests."""

from retinue.events.models import SigningSecret, Subscription
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.subscriptions import some_event, some_subscription


async def _make(world: World) -> dict[str, str]:
    event = await world.ctx.db.insert(some_event(world.name))
    subscription = await world.ctx.db.insert(some_subscription(world.owner.id, f"order.{world.name}"))
    return {
        "event_id": event.id,
        "event_type": "agent.created",
        "correlation_id": event.correlation_id,
        "subscription_id": subscription.id,
    }


CONTRACT = DomainContract(
    records=(Subscription, SigningSecret), make=_make, shared={"event_type", "correlation_id"}
)


_BODY = {
    "event_type": "order.placed",
    "action_type": "workflow",
    "action_config": {"workflow_id": "wf_1"},
}
_LISTENING = "tenants.is_listened_to tenants.updated_at"


@CONTRACT.writes(_LISTENING, event_subscriptions=1)
async def create_subscription(scene: Scene) -> Call:
    return Call(scene.me, _BODY)


@CONTRACT.writes(
    "event_subscriptions.action_config event_subscriptions.active event_subscriptions.updated_at"
)
async def update_subscription(scene: Scene) -> Call:
    made = (await scene.me.post("/api/v1/event-subscriptions", _BODY)).json()
    body = {"active": False, "action_config": {"workflow_id": "wf_1"}}
    return Call(scene.me, body, {"subscription_id": made["id"]})


@CONTRACT.writes()
async def emit_test_event(scene: Scene) -> Call:
    return Call(scene.me, {"event_type": "order.placed", "data": {"total": 7}})


@CONTRACT.writes("signing_secrets.secrets signing_secrets.previous_until signing_secrets.updated_at")
async def rotate_signing_secret(scene: Scene) -> Call:
    await scene.me.get("/api/v1/event-subscriptions/signing-secret")
    return Call(scene.me, {"grace_seconds": 5})
