"""Tests that content of a conversation is read, on any route, only by those who may read the conversation.

The walk is derived from the route table: a new route that shows what it should not fails here.
"""

from collections.abc import AsyncIterator

import pytest

from retinue.domains import DOMAINS
from retinue.kit.context import Context
from retinue.kit.context.manifest import Manifest
from retinue.kit.http.routing import Routes
from retinue.tools.models import ToolExecution
from tests.adapters.llm_server import provider_server
from tests.contract.content_world import ADMINS, OWNERS, ContentWorld, make_content_world
from tests.contract.walk import find_canary, paths_of, read_routes, walk
from tests.factories.people import People
from tests.tools.servers.rest_api import rest_api

pytestmark = pytest.mark.either_database
READERS = ("admin", "super_admin", "tenant_admin", "agent_developer")
STRANGERS = ("viewer", "agent_user")
# Where the walk must find it for those who may read: a walk that finds nothing shows nothing.
PLACES = {
    "export_conversation",
    "get_approval",
    "get_chat_job",
    "get_conversation",
    "get_delivery",
    "get_event",
    "get_execution",
    "get_job",
    "get_received_payload",
    "get_submission",
    "get_workflow_execution",
    "list_approvals",
    "list_channel_logs",
    "list_chat_logs",
    "list_conversations",
    "list_events",
    "list_executions",
    "list_messages",
    "list_notifications",
    "list_received_payloads",
    "resume_chat_stream",
    "stream_notifications",
    "stream_workflow_execution",
    "trace_events",
}
# What is the caller's own, and not the same for everyone.
PERSONAL = {"list_notifications", "stream_notifications", "get_home"}
# What the last seconds held: those who come later hear less.
PASSING = {"stream_event_log"}


@pytest.fixture
async def world(service, people, admin) -> AsyncIterator[ContentWorld]:
    async with provider_server() as provider, rest_api() as remote:
        yield await make_content_world(service, people, admin, provider, remote)


@pytest.mark.one_service("a stream of notifications is listened to in the process that has it")
async def test_content_is_read_exactly_by_those_who_may_read_the_conversation(world: ContentWorld) -> None:
    routes = read_routes(world)
    everything = {route: paths_of(world, route) for route in routes}
    by_admin = await walk(world.people["admin"], everything)
    there = {route: list(by_admin[route.name]) for route in routes if route.name in by_admin}
    found = {canary: find_canary(by_admin, canary) for canary in (OWNERS, ADMINS)}
    assert {name for name, _ in found[OWNERS] | found[ADMINS]} >= PLACES

    for reader in READERS[1:]:
        walked = await walk(world.people[reader], there)
        for canary, places in found.items():
            allowed = {(name, path) for name, path in places if path in walked.get(name, ())}
            assert allowed, reader
            missing = allowed - find_canary(walked, canary)
            assert not {one for one in missing if one[0] not in PERSONAL | PASSING}, reader
        assert b'"redacted":true' not in b"".join(body for some in walked.values() for body in some.values())

    for stranger in STRANGERS:
        walked = await walk(world.people[stranger], there)
        assert walked["get_execution"], "what is left out is left out of an answer"
        assert not find_canary(walked, "CANARY"), stranger
        redacted = {name for name, some in walked.items() if b'"redacted":true' in b"".join(some.values())}
        assert redacted >= {
            "get_execution",
            "list_executions",
            "get_workflow_execution",
            "list_notifications",
        }

    walked = await walk(world.owner, there)
    names = {name for name, _ in find_canary(walked, OWNERS)}
    assert names >= {
        "list_messages",
        "get_execution",
        "list_notifications",
        "list_chat_logs",
        "list_approvals",
    }
    assert not find_canary(walked, ADMINS)


async def test_a_viewer_reads_around_what_is_left_out(world: ContentWorld) -> None:
    viewer = world.people["viewer"]
    said = [
        event
        for event in (await viewer.get("/api/v1/event-log", query={"per_page": 100})).json()["data"]
        if event["type"] == "agent.chat.message"
    ]
    assert said
    for event in said:
        assert event["redacted"] is True
        assert event["data"]["content"] is None
        assert event["data"]["conversation_id"].startswith("conv_")
    (webhook_id,) = world.ids["webhook_id"]
    for delivery_id in world.ids["delivery_id"]:
        delivery = (await viewer.get(f"/api/v1/webhooks/{webhook_id}/executions/{delivery_id}")).json()
        assert delivery["request"]["body"]["type"] == delivery["event_type"]
        if delivery["event_type"] == "agent.chat.message":
            assert delivery["redacted"] is True
            assert {one["response_body"] for one in delivery["attempts"]} == {None}


async def test_who_reads_own_conversations_reads_them_wherever_they_are_quoted(world: ContentWorld) -> None:
    """A role that reads events and deliveries besides its own conversations."""
    path = "/roles/agent_user/permissions"
    admin = world.people["admin"]
    held = (await admin.get(path)).json()["permissions"]
    answer = await admin.put(path, {"permissions": [*held, "events:read", "webhooks:read"]})
    assert answer.status == 200, answer
    wanted = {"list_events", "get_delivery"}
    routes = {route: paths_of(world, route) for route in read_routes(world) if route.name in wanted}
    own = await walk(world.owner, routes)
    assert {name for name, _ in find_canary(own, OWNERS)} == {"list_events", "get_delivery"}
    assert not find_canary(own, ADMINS)
    assert not find_canary(await walk(world.people["agent_user"], routes), "CANARY")


async def test_a_run_that_is_repeated_quotes_what_the_first_one_did(world: ContentWorld) -> None:
    admin, viewer = world.people["admin"], world.people["viewer"]
    flows = (await admin.get("/api/v1/workflows")).json()["data"]
    path = next(f"/api/v1/workflows/{one['id']}/executions" for one in flows if one["name"] == "By event")
    run = (await admin.get(path)).json()["data"][-1]
    assert (await admin.post(f"{path}/{run['id']}/cancel")).status == 200
    again = await admin.post(f"{path}/{run['id']}/retry", {"from_node": "emit"})
    assert again.status == 202, again
    await world.service.runner.drain()
    copy = f"{path}/{again.json()['data']['execution_id']}"
    assert OWNERS.encode() in (await admin.get(copy)).body
    shown = await viewer.get(copy)
    assert (shown.status, shown.json()["data"]["redacted"]) == (200, True)
    assert b"CANARY" not in shown.body


leaks = Routes("/api/v1/leaks", tag="tools")


@leaks.get("", requires="tools:read")
async def list_leaks(ctx: Context) -> list[str]:
    """A planted route that shows content without checking conversations."""
    return [execution.input for execution in await ctx.db.all(ToolExecution)]


async def test_a_new_route_that_shows_content_is_found(make_service) -> None:
    service = await make_service(manifests=(*DOMAINS, Manifest(name="leaks", routes=(leaks,))))
    people = People(service)
    async with provider_server() as provider, rest_api() as remote:
        world = await make_content_world(service, people, await people.super_admin(), provider, remote)
        routes = {route: paths_of(world, route) for route in read_routes(world) if route.tag == "tools"}
        walked = await walk(world.people["viewer"], routes)
    assert {name for name, _ in find_canary(walked, OWNERS)} == {"list_leaks"}
