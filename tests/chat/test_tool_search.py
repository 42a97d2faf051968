"""Agents with more functions than a model can oversee: they search them, and call what they found."""

from itertools import pairwise

import msgspec
import pytest

from retinue.access.models import Role
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer
from tests.chat.approving import Desk
from tests.chat.many_tools import SUBJECTS, Json, attach_tools, endpoints, search, search_functions
from tests.chat.speaking import messages_of, reply_to
from tests.client import Api
from tests.factories.agents import attach_tool, change_agent, make_agent
from tests.factories.people import People
from tests.factories.providers import add_key_for
from tests.factories.tools import executions_of, make_tool
from tests.factories.weights import fetch_weights
from tests.tools.servers.rest_api import RestApi

QUESTIONS = {
    "give a customer their money back": "shop__create_refund",
    "which parcels are on their way": "shop__list_parcel",
    "somebody is ill today": "hr__create_sick_note",
    "book a room for a meeting": "office__create_meeting_room",
    "renew the TLS certificate": "it__change_certificate",
}


@pytest.fixture
async def tools(admin: Api, agent: Json, remote: RestApi) -> list[Json]:
    return await attach_tools(admin, agent, remote)


def call(name: str, input: object, id: str = "call_use") -> Call:
    return Call("call_tool", msgspec.json.encode({"name": name, "input": input}).decode(), id)


def offered_names(provider: ProviderServer) -> list[str]:
    return [one["function"]["name"] for one in provider.last.json.get("tools", ())]


@pytest.mark.either_database
async def test_the_right_one_of_200_functions_is_found(make_service, provider, remote):
    """With the real model that compares a question with descriptions."""
    service = await make_service(models_dir=fetch_weights())
    people = People(service)
    admin = await people.signed_in(Role.tenant_admin)
    await add_key_for(admin, provider, models=["test-model"])
    agent = await make_agent(admin, primary_model="openai_compatible/test-model")
    await attach_tools(admin, agent, remote)
    await service.runner.drain()
    for question, wanted in QUESTIONS.items():
        found = await search_functions(admin, agent, provider, question)
        assert wanted in found, (question, found)
    assert offered_names(provider) == ["tool_search", "call_tool"]
    assert len(await search_functions(admin, agent, provider, "anything at all", limit=10)) == 10
    assert len(await search_functions(admin, agent, provider, "anything at all", limit=99)) == 10


async def test_a_found_function_is_called_as_itself(admin, agent, provider, remote, tools):
    provider.says("", search("give a customer their money back"))
    provider.says("", call("shop__create_refund", {"body": {"amount": 7}}))
    provider.says("Done.")
    reply = await reply_to(admin, agent)
    assert remote.last.method == "POST"
    assert remote.last.target == "/echo/refund"
    _, made = reply["tool_calls"]
    assert (made["tool"], made["tool_id"], made["input"]) == (
        "shop__create_refund",
        tools[0]["id"],
        {"body": {"amount": 7}},
    )
    assert (made["status"], made["found_by_search"]) == ("completed", True)
    (execution,) = await executions_of(admin, tools[0])
    assert execution["id"] == made["execution_id"]


async def test_the_offered_functions_and_the_beginning_of_requests_stay_the_same(
    admin, agent, provider, remote, tools
):
    provider.says("", search("refund"))
    provider.says("", call("shop__create_refund", {"query": {"b": 1, "a": 2}}))
    for text in ("Done.", "You are welcome.", "Goodbye."):
        provider.says(text)
    first = await reply_to(admin, agent)
    for message in ("Thanks.", "Bye."):
        await reply_to(admin, agent, message=message, conversation_id=first["conversation_id"])
    asked = [one.json for one in provider.requests if "messages" in (one.json or {})]
    assert {msgspec.json.encode(one["tools"]) for one in asked} == {msgspec.json.encode(asked[0]["tools"])}
    for before, after in pairwise(asked):
        assert after["messages"][: len(before["messages"])] == before["messages"]
    assert "call_tool" in str(asked[-1]["messages"])


@pytest.mark.either_database
@pytest.mark.parametrize(
    ("asked", "code", "word"),
    [
        ({"name": "shop__pay_out", "input": {}}, "tool_not_found", "tool_search"),
        ({"name": 7}, "tool_not_found", "tool_search"),
        ({"name": ["shop__create_refund"], "input": {}}, "tool_not_found", "tool_search"),
        ({"name": "shop__create_refund", "input": "{"}, "invalid_arguments", "`input`"),
        # Run with an empty input, a function that only filters would do too much.
        (
            {"name": "shop__create_refund", "arguments": {"body": {"amount": 7}}},
            "invalid_arguments",
            "`input`",
        ),
        ({"name": "shop__create_refund", "input": {"body": 7}}, "invalid_arguments", "input.body"),
        ({"name": "shop__create_refund", "input": {"other": 7}}, "invalid_arguments", "other"),
    ],
)
async def test_a_wrong_call_is_told_to_the_model(admin, agent, provider, remote, tools, asked, code, word):
    provider.says("", Call("call_tool", msgspec.json.encode(asked).decode()))
    provider.says("Sorry.")
    reply = await reply_to(admin, agent)
    (made,) = reply["tool_calls"]
    assert (made["status"], made["error"]["code"]) == ("failed", code)
    assert word in made["error"]["message"]
    assert not remote.seen


