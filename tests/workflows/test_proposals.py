"""Tests of what a model writes about workflows: proposals from a description, and explanations."""

import json
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.workflows.models import Workflow
from tests.adapters.llm_server import ProviderServer
from tests.client import Api, Response
from tests.factories.agents import make_agent
from tests.factories.notifications import make_channel
from tests.factories.people import People
from tests.factories.workflows import PATH, edges, make_workflow, node
from tests.usage.spending import usage

Json = dict[str, Any]
GENERATE = f"{PATH}/generate"
WRITTEN = {
    "name": " Greet\nnewcomers ",
    "description": "Says hello.",
    "nodes": [node("hello"), node("is_new", "condition", field="input.new", operator="equals", value=True)],
    "edges": [{"source": "hello", "target": "is_new"}],
}
EXPLAINED = {
    "summary": "  It greets. ",
    "nodes": [{"node_id": "a", "text": " Greets. "}, {"node_id": "gone", "text": "No."}, {"node_id": "a"}, 7],
}


@pytest.fixture
def model(agent: Json) -> str:
    return agent["primary_model"]


async def _generate(api: Api, **more: Any) -> Response:
    return await api.post(GENERATE, {"prompt": "Greet whoever is new", **more})


async def _explain(api: Api, workflow: Json, **more: Any) -> Response:
    return await api.post(f"{PATH}/{workflow['id']}/explain", more)


async def test_a_described_workflow_is_proposed_and_not_stored(
    admin: Api, people: People, provider: ProviderServer, model: str
) -> None:
    provider.says(f"Here it is:\n```json\n{json.dumps(WRITTEN)}\n```")
    answer = await _generate(admin, model=model)
    assert answer.status == 200, answer
    proposed = answer.json()["data"]
    assert (proposed["name"], proposed["description"]) == ("Greet newcomers", "Says hello.")
    assert (proposed["nodes"], proposed["edges"]) == (WRITTEN["nodes"], edges("hello>is_new"))
    assert (proposed["valid"], proposed["errors"]) == (True, [])
    async with people.context(admin.user.tenant_id) as ctx:
        assert await ctx.db.count(Workflow) == 0
    created = await admin.post(PATH, {name: proposed[name] for name in ("name", "nodes", "edges")})
    assert created.status == 201


async def test_what_is_wrong_with_a_proposal_is_said(
    admin: Api, provider: ProviderServer, model: str
) -> None:
    nodes = [node("a", "tool", tool_id="tool_gone"), {"id": 7, "type": ["x"]}, {"type": "magic"}]
    provider.says(json.dumps({"nodes": nodes, "edges": [*edges("a>mial"), {"from": {}, "to": 1}]}))
    proposed = (await _generate(admin, model=model)).json()["data"]
    assert (proposed["name"], proposed["valid"]) == ("Workflow", False)
    expected = {"nodes.a.config.tool_id", "nodes.1.id", "edges.0.to", "edges.1.from"}
    assert {one["path"] for one in proposed["errors"]} >= expected
    assert len(proposed["edges"]) == 2


async def test_the_model_is_told_the_types_and_what_the_caller_may_use(
    admin: Api, people: People, provider: ProviderServer, agent: Json
) -> None:
    channel = await make_channel(
        admin, "slack_webhook", {"webhook_url": "https://hooks.slack.com/services/T0/B0/x"}
    )
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    hidden = await make_agent(stranger, name="Hidden")
    provider.says(json.dumps(WRITTEN))
    await _generate(admin, model=agent["primary_model"])
    [request] = provider.requests
    task = request.body.decode()
    assert agent["id"] in task
    assert channel["id"] in task
    assert hidden["id"] not in task
    assert "sub_workflow" in task


async def test_keys_that_the_model_made_up_do_not_warn_the_caller(
    admin: Api, provider: ProviderServer, model: str
) -> None:
    provider.says(json.dumps({"nodes": [{**node("a"), "bogus": 1}]}))
    body = {"prompt": "Greet", "model": model}
    answer = await admin.post(GENERATE, body, headers={"Prefer": "handling=strict"})
    assert (answer.status, answer.json().get("warnings")) == (200, None)


