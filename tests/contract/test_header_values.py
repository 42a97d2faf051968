"""Values of custom headers are read by those who may change them, and by nobody else, on whatever route."""

from typing import Any

from retinue.access.models import Role
from retinue.kit.text.header_masks import MASK
from tests.contract.walk import Walked, find_canary, known_ids, paths_of, read_routes, walk
from tests.factories.agents import attach_tool, make_agent
from tests.factories.tools import endpoint, make_tool
from tests.factories.workflows import PATH, make_workflow, node, start

SECRET = "CANARY-in-a-header"
HEADERS = {"X-Key": SECRET}
URL = "http://127.0.0.1:9/nobody"
# Where the walk must find it for those who may change it.
PLACES = {
    "get_agent_version",
    "get_delivery",
    "get_notification_channel",
    "get_tool",
    "get_webhook",
    "get_workflow",
    "get_workflow_execution",
    "get_workflow_version",
    "list_agent_tools",
    "list_webhooks",
    "list_workflow_versions",
    "list_workflows",
}


async def make_headers(admin: Any) -> None:
    config = {"base_url": URL, "endpoints": endpoint("/x", default_headers=HEADERS)}
    tool = await make_tool(admin, config=config)
    agent = await make_agent(admin)
    await attach_tool(
        admin, agent, tool, config_override={"endpoints": endpoint("/y", default_headers=HEADERS)}
    )
    await admin.put(f"/api/v1/agents/{agent['id']}", {"name": "Another version"})
    channel = {"name": "C", "type": "webhook", "provider": "http", "config": {"url": URL, "headers": HEADERS}}
    assert (await admin.post("/api/v1/notification-channels", channel)).status == 201
    webhook = await admin.post("/api/v1/webhooks", {"url": URL, "events": ["system.*"], "headers": HEADERS})
    assert (await admin.post(f"/api/v1/webhooks/{webhook.json()['id']}/test", {})).status == 200
    subscription = {
        "event_type": "form.*",
        "action_type": "webhook",
        "action_config": {"url": URL, "headers": HEADERS},
    }
    assert (await admin.post("/api/v1/event-subscriptions", subscription)).status == 201
    flow = await make_workflow(
        admin,
        node("call", "http", url=URL, headers=HEADERS, on_error="continue"),
        node(
            "each",
            "loop",
            items=[1],
            node=node("inner", "http", url=URL, headers=HEADERS),
            on_error="continue",
        ),
    )
    await start(admin, flow)


async def test_only_who_may_change_headers_reads_their_values(service, people, admin) -> None:
    await make_headers(admin)
    await service.runner.drain()
    tenant = await people.default_tenant()
    everyone = {role.value: await people.signed_in(role, tenant) for role in Role}
    world = Walked(service, everyone, await known_ids(people, tenant.id))
    routes = {route: paths_of(world, route) for route in read_routes(world)}
    found = find_canary(await walk(everyone["tenant_admin"], routes), SECRET)
    assert {name for name, _ in found} >= PLACES
    for role in ("viewer", "agent_user"):
        walked = await walk(everyone[role], routes)
        assert not find_canary(walked, SECRET), role
        assert find_canary(walked, MASK), "their names are shown"


async def test_a_mask_that_is_sent_back_keeps_the_value(service, people, admin) -> None:
    await make_headers(admin)
    viewer = await people.signed_in(Role.viewer, await people.default_tenant())
    (tool_id,) = (await known_ids(people, admin.user.tenant_id))["tool_id"]
    shown = (await viewer.get(f"/v1/tools/{tool_id}")).json()["data"]["config"]
    assert shown["endpoints"]["only"]["default_headers"] == {"X-Key": MASK}
    changed = await admin.put(f"/v1/tools/{tool_id}", {"config": shown})
    assert changed.json()["data"]["config"]["endpoints"]["only"]["default_headers"] == HEADERS

    (flow,) = (await viewer.get(PATH)).json()["data"]
    changed = await admin.put(f"{PATH}/{flow['id']}", {"nodes": flow["nodes"]})
    assert changed.status == 200, changed
    call, each = changed.json()["data"]["nodes"]
    assert call["config"]["headers"] == each["config"]["node"]["config"]["headers"] == HEADERS

    (channel,) = (await viewer.get("/api/v1/notification-channels")).json()["data"]
    path = f"/api/v1/notification-channels/{channel['id']}"
    config = (await viewer.get(path)).json()["config"]
    assert config["headers"] == {"X-Key": MASK}
    assert (await admin.put(path, {"config": config})).json()["config"]["headers"] == HEADERS
