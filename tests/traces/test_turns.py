"""Tests of a turn's trace: its calls, their order and parents, and their costs."""

from typing import Any
from urllib.parse import urlsplit

import pytest

from retinue.app import Service
from retinue.kit.tracing import names
from retinue.kit.tracing.models import TracePart
from retinue.kit.tracing.recorder import ActiveSpan, PartRecorder
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import ProviderServer, refusing
from tests.chat.approving import LOOK_AT_GRAZ, Cast, Desk, delegation
from tests.chat.speaking import path_of, stream
from tests.client import Api
from tests.factories.agents import attach_agent, attach_tool, make_agent
from tests.factories.people import People
from tests.factories.providers import add_key_for
from tests.factories.tools import make_tool
from tests.tools.servers.rest_api import RestApi
from tests.traces.stored import parts_of, spans_of, tree_of

_REMOTE_TRACE, _REMOTE_SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture
async def busy_reply(admin: Api, provider: ProviderServer, remote: RestApi) -> dict[str, Any]:
    """The reply of a turn with a fallback, two tools and a sub-agent."""
    await add_key_for(admin, provider, models=["test-model", "spare-model"])
    agent = await make_agent(
        admin,
        name="Desk",
        primary_model="openai_compatible/test-model",
        fallback_models=["openai_compatible/spare-model"],
        status="published",
    )
    helper = await make_agent(admin, name="Helper", primary_model="openai_compatible/test-model")
    await attach_agent(admin, agent, helper)
    for name in ("weather", "traffic"):
        await attach_tool(admin, agent, await make_tool(admin, remote.url, name=name))
    provider.fails(refusing(400, {"error": {"message": "no"}}))
    calls = (Call("weather", "{}", "call_1"), Call("traffic", "{}", "call_2"))
    provider.says("", *calls, delegation(helper, "call_3", "Count to three."))
    provider.says("One, two, three.")
    provider.says("All done.")
    reply = (await admin.post(path_of(agent), {"message": "Go"})).json()
    assert reply["finish_reason"] == "stop", reply
    return {**reply, "agent_id": agent["id"]}


async def test_a_turn_with_a_fallback_two_tools_and_a_sub_agent_is_one_tree(
    admin: Api, people: People, busy_reply: dict[str, Any]
) -> None:
    spans = await spans_of(people, admin, busy_reply["trace_id"])
    called_helper = busy_reply["tool_calls"][2]["tool"]
    assert tree_of([span for span in spans if span.kind != "model"]) == {
        "invoke_agent Desk": None,
        "execute_tool weather": "invoke_agent Desk",
        "execute_tool traffic": "invoke_agent Desk",
        f"execute_tool {called_helper}": "invoke_agent Desk",
        "invoke_agent Helper": f"execute_tool {called_helper}",
    }
    executed = {span.execution_id for span in spans if span.name == "execute_tool weather"}
    assert executed == {busy_reply["tool_calls"][0]["execution_id"]}
    for span in spans[1:]:
        parent = next(one for one in spans if one.span_id == span.parent_span_id)
        assert parent.started_ns <= span.started_ns
        assert span.started_ns + span.duration_ns <= parent.started_ns + parent.duration_ns


async def test_the_trace_of_a_turn_has_the_figures_of_its_reply(
    admin: Api, people: People, busy_reply: dict[str, Any]
) -> None:
    (part,) = await parts_of(people, admin, busy_reply["trace_id"])
    spans = await spans_of(people, admin, busy_reply["trace_id"])
    root = spans[0]
    assert (root.name, root.kind, root.parent_span_id) == ("invoke_agent Desk", "turn", None)
    assert root.message_id == busy_reply["message"]["id"]
    assert (part.input_tokens, part.output_tokens) == (
        busy_reply["usage"]["prompt_tokens"],
        busy_reply["usage"]["completion_tokens"],
    )
    assert (part.agent_id, part.conversation_id) == (busy_reply["agent_id"], busy_reply["conversation_id"])
    assert part.span_count == len(spans) == 9


async def test_each_call_of_a_model_is_a_span_with_the_server_it_called(
    admin: Api, people: People, provider: ProviderServer, busy_reply: dict[str, Any]
) -> None:
    spans = await spans_of(people, admin, busy_reply["trace_id"])
    models = [span for span in spans if span.kind == "model"]
    assert [span.name for span in models][:2] == ["chat test-model", "chat spare-model"]
    assert models[0].error is not None
    called = urlsplit(provider.url)
    for span in models:
        assert span.attributes[names.SERVER_ADDRESS] == called.hostname
        assert span.attributes[names.SERVER_PORT] == called.port
    assert len([one for one in models if one.parent_span_id != spans[0].span_id]) == 1, "of the helper"


async def test_tools_are_told_the_trace_and_models_are_not(
    admin: Api, people: People, provider: ProviderServer, remote: RestApi, busy_reply: dict[str, Any]
) -> None:
    sent = [request.headers.get("traceparent", "") for request in remote.seen]
    assert sorted(sent) == sorted(
        f"00-{busy_reply['trace_id']}-{span.span_id}-01"
        for span in await spans_of(people, admin, busy_reply["trace_id"])
        if span.name in ("execute_tool weather", "execute_tool traffic")
    )
    assert all("traceparent" not in request.headers for request in provider.requests)


