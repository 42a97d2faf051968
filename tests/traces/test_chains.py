"""One trace follows work across jobs and processes: form, event, workflow, agent, tool, webhook."""

from typing import Any

from retinue.access.models import Role
from retinue.app import Service
from retinue.kit.tracing import names
from retinue.kit.tracing.models import TracePart
from retinue.kit.tracing.spans import Span
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.chat.speaking import path_of
from tests.client import Api
from tests.embed.keys import make_key
from tests.factories.agents import attach_tool
from tests.factories.forms import make_form, send
from tests.factories.people import People
from tests.factories.tools import make_tool
from tests.factories.workflows import make_workflow, node
from tests.tools.servers.rest_api import RestApi
from tests.traces.stored import parts_of
from tests.webhooks.hooks import Hooks


def _by_name(parts: list[TracePart]) -> dict[str, Span]:
    return {span.name: span for part in parts for span in part.spans}


async def test_one_trace_follows_a_form_to_the_webhook(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    provider: ProviderServer,
    remote: RestApi,
    hooks: Hooks,
) -> None:
    await attach_tool(admin, agent, await make_tool(admin, remote.url, name="lookup"))
    workflow = await make_workflow(
        admin,
        node("ask", "agent", agent_id=agent["id"], message="Who is it?"),
        name="Intake",
        trigger={"type": "event", "config": {"event_type": "form.submission.created"}},
    )
    await hooks.make(events=["workflow.execution.completed"])
    form = await make_form(admin)
    provider.says("", Call("lookup", "{}", "call_1"))
    provider.says("It is Ada.")
    answer = await send(admin, form, {"name": "Ada", "email": "ada@example.com"})
    assert answer.status == 201, answer
    await service.runner.drain()

    (trace_id,) = {part.trace_id for part in await parts_of(people, admin) if part.kind == "turn"}
    parts = await parts_of(people, admin, trace_id)
    spans, everything = _by_name(parts), [span for part in parts for span in part.spans]
    run = spans["invoke_workflow Intake"]
    turn, tool = spans["invoke_agent Support"], spans["execute_tool lookup"]
    delivery = spans["deliver 127.0.0.1"]
    assert run.attributes[names.WORKFLOW_ID] == workflow["id"]
    # The agent's node is told twice: it asks, and is resumed with the answer.
    asks = [one for one in everything if one.name == "workflow_node agent"]
    assert {ask.parent_span_id for ask in asks} == {run.span_id}
    assert turn.parent_span_id in {ask.span_id for ask in asks}
    assert tool.parent_span_id == turn.span_id
    known = {span.span_id for span in everything}
    assert delivery.parent_span_id in known
    assert delivery.attributes[names.HTTP_STATUS] == 200
    (received,) = hooks.receiver.received
    assert received.headers["traceparent"] == f"00-{trace_id}-{delivery.span_id}-01"


async def test_a_stranger_joins_no_trace_but_leaves_a_link(
    service: Service, admin: Api, people: People, agent: dict[str, Any], provider: ProviderServer
) -> None:
    key = await make_key(admin, agent)
    provider.says("Hello.")
    stranger = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
    headers = {"Authorization": f"Bearer {key['api_key']}", "traceparent": f"00-{stranger}-01"}
    path = f"/api/v1/public/agents/{agent['id']}/chat"
    body = {"session_id": "s-1", "message": "Hi"}
    reply = await Api(service).post(path, body, headers=headers)
    assert reply.status == 200, reply
    (part,) = [one for one in await parts_of(people, admin) if one.kind == "turn"]
    assert part.trace_id != stranger.split("-", maxsplit=1)[0]
    (link,) = part.spans[0].links
    assert f"{link.trace_id}-{link.span_id}" == stranger


async def test_a_failed_delivery_is_an_error_of_its_trace(hooks: Hooks, people: People) -> None:
    await hooks.make()
    hooks.receiver.default = (500, {}, b"")
    await hooks.happen()
    await hooks.work()
    (part,) = [one for one in await parts_of(people, hooks.admin) if one.kind == "delivery"]
    assert (part.status, part.spans[0].attributes[names.HTTP_STATUS]) == ("error", 500)


async def test_a_tool_that_is_executed_alone_is_a_trace_of_its_own(
    admin: Api, people: People, remote: RestApi
) -> None:
    tool = await make_tool(admin, remote.url, name="lookup")
    answer = await admin.post(f"/v1/tools/{tool['id']}/execute", {"input": {}})
    assert answer.status == 200, answer
    (part,) = await parts_of(people, admin)
    assert (part.kind, part.name, part.is_first) == ("tool", "execute_tool lookup", True)
    assert remote.last.headers["traceparent"] == f"00-{part.trace_id}-{part.root_span_id}-01"
    assert answer.headers["traceresponse"].split("-")[1] == part.trace_id


async def test_the_same_trace_id_of_two_tenants_stays_apart(
    admin: Api, people: People, agent: dict[str, Any], provider: ProviderServer
) -> None:
    other = await people.signed_in(Role.tenant_admin, await people.tenant())
    provider.says("Hello.")
    header = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
    await admin.post(path_of(agent), {"message": "Hi"}, headers=header)
    assert len(await parts_of(people, admin)) == 1
    assert await parts_of(people, other) == []
