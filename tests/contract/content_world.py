"""A conversation whose every word is a canary, with everything in a tenant that hears of it."""

from typing import Any

from retinue.access.models import Role
from retinue.app import Service
from tests.adapters.llm_replies import Call, Reply
from tests.adapters.llm_server import ProviderServer
from tests.chat.approving import questions_of
from tests.chat.speaking import path_of, reply_to
from tests.client import Api
from tests.contract.walk import Walked, known_ids
from tests.factories.agents import attach_agent, attach_tool, make_agent
from tests.factories.forms import make_form, submit
from tests.factories.people import People
from tests.factories.providers import add_key_for
from tests.factories.tools import endpoint, make_tool
from tests.factories.workflows import make_workflow, node, start
from tests.tools.servers.rest_api import RestApi

OWNERS = "CANARY-of-the-owner"
"""Said in the conversation of a user without any further right."""
ADMINS = "CANARY-of-the-administrator"
"""Said in conversations that a workflow had for the administrator who made it."""

_MAIN = "You are the first one asked."
_ASKED_BY_WORKFLOW = "What does the administrator know?"
_EVERYONE = {"roles": [role.value for role in Role]}


class ContentWorld(Walked):
    """`owner` had the conversation; `people` are all of the tenant, by what they are called here."""

    @property
    def owner(self) -> Api:
        return self.people["owner"]


async def make_content_world(
    service: Service, people: People, admin: Api, provider: ProviderServer, remote: RestApi
) -> ContentWorld:
    tenant = await people.default_tenant()
    everyone = {role.value: await people.signed_in(role, tenant) for role in Role}
    everyone |= {"admin": admin, "owner": await people.signed_in(Role.agent_user, tenant)}
    provider.otherwise = lambda _: _choose_reply(provider)
    await add_key_for(admin, provider, models=["test-model"])
    await _who_hears(admin, remote)
    main, expert = await _agents(admin, remote)
    await _workflows(admin, expert)
    owner = everyone["owner"]
    waiting = await reply_to(owner, main, f"Hello, {OWNERS}")
    await _attached_file(owner, main)
    accepted = await owner.post(path_of(main, "/async"), {"message": f"Later, {OWNERS}"})
    assert accepted.status == 202, accepted
    await service.runner.drain()
    (question,) = questions_of(waiting["tool_calls"])
    agreed = await admin.post(f"/api/v1/approvals/{question}/approve", {"comment": f"Fine, {OWNERS}"})
    assert agreed.status == 200, agreed
    for _ in range(3):
        await service.runner.drain()
    await _deliver_to_ourselves(admin, remote)
    await service.runner.drain()
    return ContentWorld(service, everyone, await known_ids(people, tenant.id))


def _choose_reply(provider: ProviderServer) -> Reply:
    """The first agent calls everything it has; every agent repeats the secret word it was told."""
    asked = provider.last.json["messages"]
    heard = ADMINS if _ASKED_BY_WORKFLOW in str(asked) else OWNERS
    if not str(asked[0]["content"]).startswith(_MAIN) or asked[-1]["role"] != "user":
        return Reply(f"I heard {heard}")
    said = f'{{"city": "{heard}"}}'
    calls = (
        Call("weather", said, "call_1"),
        Call("guarded", said, "call_2"),
        Call("delegate_to_expert", f'{{"task": "{heard}"}}', "call_3"),
        Call("ask_expert", f'{{"message": "{heard}"}}', "call_4"),
        Call("failing", said, "call_5"),
    )
    offered = {tool["function"]["name"].partition("__")[0] for tool in provider.last.json.get("tools", ())}
    return Reply("", tuple(call for call in calls if call.name in offered))


async def _agents(admin: Api, remote: RestApi) -> tuple[dict[str, Any], dict[str, Any]]:
    model = "openai_compatible/test-model"
    expert = await make_agent(admin, name="Expert", primary_model=model, system_prompt="You are the expert.")
    main = await make_agent(admin, name="Main", primary_model=model, system_prompt=_MAIN)
    await attach_agent(admin, main, expert)
    rest: dict[str, Any] = {"base_url": remote.url}
    asking = {"kind": "agent", "agent_id": expert["id"]}
    for made in (
        await make_tool(admin, remote.url),
        await make_tool(admin, remote.url, name="Guarded", requires_approval=True),
        await make_tool(admin, name="Ask expert", slug="ask_expert", tool_type="custom", config=asking),
        await make_tool(
            admin,
            name="Failing",
            config={**rest, "endpoints": endpoint("/echo", "GET")},
            output_schema={"type": "string"},
        ),
    ):
        await attach_tool(admin, main, made)
    return main, expert


