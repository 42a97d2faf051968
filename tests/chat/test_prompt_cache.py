"""Tests of prompt caching: each request begins with the whole of the one before it."""

from itertools import pairwise
from typing import Any

import msgspec
import pytest

from retinue.access.models import Role
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import KEY, ProviderServer
from tests.client import Api
from tests.embed.keys import Holder, make_key
from tests.factories.agents import attach_tool, change_agent, make_agent
from tests.factories.people import People
from tests.factories.providers import add_key
from tests.factories.tools import make_tool
from tests.tools.servers.rest_api import RestApi

Json = dict[str, Any]
QUESTIONS = ("Hello.", "Weather in Graz?", "Thanks.", "And in Linz?", "Which is warmer?", "Goodbye.")
PROMPT = "You help travellers. " * 20
MODELS = {"openai": "gpt-test", "anthropic": "claude-test"}


@pytest.fixture(params=["openai", "anthropic"])
async def agent(
    request: pytest.FixtureRequest, admin: Api, provider: ProviderServer, remote: RestApi
) -> Json:
    """An agent with a tool and a sub-agent, whose model speaks one protocol or the other."""
    name = request.param
    base = f"{provider.url}/v1"
    await add_key(admin, provider=name, api_key=KEY, base_url=base, models=[MODELS[name]])
    made = await make_agent(
        admin, primary_model=f"{name}/{MODELS[name]}", system_prompt=PROMPT, status="published"
    )
    await attach_tool(admin, made, await make_tool(admin, remote.url, description="Tells the weather."))
    return made


def script(provider: ProviderServer) -> None:
    """Six answers; the second and the fourth only after a call, whose keys are in no order."""
    for question in QUESTIONS:
        if "?" in question and "warmer" not in question:
            provider.says("Let me look.", Call("weather__get", '{"query": {"town": "x", "a": 1}}'))
        provider.says(f"That was {question}")


def as_read(request: Json) -> str:
    """Return a request in the order in which a provider reads it, without fields it does not read."""
    messages = list(request["messages"])
    system = [request.get("system")] if "system" in request else []
    text = msgspec.json.encode([request.get("tools", []), system, messages]).decode()
    return text.replace(',"cache_control":{"type":"ephemeral"}', "")


def shares(requests: list[Json]) -> list[float]:
    """Return the share of each request that the next one begins with."""
    return [common_length(*pair) / len(pair[0]) for pair in pairwise(map(as_read, requests))]


def common_length(one: str, two: str) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), len(one))


def requests_of(provider: ProviderServer) -> list[Json]:
    return [one.json for one in provider.requests if not one.path.endswith("/models")]


async def test_a_stored_conversation_is_sent_again_as_it_was(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    script(provider)
    conversation: Json = {}
    for question in QUESTIONS:
        body = {"message": question, **conversation}
        answer = await admin.post(f"/api/v1/agents/{agent['id']}/chat", body)
        assert answer.status == 200, answer
        conversation = {"conversation_id": answer.json()["conversation_id"]}
    requests = requests_of(provider)
    assert len(requests) == len(QUESTIONS) + 2
    assert min(shares(requests)) >= 0.99
    last = provider.last.json
    assert len([one for one in last["messages"] if one["role"] != "system"]) >= 2 * len(QUESTIONS)


async def test_callers_who_send_everything_again_begin_alike(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    """They know nothing of the calls; the agent finds them again."""
    script(provider)
    said: list[Json] = []
    for question in QUESTIONS:
        said.append({"role": "user", "content": question})
        answer = await admin.post("/v1/chat/completions", {"model": agent["id"], "messages": said})
        assert answer.status == 200, answer
        said.append(answer.json()["choices"][0]["message"])
    requests = requests_of(provider)
    assert len(requests) == len(QUESTIONS) + 2
    assert min(shares(requests)) >= 0.99


async def test_what_calls_found_is_not_replayed_for_others(
    admin: Api, agent: Json, provider: ProviderServer, people: People
) -> None:
    """Not for another user, and not for the visitors of a site, who share a key."""
    holder = Holder(admin, agent, await make_key(admin, agent))
    other = await people.signed_in(Role.tenant_admin, await people.default_tenant())
    for asking, headers in ((admin, {}), (admin, holder.headers)):
        provider.says("", Call("weather__get", '{"query": {"town": "x"}}'))
        provider.says("It rains.")
        said = [{"role": "user", "content": "Weather in Graz?"}]
        body = {"model": agent["id"], "messages": said}
        assert (await asking.post("/v1/chat/completions", body, headers=headers)).status == 200
    said += [{"role": "assistant", "content": "It rains."}, {"role": "user", "content": "Thanks."}]
    called = []
    for asking, headers in ((admin, {}), (other, {}), (admin, holder.headers)):
        body = {"model": agent["id"], "messages": said}
        assert (await asking.post("/v1/chat/completions", body, headers=headers)).status == 200
        called.append("weather__get" in str(provider.last.json["messages"]))
    assert called == [True, False, False]


async def test_what_holds_for_one_turn_only_stands_last_and_is_not_sent_again(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    script(provider)
    path = f"/api/v1/agents/{agent['id']}/chat"
    first = (await admin.post(path, {"message": "Hello.", "context": {"page": "/prices"}})).json()
    (told,) = requests_of(provider)
    assert "/prices" in last_text(told)
    assert "/prices" not in str(told["messages"][:-1])
    await admin.post(path, {"message": "Weather in Graz?", "conversation_id": first["conversation_id"]})
    assert "/prices" not in str(provider.last.json)


def last_text(request: Json) -> str:
    content = request["messages"][-1]["content"]
    return content if isinstance(content, str) else content[-1].get("text", "")


async def test_anthropic_is_told_what_to_keep(admin: Api, agent: Json, provider: ProviderServer) -> None:
    if not agent["primary_model"].startswith("anthropic"):
        pytest.skip("others keep what they can without being told")
    agent = await change_agent(admin, agent, cache_ttl="1h")
    script(provider)
    path = f"/api/v1/agents/{agent['id']}/chat"
    first = (await admin.post(path, {"message": "Hello."})).json()
    body = {"message": "Weather in Graz?", "context": {"a": 1}, "conversation_id": first["conversation_id"]}
    await admin.post(path, body)
    request = provider.last.json
    kept = {"type": "ephemeral", "ttl": "1h"}
    assert [tool.get("cache_control") for tool in request["tools"]][-1] == kept
    assert [block["cache_control"] for block in request["system"]] == [kept]
    blocks = [block for message in request["messages"] for block in message["content"]]
    # The end of the history, and the last result; the tail behind it is not kept.
    marked = [at for at, block in enumerate(blocks) if "cache_control" in block]
    assert [blocks[at]["cache_control"] for at in marked] == [kept, kept]
    assert marked == [1, len(blocks) - 2]


async def test_openai_is_given_one_key_for_a_conversation(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    if not agent["primary_model"].startswith("openai"):
        pytest.skip("only OpenAI and Azure know the field")
    script(provider)
    path = f"/api/v1/agents/{agent['id']}/chat"
    first = (await admin.post(path, {"message": "Hello."})).json()
    conversation = {"conversation_id": first["conversation_id"]}
    await admin.post(path, {"message": "Weather in Graz?", **conversation})
    await admin.post(path, {"message": "Another conversation."})
    *same, other = [request["prompt_cache_key"] for request in requests_of(provider)]
    assert len(set(same)) == 1
    assert other not in same
    assert len(other) == 32