async def test_a_turn_that_waited_for_an_approval_stays_in_its_trace(desk: Desk) -> None:
    desk.provider.says("Let me look.", LOOK_AT_GRAZ)
    reply = await desk.ask(message="How is the weather?")
    desk.provider.says("It rains.")
    await desk.approve(reply["tool_calls"][0]["approval_id"])
    await desk.work()
    first, second = await _turns_of(desk, reply)
    assert second.parent_span_id == first.root_span_id
    assert (first.is_first, second.is_first) == (True, False)
    done = await desk.last_message(reply)
    usage = done["details"]["usage"]
    assert first.input_tokens + second.input_tokens == usage["prompt_tokens"]
    (approval,) = [span for span in second.spans if span.kind == "approval"]
    assert approval.attributes[names.APPROVAL_OUTCOME] == "approved"
    assert approval.parent_span_id == second.root_span_id
    assert approval.started_ns < second.spans[0].started_ns
    assert done["details"]["trace_id"] == reply["trace_id"]


async def test_a_sub_agent_that_waited_is_told_as_well(desk: Desk, cast: Cast) -> None:
    helper = await cast.hire("Helper", tools=(desk.tool,))
    cast.says(desk.agent, "", delegation(helper, "call_9", "Look."))
    cast.says(helper, "", LOOK_AT_GRAZ)
    reply = await desk.ask()
    cast.says(helper, "It rains.")
    cast.says(desk.agent, "Rain.")
    await desk.approve_all(reply)
    _, second = await _turns_of(desk, reply)
    assert [span.kind for span in second.spans].count("approval") == 1
    assert [span.kind for span in second.spans].count("sub_agent") == 1


async def _turns_of(desk: Desk, reply: dict[str, Any]) -> list[TracePart]:
    parts = await parts_of(desk.people, desk.admin, reply["trace_id"])
    return [part for part in parts if part.kind == "turn"]


@pytest.mark.parametrize("is_streamed", [False, True])
async def test_a_turn_that_fails_is_told_with_its_error(
    admin: Api, people: People, agent: dict[str, Any], provider: ProviderServer, is_streamed: bool
) -> None:
    provider.fails(*[refusing(401, {"error": {"message": "bad key sk-canary-12345678"}})] * 9)
    path = path_of(agent, "/stream" if is_streamed else "")
    assert (await admin.post(path, {"message": "Go"})).status == 502
    (part,) = await parts_of(people, admin)
    assert (part.status, part.kind) == ("error", "turn")
    assert part.error_code
    assert part.spans[-1].error is not None


async def test_a_stream_names_its_trace_and_times_the_first_word(
    admin: Api, people: People, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.says("Hello there.")
    stop = (await stream(admin, agent))[-1]
    spans = await spans_of(people, admin, stop.data["trace_id"])
    assert [span.name for span in spans] == ["invoke_agent Support", "chat test-model"]
    assert spans[1].attributes[names.TIME_TO_FIRST_CHUNK] > 0
    assert spans[1].attributes[names.OUTPUT_TOKENS] == stop.data["usage"]["completion_tokens"]


async def test_a_signed_in_caller_continues_their_own_trace(
    admin: Api, people: People, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.says("Hello.")
    header = f"00-{_REMOTE_TRACE}-{_REMOTE_SPAN}-00"
    answer = await admin.post(path_of(agent), {"message": "Hi"}, headers={"traceparent": header})
    assert answer.json()["trace_id"] == _REMOTE_TRACE
    assert answer.headers["traceresponse"].startswith(f"00-{_REMOTE_TRACE}-")
    (part,) = await parts_of(people, admin, _REMOTE_TRACE)
    assert (part.parent_span_id, part.is_first) == (_REMOTE_SPAN, True)


@pytest.mark.parametrize(
    "header",
    [
        f"00-{'0' * 32}-{_REMOTE_SPAN}-01",
        f"00-{_REMOTE_TRACE}-{'0' * 16}-01",
        f"00-{_REMOTE_TRACE.upper()}-{_REMOTE_SPAN}-01",
        f"ff-{_REMOTE_TRACE}-{_REMOTE_SPAN}-01",
        f"00-{_REMOTE_TRACE}-{_REMOTE_SPAN}-01-more",
        "x" * 5_000,
    ],
)
async def test_a_bad_traceparent_is_as_none(
    admin: Api, agent: dict[str, Any], provider: ProviderServer, header: str
) -> None:
    provider.says("Hello.")
    answer = await admin.post(path_of(agent), {"message": "Hi"}, headers={"traceparent": header})
    assert answer.status == 200
    assert answer.json()["trace_id"] not in ("", _REMOTE_TRACE, None)


async def test_no_span_is_made_while_traces_are_off(
    service: Service,
    admin: Api,
    people: People,
    agent: dict[str, Any],
    provider: ProviderServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[object] = []
    for kind in (ActiveSpan, PartRecorder):
        monkeypatch.setattr(kind, "__init__", lambda *_args, **_named: made.append(1))
    monkeypatch.setattr(service.instance.tracing, "is_stored", False)
    provider.says("Hello.")
    reply = (await admin.post(path_of(agent), {"message": "Hi"})).json()
    assert reply["trace_id"] is None
    assert not made
    assert await parts_of(people, admin) == []
