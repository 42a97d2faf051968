"""Structured output: a model that answers by a schema, in every way it is asked."""

import json
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.chat.engine.structured_output import REPAIR_WARNING
from retinue.kit.clock import ManualClock
from retinue.providers import response_formats
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer, refusing
from tests.chat.approving import LOOK_AT_GRAZ, Desk
from tests.chat.background_jobs import accept, job_of
from tests.chat.cities import CITY, GRAZ, REQUEST, VALUE, WRONG
from tests.chat.speaking import (
    events_of,
    messages_of,
    path_of,
    reply_to,
    say,
    stream,
    text_of,
)
from tests.client import Api
from tests.embed.keys import Holder, make_key
from tests.factories.agents import attach_agent, change_agent, make_agent
from tests.factories.people import People
from tests.factories.providers import add_key_for
from tests.factories.weights import fetch_weights

Json = dict[str, Any]


async def test_a_reply_has_the_value_and_the_same_as_text(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    provider.says(GRAZ)
    reply = await reply_to(admin, agent, **REQUEST)
    assert (reply["output"], reply["message"]["content"]) == (VALUE, GRAZ)
    assert REPAIR_WARNING not in reply["warnings"]
    asked = provider.last.json["response_format"]
    assert asked["json_schema"] == {"name": "answer", "schema": CITY, "strict": True}
    *_, stored = await messages_of(admin, reply["conversation_id"])
    assert stored["details"]["output"] == VALUE
    provider.says("Hello.")
    plain = await reply_to(admin, agent, conversation_id=reply["conversation_id"])
    assert plain["output"] is None
    assert "response_format" not in provider.last.json
    assert provider.last.json["messages"][2]["content"] == GRAZ


async def test_a_stream_gives_the_text_as_it_grows_and_the_value_at_its_end(
    service: Service, admin: Api, agent: Json, provider: ProviderServer
) -> None:
    provider.says(GRAZ)
    heard = await stream(admin, agent, **REQUEST)
    assert len([one for one in heard if one.event == "content_delta"]) > 1
    assert (text_of(heard), heard[-1].data["output"]) == (GRAZ, VALUE)

    provider.says(WRONG)
    provider.says(GRAZ)
    repaired = await stream(admin, agent, **REQUEST)
    assert text_of(repaired) == f"{WRONG}\n\n{GRAZ}"
    stop = repaired[-1].data
    assert (stop["output"], stop["warnings"]) == (VALUE, [*heard[-1].data["warnings"], REPAIR_WARNING])
    message_id = repaired[0].data["message_id"]
    *_, stored = await messages_of(admin, repaired[0].data["conversation_id"])
    assert stored["content"] == GRAZ
    again = await admin.get(path_of(agent, f"/stream/{message_id}"))
    assert events_of(again.body) == repaired

    provider.says("I do not know.")
    provider.says(WRONG)
    failed = await stream(admin, agent, **REQUEST)
    assert text_of(failed) == WRONG
    assert (failed[-1].event, failed[-1].data["code"]) == ("error", "output_invalid")


async def test_tools_run_as_usual_and_the_schema_holds_for_the_final_answer(
    admin: Api, agent: Json, provider: ProviderServer, weather: Json
) -> None:
    for ask in (reply_to, stream):
        provider.says("Let me look.", Call("weather", '{"city": "Graz"}'))
        provider.says("", Call("weather", '{"city": "Linz"}'))
        provider.says(GRAZ)
        heard = await ask(admin, agent, "Where?", **REQUEST)
        if isinstance(heard, list):
            assert text_of(heard) == GRAZ
            heard = {**heard[-1].data, "conversation_id": heard[0].data["conversation_id"]}
        assert (heard["output"], len(heard["tool_calls"])) == (VALUE, 2)
        *_, stored = await messages_of(admin, heard["conversation_id"])
        assert stored["content"] == GRAZ
        provider.says("Bye.")
        await reply_to(admin, agent, conversation_id=heard["conversation_id"])
        replayed = provider.last.json["messages"]
        assert [one["role"] for one in replayed][1:7] == ["user", *("assistant", "tool") * 2, "assistant"]
        assert replayed[6]["content"] == GRAZ


async def test_the_request_wins_over_the_agent_and_null_asks_for_text(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    changed = await change_agent(admin, agent, output_schema=CITY)
    assert (changed["output_schema"], changed["version"]) == (CITY, agent["version"] + 1)
    provider.says(GRAZ)
    assert (await reply_to(admin, agent))["output"] == VALUE
    provider.says("As text.")
    plain = await reply_to(admin, agent, output_schema=None)
    assert (plain["output"], plain["message"]["content"]) == (None, "As text.")
    provider.says('{"x": 1}')
    other = {"type": "object", "properties": {"x": {"type": "integer"}}}
    assert (await reply_to(admin, agent, output_schema=other))["output"] == {"x": 1}
    provider.says("Version 1.")
    first = await reply_to(admin, agent, version=1)
    assert (first["output"], first["version"]) == (None, 1)
    changed = await change_agent(admin, agent, output_schema=None)
    assert changed["output_schema"] is None


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "array"}, "object"),
        ({}, "object"),
        ({"type": "object", "properties": {"x": {"type": "text"}}}, "at properties.x.type: "),
        ({"type": "object", "properties": {"x": {"$ref": "https://example.com/x.json"}}}, "inside"),
        ({"type": "object", "description": "x" * 33_000}, "32 KiB"),
    ],
)
async def test_a_schema_that_cannot_be_used_is_refused_before_anything_is_stored(
    admin: Api, agent: Json, provider: ProviderServer, schema: Json, problem: str
) -> None:
    for path in ("", "/stream", "/async"):
        answer = await admin.post(path_of(agent, path), {"message": "Hello", "output_schema": schema})
        assert answer.status == 422, answer
        assert problem in answer.json()["error"]["details"]["output_schema"]
    answer = await admin.put(f"/api/v1/agents/{agent['id']}", {"output_schema": schema})
    assert (answer.status, list(answer.json()["error"]["details"])) == (422, ["output_schema"])
    draft = {"snapshot": {"output_schema": schema}}
    answer = await admin.put(f"/api/v1/agents/{agent['id']}/draft", draft)
    assert (answer.status, list(answer.json()["error"]["details"])) == (422, ["snapshot.output_schema"])
    assert not provider.requests
    assert (await admin.get("/api/v1/conversations")).json()["data"] == []


