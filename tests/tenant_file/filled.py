"""A tenant in which every section of a file has something, made through the API."""

import hashlib
from typing import Any

from tests.client import Api, Response

PATH = "/api/v1/tenant"
MANUAL = b"Opening hours are nine to five."
CANARY = "canary-7f3b"
_API_TOOL = {"base_url": "https://weather.example", "endpoints": {"get": {"method": "GET", "path": "/now"}}}


async def create(api: Api, path: str, body: Any) -> Any:
    answer = await api.post(path, body)
    assert answer.status in {200, 201}, (path, answer)
    content = answer.json()
    return content.get("data", content) if isinstance(content, dict) and "id" not in content else content


async def upload_manual(api: Api) -> None:
    files = {"file": ("manual.txt", MANUAL, "text/plain")}
    answer = await api.post("/api/v1/files", files=files, fields={"purpose": "knowledge"})
    assert answer.status == 201, answer


async def make_credential(api: Api, name: str = "Weather key") -> Any:
    body = {"name": name, "type": "api_key", "secrets": {"api_key": f"{CANARY}-credential"}}
    return await create(api, "/v1/credentials", body)


async def fill(api: Api) -> dict[str, Any]:
    """Fill every section; return what was made by a short name."""
    credential = await make_credential(api)
    customers = await create(
        api, "/api/v1/data-tables", {"name": "Customers", "columns": [{"name": "email", "type": "email"}]}
    )
    await create(
        api,
        "/api/v1/data-tables",
        {
            "name": "Orders",
            "columns": [
                {"name": "number", "type": "integer", "required": True, "unique": True},
                {"name": "customer", "type": "reference", "table_id": customers["id"]},
            ],
        },
    )
    agent = await make_agent(api, "Support", "You help.\nBe brief.")
    other = await make_agent(api, "Support", "You help others.")
    tools = await _make_tools(api, credential["id"], other["id"])
    await create(api, f"/v1/agents/{agent['id']}/tools", {"tool_id": tools["key"]["id"]})
    await create(api, f"/api/v1/agents/{agent['id']}/sub-agents/attach", {"agent_id": other["id"]})
    for prompt in ("You translate.", "You translate well."):
        body = {"name": "Translator", "primary_model": "local/any", "system_prompt": prompt}
        await create(api, f"/api/v1/agents/{agent['id']}/sub-agents/direct", body)
    workflow = await create(
        api,
        "/api/v1/workflows",
        {
            "name": "08",
            "nodes": [{"id": "ask", "type": "agent", "config": {"agent_id": agent["id"], "message": "1e5"}}],
            "ui": {"positions": {"ask": {"x": 0, "y": 120.5}}},
        },
    )
    await create(
        api,
        "/api/v1/forms",
        {
            "name": "Order",
            "fields": [{"id": "email", "type": "email", "label": "no"}],
            "workflow_id": workflow["id"],
            "data_table_config": {"table_id": customers["id"], "auto_save": True},
        },
    )
    ids = {"agent": agent["id"], "workflow": workflow["id"], "credential": credential["id"]}
    await _connect(api, ids)
    return ids


async def make_agent(api: Api, name: str, prompt: str) -> Any:
    body = {"name": name, "primary_model": "local/any", "system_prompt": prompt}
    return await create(api, "/api/v1/agents", body)


async def _make_tools(api: Api, credential_id: str, agent_id: str) -> dict[str, Any]:
    def body(name: str, **more: Any) -> dict[str, Any]:
        return {
            "name": name, "category": "custom", "tool_type": "rest_api", "config": _API_TOOL,
            "auth_type": "api_key", **more,
        }  # fmt: skip

    own = {"api_key_header": "X-Weather", "api_key_location": "header", "api_key_value": f"{CANARY}-own"}
    named = {"credential_id": credential_id, "api_key_header": "X-Named"}
    return {
        "key": await create(api, "/v1/tools", body("Weather", auth_config=own)),
        "named": await create(api, "/v1/tools", body("Named", auth_config=named)),
        "asked": await create(
            api,
            "/v1/tools",
            {
                "name": "Ask", "category": "custom", "tool_type": "custom", "auth_type": "none",
                "config": {"kind": "agent", "agent_id": agent_id},
            },
        ),
    }  # fmt: skip


async def _connect(api: Api, ids: dict[str, Any]) -> None:
    channel = await create(
        api,
        "/api/v1/notification-channels",
        {
            "name": "Mail", "type": "email", "provider": "sendgrid",
            "config": {"api_key": f"{CANARY}-mail", "from_email": "desk@example.com"},
        },
    )  # fmt: skip
    webhook = await create(
        api,
        "/api/v1/webhooks",
        {
            "url": "https://erp.example/in?key=1", "events": ["form.*"],
            "headers": {"X-Key": f"{CANARY}-hook"}, "filters": {"data.name": "a"},
        },
    )  # fmt: skip
    await create(
        api,
        "/api/v1/incoming-webhooks",
        {
            "name": "Shop", "workflow_id": ids["workflow"],
            "verification": {"type": "hmac_sha256", "header": "X-Sign", "secret": f"{CANARY}-in"},
        },
    )  # fmt: skip
    for config in (
        {"webhook_id": webhook["id"]},
        {"url": "https://other.example/x", "headers": {"X-Sub": f"{CANARY}-sub"}},
    ):
        body = {"event_type": "agent.*", "action_type": "webhook", "action_config": config}
        await create(api, "/api/v1/event-subscriptions", body)
    note = {"channel_id": channel["id"], "title": "{{type}}"}
    body = {"event_type": "form.created", "action_type": "notification", "action_config": note}
    await create(api, "/api/v1/event-subscriptions", body)
    for scope in ({"type": "tenant"}, {"type": "agent", "id": ids["agent"]}):
        await create(api, "/api/v1/budgets", {"scope": scope, "limit_usd": 12.5})
    exporter = {"name": "Tempo", "endpoint": "https://tempo.example", "headers": {"X-T": f"{CANARY}-trace"}}
    await create(api, "/api/v1/trace-exporters", exporter)
    files = {"files": ("manual.txt", MANUAL, "text/plain")}
    assert (await api.post(f"/api/v1/agents/{ids['agent']}/train", files=files)).status == 200


def manual_sum() -> str:
    return hashlib.sha256(MANUAL).hexdigest()


async def export(api: Api, **query: str) -> str:
    answer = await api.get(f"{PATH}/export", query=query or None)
    assert answer.status == 200, answer
    return answer.body.decode()


async def plan(api: Api, document: Any, *, prune: bool = False) -> Response:
    return await api.post(f"{PATH}/plan", {"document": document, "prune": prune})


async def apply(api: Api, document: Any, *, prune: bool = False, **more: Any) -> Response:
    """Plan and apply; return the answer, that of the plan if it fails."""
    planned = await plan(api, document, prune=prune)
    if planned.status != 200:
        return planned
    body = {"document": document, "prune": prune, "plan_hash": planned.json()["plan_hash"]}
    return await api.post(f"{PATH}/apply", body, **more)


def actions(answer: Response) -> set[str]:
    assert answer.status == 200, answer
    return {change["action"] for change in answer.json()["changes"]}
