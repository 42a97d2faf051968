"""Answers that do not match their schema: repaired once, then an error, unless they were cut off."""

from typing import Any

import pytest

from retinue.chat.engine.structured_output import REPAIR_WARNING
from retinue.kit.tracing import names
from tests.adapters.llm_server import ProviderServer
from tests.chat.cities import GRAZ, REQUEST, VALUE, WRONG
from tests.chat.speaking import (
    go_on,
    logs_of,
    reply_to,
    say,
    stream,
    text_of,
)
from tests.client import Api
from tests.factories.people import People
from tests.traces.stored import spans_of

Json = dict[str, Any]


async def test_a_wrong_answer_is_repaired_once(
    admin: Api, agent: Json, provider: ProviderServer, weather: Json
) -> None:
    provider.says(WRONG)
    provider.says(GRAZ)
    reply = await reply_to(admin, agent, "Where?", **REQUEST)
    assert (reply["output"], reply["message"]["content"]) == (VALUE, GRAZ)
    assert REPAIR_WARNING in reply["warnings"]
    first, second = (one.json for one in provider.requests)
    assert second["messages"][:-2] == first["messages"], "the request begins with the one before it"
    assert (second["tools"], second["tool_choice"]) == (first["tools"], "none")
    answer, question = second["messages"][-2:]
    assert answer == {"role": "assistant", "content": WRONG}
    assert "- output.people: is required" in question["content"]


async def test_both_calls_of_a_repaired_answer_are_counted_and_traced(
    admin: Api, agent: Json, provider: ProviderServer, people: People
) -> None:
    provider.says(WRONG)
    provider.says(GRAZ)
    reply = await reply_to(admin, agent, "Where?", **REQUEST)
    (used,) = reply["usage_by_model"]
    assert used["calls"] == 2
    assert reply["usage"]["prompt_tokens"] == 18
    (log,) = await logs_of(admin, agent)
    assert (log["status"], log["usage"]["prompt_tokens"]) == ("completed", 18)
    spans = await spans_of(people, admin, reply["trace_id"])
    asked = [span for span in spans if span.kind == "model"]
    assert [span.attributes[names.OUTPUT_ATTEMPT] for span in asked] == [1, 2]
    (rejected,) = spans[0].events
    assert rejected.name == names.OUTPUT_REJECTED_EVENT
    assert rejected.attributes == {names.OUTPUT_PROBLEMS: ["output.people"]}


@pytest.mark.parametrize(
    "wrong", [WRONG, "Graz has many people.", "[1]", "", '{"city": "Graz", "people": 0.5}']
)
async def test_two_wrong_answers_are_an_error_that_says_what_is_wrong(
    admin: Api, agent: Json, provider: ProviderServer, wrong: str
) -> None:
    provider.says(wrong)
    provider.says(wrong)
    answer = await say(admin, agent, **REQUEST)
    assert answer.status == 502
    error = answer.json()["error"]
    assert error["code"] == "output_invalid"
    details = error["details"]
    assert (details["attempts"], details["text"], "reason" in details) == (2, wrong, False)
    assert [set(one) for one in details["errors"]] == [{"path", "message"}]
    assert details["errors"][0]["path"].startswith("output")
    (log,) = await logs_of(admin, agent)
    assert (log["status"], log["error"]["code"]) == ("failed", "output_invalid")
    assert log["usage_by_model"][0]["calls"] == 2
    await go_on(admin, agent, provider)


async def test_what_cannot_be_stored_does_not_count_for_the_schema(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}, "required": ["a"]}
    provider.says('{"a": "\\u0000"}')
    provider.says('{"a": "x\\u0000"}')
    reply = await reply_to(admin, agent, output_schema=schema)
    assert reply["output"] == {"a": "x"}
    assert REPAIR_WARNING in reply["warnings"]


@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_an_answer_that_is_cut_off_is_not_repaired(
    admin: Api, agent: Json, provider: ProviderServer, finish: str
) -> None:
    provider.says('{"city": "Gr', finish=finish)
    answer = await say(admin, agent, **REQUEST)
    details = answer.json()["error"]["details"]
    assert (answer.status, answer.json()["error"]["code"]) == (502, "output_invalid")
    assert (details["reason"], details["attempts"], details["text"]) == (finish, 1, '{"city": "Gr')
    assert len(provider.requests) == 1
    assert (await logs_of(admin, agent))[0]["usage_by_model"][0]["calls"] == 1


@pytest.mark.parametrize("said", [f"```json\n{GRAZ}\n```", f"\n\n {GRAZ}"])
async def test_what_surrounds_the_object_needs_no_repair(
    admin: Api, agent: Json, provider: ProviderServer, said: str
) -> None:
    provider.says(said)
    assert (await reply_to(admin, agent, **REQUEST))["message"]["content"] == GRAZ
    provider.says(said)
    heard = await stream(admin, agent, **REQUEST)
    assert text_of(heard) == GRAZ
    assert heard[-1].data["output"] == VALUE