def nested_schema(levels: int) -> Json:
    inner: Json = (
        {"type": "object", "properties": {"x": nested_schema(levels - 1)}}
        if levels > 1
        else {"type": "string"}
    )
    return inner


async def test_a_schema_may_have_ten_levels(admin: Api, agent: Json) -> None:
    assert (await change_agent(admin, agent, output_schema=nested_schema(10)))[
        "output_schema"
    ] == nested_schema(10)
    answer = await admin.put(f"/api/v1/agents/{agent['id']}", {"output_schema": nested_schema(11)})
    assert "10 levels" in answer.json()["error"]["details"]["output_schema"]


async def test_a_background_turn_keeps_the_schema_of_its_request(
    service: Service, admin: Api, agent: Json, provider: ProviderServer
) -> None:
    provider.says(WRONG)
    provider.says(GRAZ)
    job = await accept(admin, agent, **REQUEST)
    await service.runner.drain()
    done = await job_of(admin, agent, job)
    assert (done["status"], done["result"]["output"]) == ("completed", VALUE)
    assert done["result"]["message"]["content"] == GRAZ
    provider.says("No.")
    provider.says("No.")
    job = await accept(admin, agent, **REQUEST)
    await service.runner.drain()
    failed = await job_of(admin, agent, job)
    assert (failed["status"], failed["error"]["code"]) == ("failed", "output_invalid")


async def test_a_turn_that_waited_for_an_approval_keeps_its_schema(desk: Desk) -> None:
    desk.provider.says("Let me look.", LOOK_AT_GRAZ)
    waiting = await desk.ask(**REQUEST)
    assert (waiting["finish_reason"], waiting["output"]) == ("awaiting_approval", None)
    assert waiting["message"]["content"] == ""
    desk.provider.says("It rains.")
    desk.provider.says(GRAZ)
    await desk.approve(waiting["tool_calls"][0]["approval_id"])
    await desk.work()
    done = await desk.last_message(waiting)
    assert (done["content"], done["details"]["output"]) == (GRAZ, VALUE)
    assert REPAIR_WARNING in done["details"]["warnings"]