async def test_a_generation_is_booked_as_one_of_workflows(
    admin: Api, provider: ProviderServer, model: str
) -> None:
    provider.says(json.dumps(WRITTEN))
    await _generate(admin, model=model)
    rows = (await usage(admin, group_by="model,channel"))["data"]
    assert rows[-1]["group"]["channel"] == "workflow"


@pytest.mark.parametrize(
    "said",
    [
        "I cannot.",
        "{",
        '{"name": 1}',
        '{"name": "x", "nodes": [], "edges": []}',
        '{"nodes": "x"}',
        json.dumps({"nodes": [node(f"n{number}") for number in range(501)]}),
        '{"nodes": [{"id": "a", "type": "transform", "config": {"set": "\\u0000"}}]}',
        '{"nodes": [{"id": "a", "config": ' + "[" * 70 + "]" * 70 + "}]}",
        json.dumps({"nodes": [node("a", set="x" * 600_000)]}),
    ],
    ids=range(9),
)
async def test_an_unusable_proposal_is_an_error_of_the_model(
    admin: Api, provider: ProviderServer, model: str, said: str
) -> None:
    provider.says(said)
    answer = await _generate(admin, model=model)
    assert (answer.status, answer.code) == (502, "model_error")


async def test_a_workflow_is_explained_node_by_node(admin: Api, provider: ProviderServer, model: str) -> None:
    secret = node("a", "http", url="https://shop.example", headers={"Authorization": "Bearer open-sesame"})
    workflow = await make_workflow(admin, secret)
    provider.says(json.dumps(EXPLAINED))
    answer = await _explain(admin, workflow, model=model, language="de")
    assert answer.status == 200, answer
    assert answer.json()["data"] == {"summary": "It greets.", "nodes": [{"node_id": "a", "text": "Greets."}]}
    asked = provider.requests[0].body.decode()
    assert "code de" in asked
    assert "shop.example" in asked
    assert "open-sesame" not in asked


async def test_the_draft_is_explained_on_request(admin: Api, provider: ProviderServer, model: str) -> None:
    workflow = await make_workflow(admin, node("a"))
    draft = {"content": {"nodes": [node("a"), node("only_drafted")]}}
    assert (await admin.put(f"{PATH}/{workflow['id']}/draft", draft)).status == 200
    for from_draft in (False, True):
        provider.says(json.dumps(EXPLAINED))
        await _explain(admin, workflow, model=model, from_draft=from_draft)
    live, drafted = [request.body.decode() for request in provider.requests]
    assert ("only_drafted" in live, "only_drafted" in drafted) == (False, True)


@pytest.mark.parametrize("said", ["", "{}", '{"summary": " ", "nodes": []}', '{"summary": 1}'])
async def test_an_unusable_explanation_is_an_error_of_the_model(
    admin: Api, provider: ProviderServer, model: str, said: str
) -> None:
    workflow = await make_workflow(admin, node("a"))
    provider.says(said)
    answer = await _explain(admin, workflow, model=model)
    assert (answer.status, answer.code) == (502, "model_error")


async def test_without_a_model_that_could_write_the_way_out_is_said(admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"))
    for answer in (await _generate(admin), await _explain(admin, workflow)):
        assert (answer.status, answer.code) == (422, "model_not_configured")
        assert "provider key" in answer.json()["error"]["message"]


async def test_a_draft_that_is_not_stored_is_not_explained(admin: Api, model: str) -> None:
    workflow = await make_workflow(admin, node("a"))
    answer = await _explain(admin, workflow, model=model, from_draft=True)
    assert (answer.status, answer.code) == (404, "draft_not_found")


@pytest.mark.parametrize("language", ["", "e", "english please", "de\n", "ä"])
async def test_a_language_is_a_code(admin: Api, language: str) -> None:
    workflow = await make_workflow(admin, node("a"))
    answer = await _explain(admin, workflow, language=language)
    assert (answer.status, answer.code) == (422, "validation_error")


async def test_only_who_may_change_workflows_may_ask(admin: Api, people: People) -> None:
    workflow = await make_workflow(admin, node("a"))
    viewer = await people.signed_in(Role.viewer)
    assert (await _generate(viewer)).status == 403
    assert (await _explain(viewer, workflow)).status == 403
