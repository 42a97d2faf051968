"""Incoming webhooks: through the API, or straight into the database."""

from typing import Any

from retinue.incoming.models import IncomingWebhook, ReceivedPayload
from retinue.kit.ids import new_id
from tests.client import Api

PATH = "/api/v1/incoming-webhooks"


def some_incoming_webhook(created_by: str, name: str = "Hook") -> IncomingWebhook:
    return IncomingWebhook(name=name, slug=new_id("").removeprefix("_"), created_by=created_by)


def some_received(hook: IncomingWebhook, payload: str = "null") -> ReceivedPayload:
    return ReceivedPayload(
        incoming_webhook_id=hook.id,
        payload=payload,
        payload_bytes=len(payload),
        headers={},
        query={},
        event_id=new_id("evt"),
        correlation_id="cor_test",
    )


async def make_hook(api: Api, **more: Any) -> dict[str, Any]:
    answer = await api.post(PATH, {"name": "Shop", **more})
    assert answer.status == 201, answer
    return answer.json()


async def list_received(api: Api, hook: dict[str, Any], **query: Any) -> list[dict[str, Any]]:
    """Return the payloads that a webhook has received, newest first."""
    answer = await api.get(f"{PATH}/{hook['id']}/events", query={"per_page": 100, **query})
    assert answer.status == 200, answer
    return answer.json()["data"]


def address(hook: dict[str, Any]) -> str:
    return f"/webhooks/in/{hook['slug']}"