async def test_a_sub_agent_answers_by_its_own_schema(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    clerk = await make_agent(
        admin, name="Clerk", primary_model=agent["primary_model"], status="published", output_schema=CITY
    )
    await attach_agent(admin, agent, clerk)
    provider.says("", Call("delegate_to_clerk", '{"task": "Where?"}'))
    provider.says(WRONG)
    provider.says(GRAZ)
    provider.says("In Graz.")
    reply = await reply_to(admin, agent)
    assert (reply["output"], reply["message"]["content"]) == (None, "In Graz.")
    assert reply["tool_calls"][0]["output"] == GRAZ
    assert reply["usage_by_model"][0]["calls"] == 4


async def test_visitors_get_the_agents_schema_and_no_details_of_a_failure(
    service: Service, admin: Api, agent: Json, provider: ProviderServer
) -> None:
    await change_agent(admin, agent, output_schema=CITY)
    holder = Holder(Api(service), agent, await make_key(admin, agent))
    provider.says(GRAZ)
    answer = (await holder.say(output_schema={"type": "object"})).json()
    assert (answer["output"], answer["warnings"]) == (VALUE, ["ignored_field:output_schema"])
    provider.says(GRAZ)
    assert (await holder.hear())[-1].data["output"] == VALUE
    provider.says(WRONG)
    provider.says(WRONG)
    failed = await holder.say()
    assert (failed.status, failed.json()["error"]["code"]) == (502, "output_invalid")
    assert "details" not in failed.json()["error"]
    assert "people" not in failed.json()["error"]["message"]


@pytest.mark.one_service("each process finds out by itself what a model refuses")
async def test_a_model_that_refuses_the_field_reads_a_note_for_an_hour(
    admin: Api, agent: Json, provider: ProviderServer, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert response_formats.REMEMBERED_SECONDS == 3600
    monkeypatch.setattr(response_formats, "REMEMBERED_SECONDS", 60)
    await add_key_for(admin, provider, name="Plain", models=["plain-model"])
    await change_agent(admin, agent, primary_model="openai_compatible/plain-model")
    for ask, requests in ((reply_to, 2), (stream, 1), (reply_to, 1)):
        provider.requests.clear()
        provider.says(GRAZ)
        await ask(admin, agent, **REQUEST)
        assert len(provider.requests) == requests
        assert "response_format" not in provider.last.json
        assert json.dumps(CITY, separators=(",", ":")) in provider.last.json["messages"][-1]["content"]
    clock.advance(61)
    provider.requests.clear()
    provider.says(GRAZ)
    heard = await stream(admin, agent, **REQUEST)
    assert (len(provider.requests), heard[-1].data["output"]) == (2, VALUE)


async def test_another_refusal_is_not_blamed_on_the_field(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    provider.fails(refusing(400, {"error": "too long"}), refusing(400, {"error": "too long"}))
    answer = await say(admin, agent, **REQUEST)
    assert (answer.status, answer.json()["error"]["code"]) == (502, "model_error")
    provider.says(GRAZ)
    await reply_to(admin, agent, **REQUEST)
    assert "response_format" in provider.last.json


async def test_characters_that_no_database_stores_do_no_harm(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    provider.says('{"city": "a\\u0000b", "people": 1}')
    reply = await reply_to(admin, agent, **REQUEST)
    assert reply["output"]["people"] == 1
    assert len(await messages_of(admin, reply["conversation_id"])) == 2


@pytest.mark.slow
async def test_the_embedded_model_answers_by_grammar(make_service: Any) -> None:
    people = People(await make_service(models_dir=fetch_weights()))
    person = await people.signed_in(Role.tenant_admin)
    schema = {
        "type": "object",
        "properties": {
            "mood": {"enum": ["happy", "sad"]},
            "stars": {"type": "integer", "minimum": 1, "maximum": 5},
            "tags": {"type": "array", "items": {"type": "string", "maxLength": 10}, "maxItems": 2},
        },
        "required": ["mood", "stars", "tags"],
        "additionalProperties": False,
    }
    agent = await make_agent(person, primary_model="local/smollm2-135m", output_schema=schema)
    reply = await reply_to(person, agent, "I love this little phone!")
    assert reply["output"] == json.loads(reply["message"]["content"])
    assert reply["output"].keys() == {"mood", "stars", "tags"}
    assert reply["output"]["mood"] in {"happy", "sad"}
    assert reply["output"]["stars"] in range(1, 6)
    heard = await stream(person, agent, "What a sad day.")
    assert heard[-1].data["output"] == json.loads(text_of(heard))
    assert REPAIR_WARNING not in [*reply["warnings"], *heard[-1].data["warnings"]]