@pytest.mark.either_database
async def test_input_written_as_text_is_read(admin, agent, provider, remote, tools):
    provider.says("", call("shop__create_refund", '{"body": {"amount": 7}}'))
    provider.says("Done.")
    await reply_to(admin, agent)
    assert remote.last.target == "/echo/refund"


async def test_an_approval_holds_for_a_found_function(desk: Desk):
    """The tool of the desk requires an approval; the agent searches its only function."""
    await change_agent(desk.admin, desk.agent, tool_search="always")
    name = await search_functions(desk.admin, desk.agent, desk.provider, "weather")
    desk.provider.says("", call(name[0], {"city": "Graz"}))
    reply = await desk.ask(message="How is the weather?")
    assert offered_names(desk.provider) == ["tool_search", "call_tool"]
    assert reply["finish_reason"] == "awaiting_approval"
    (called,) = reply["tool_calls"]
    assert (called["tool"], called["tool_id"]) == (name[0], desk.tool["id"])
    assert not desk.remote.seen
    desk.provider.says("It rains.")
    assert (await desk.approve(called["approval_id"])).status == 200
    await desk.work()
    assert desk.remote.last.target == "/echo?city=Graz"
    (made,) = (await desk.last_message(reply))["details"]["tool_calls"]
    assert (made["status"], made["found_by_search"]) == ("completed", True)
    (written,) = [one for one in desk.provider.last.json["messages"] if one.get("tool_calls")]
    assert written["tool_calls"][0]["function"]["name"] == "call_tool"


async def test_an_approval_names_the_function_that_would_run(admin, agent, provider, remote, tools):
    answer = await admin.put(f"/v1/tools/{tools[0]['id']}", {"requires_approval": True})
    assert answer.status == 200, answer
    provider.says("", call("shop__create_refund", {"body": {"amount": 7}}))
    (called,) = (await reply_to(admin, agent))["tool_calls"]
    asked = (await admin.get(f"/api/v1/approvals/{called['approval_id']}")).json()["data"]
    assert asked["title"].endswith(f": {tools[0]['name']}, create_refund")
    assert f"the function create_refund of the tool {tools[0]['name']}" in asked["description"]
    listed = (await admin.get("/api/v1/approvals")).json()["data"][0]
    for shown in (asked["payload"], listed["payload"]):
        assert (shown["function"], shown["function_name"]) == ("shop__create_refund", "create_refund")
    assert not remote.seen


async def test_chosen_tools_are_offered_beside_the_search(admin, agent, provider, tools):
    path = f"/v1/agents/{agent['id']}/tools/{tools[1]['id']}"
    answer = await admin.patch(path, {"always_offered": True})
    assert (answer.status, answer.json()["data"]["always_offered"]) == (200, True), answer
    provider.says("Hello.")
    await reply_to(admin, agent)
    names = offered_names(provider)
    assert len(names) == 18
    # In which order a configuration has its endpoints is up to the database.
    assert all(name.startswith("crm__") for name in names[:16])
    assert names[16:] == ["tool_search", "call_tool"]
    # What was not offered can still be found.
    hidden = next(name for name in map("crm__{}".format, endpoints(SUBJECTS["Crm"])) if name not in names)
    assert hidden in await search_functions(admin, agent, provider, hidden, limit=10)


@pytest.mark.either_database
async def test_few_functions_are_offered_and_large_schemas_are_searched(admin, agent, provider, remote):
    tool = await make_tool(admin, remote.url, name="Weather")
    await attach_tool(admin, agent, tool)
    provider.says("Hello.")
    await reply_to(admin, agent)
    assert offered_names(provider) == ["weather__get"]
    large = {"type": "object", "properties": {"text": {"type": "string", "description": "x" * 25_000}}}
    await attach_tool(admin, agent, await make_tool(admin, remote.url, name="Large", input_schema=large))
    provider.says("Hello.")
    await reply_to(admin, agent)
    assert offered_names(provider) == ["tool_search", "call_tool"]
    await change_agent(admin, agent, tool_search="off")
    provider.says("Hello.")
    await reply_to(admin, agent)
    assert offered_names(provider) == ["weather__get", "large__get"]


@pytest.mark.either_database
async def test_a_stored_reply_shows_what_was_searched(admin, agent, provider, tools):
    provider.says("", search("refund", limit=1))
    provider.says("Found.")
    reply = await reply_to(admin, agent)
    *_, stored = await messages_of(admin, reply["conversation_id"])
    (made,) = stored["details"]["tool_calls"]
    assert made["input"] == {"query": "refund", "limit": 1}
    assert [one["name"] for one in made["output"]] == [reply["tool_calls"][0]["output"][0]["name"]]
    assert made["output"][0]["input_schema"]["properties"].keys() == {"query", "body"}
