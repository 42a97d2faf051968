"""How the routes of events and subscriptions are called so that they succeed, and what that may change."""

from tests.contract.writing import Call, Scene, writes

_BODY = {
    "event_type": "order.placed",
    "action_type": "workflow",
    "action_config": {"workflow_id": "wf_1"},
}
_LISTENING = "tenants.is_listened_to"


@writes(_LISTENING, event_subscriptions=1)
async def create_subscription(scene: Scene) -> Call:
    return Call(scene.me, _BODY)


@writes("event_subscriptions.action_config event_subscriptions.active event_subscriptions.updated_at")
async def update_subscription(scene: Scene) -> Call:
    made = (await scene.me.post("/api/v1/event-subscriptions", _BODY)).json()
    body = {"active": False, "action_config": {"workflow_id": "wf_1"}}
    return Call(scene.me, body, {"subscription_id": made["id"]})


@writes()
async def emit_test_event(scene: Scene) -> Call:
    return Call(scene.me, {"event_type": "order.placed", "data": {"total": 7}})


@writes("signing_secrets.secrets signing_secrets.previous_until signing_secrets.updated_at")
async def rotate_signing_secret(scene: Scene) -> Call:
    await scene.me.get("/api/v1/event-subscriptions/signing-secret")
    return Call(scene.me, {"grace_seconds": 5})