async def _attached_file(owner: Api, main: dict[str, Any]) -> None:
    """A file whose name is a canary, sent in a chat, and another one that is deleted unsent."""
    for is_sent in (True, False):
        named = (f"{OWNERS}.txt", b"nothing special", "text/plain")
        uploaded = await owner.post("/api/v1/files", files={"file": named})
        assert uploaded.status == 201, uploaded
        file_id = uploaded.json()["data"]["file_id"]
        if is_sent:
            said = {"message": "See the file", "attachments": [{"file_id": file_id}]}
            assert (await owner.post(path_of(main), said)).status == 200
        else:
            assert (await owner.delete(f"/api/v1/files/{file_id}")).status == 204


async def _deliver_to_ourselves(admin: Api, remote: RestApi) -> None:
    """Some of what our webhook sent to the receiver, sent to an incoming webhook of the same tenant."""
    loop = {"name": "Loop", "slug": "our-own-loop"}
    assert (await admin.post("/api/v1/incoming-webhooks", loop)).status == 201
    delivered = [one for one in remote.seen if "X-Service-Event-Id" in one.headers]
    quoting = [one for one in delivered if OWNERS.encode() in one.body]
    # A few, because a page of the event log has a hundred events, and each delivery is one.
    for seen in quoting[:3]:
        headers = {name: seen.headers[name] for name in ("X-Service-Event-Id", "X-Service-Hops")}
        answer = await admin.post("/webhooks/in/our-own-loop", content=seen.body, headers=headers)
        assert answer.status == 200, answer


async def _who_hears(admin: Api, remote: RestApi) -> None:
    """A receiver that echoes what it is sent, and everyone by a notification that quotes the message."""
    echo = {"url": f"{remote.url}/echo", "events": ["*"]}
    assert (await admin.post("/api/v1/webhooks", echo)).status == 201
    channel = {"name": "Echo", "type": "webhook", "provider": "http", "config": {"url": f"{remote.url}/echo"}}
    made = await admin.post("/api/v1/notification-channels", channel)
    assert made.status == 201, made
    quoting = {"title": "{{data.content}}", "message": "{{data.content}}"}
    for config in ({"recipients": _EVERYONE}, {"channel_id": made.json()["id"]}):
        body = {
            "event_type": "agent.chat.message",
            "action_type": "notification",
            "action_config": {**quoting, **config},
        }
        answer = await admin.post("/api/v1/event-subscriptions", body)
        assert answer.status == 201, answer


async def _workflows(admin: Api, expert: dict[str, Any]) -> None:
    tools = (await admin.get("/v1/tools")).json()["data"]
    weather = next(tool for tool in tools if tool["slug"] == "weather")
    ask = node("ask", "agent", agent_id=expert["id"], message=_ASKED_BY_WORKFLOW)
    inner = await make_workflow(admin, ask, name="Inner")
    by_message = {"event_type": "agent.chat.message", "filters": {"role": "user", "job_id": None}}
    quoted = "{{trigger.event.data.content}}"
    await make_workflow(
        admin,
        node("keep", set={"said": quoted}),
        node("use", "tool", tool_id=weather["id"], input={"city": quoted}),
        node("tell", "notification", title=quoted, message=quoted, recipients=_EVERYONE),
        node("emit", "emit_event", event_type="canary.heard", data={"said": quoted}),
        node("agree", "approval", title=quoted, description=quoted, payload={"said": quoted}),
        links=("keep>use", "use>tell", "tell>emit", "emit>agree"),
        name="By event",
        trigger={"type": "event", "config": by_message},
    )
    outer = await make_workflow(admin, node("sub", "sub_workflow", workflow_id=inner["id"]), name="Outer")
    await start(admin, outer)
    form = await make_form(admin, workflow_id=inner["id"])
    await submit(admin, form)
