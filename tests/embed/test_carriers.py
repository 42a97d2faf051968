"""Tests of embed keys: three carriers with one meaning (T10), valid only for their agent (T22)."""

import pytest

from retinue.access.models import Role
from retinue.kit.logging import scrub_secrets
from tests.contract.routes import ROUTES, call, label
from tests.embed.keys import PATH, make_key
from tests.factories.agents import make_agent

pytestmark = pytest.mark.either_database

CARRIERS = {
    "bearer": lambda text: {"headers": {"Authorization": f"Bearer {text}"}},
    "bearer in capitals": lambda text: {"headers": {"Authorization": f"BEARER  {text} "}},
    "header": lambda text: {"headers": {"X-API-Key": text}},
    "query": lambda text: {"query": {"api_key": text}},
}
MANAGEMENT = [route for route in ROUTES if not route.takes_embed_key]


def snippet_of(agent) -> str:
    return f"/api/v1/public/agents/{agent['id']}/embed"


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_a_key_means_the_same_in_each_carrier(api, holder, agent, carrier):
    answer = await api.get(snippet_of(agent), **CARRIERS[carrier](holder.text))
    assert (answer.status, answer.json()["agent_id"]) == (200, agent["id"])


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_the_rules_hold_for_each_carrier(admin, api, agent, key_for, carrier):
    """An origin, an agent and a revocation that one carrier knew of and another did not would be a way in."""
    holder = await key_for(agent, allowed_domains=["example.com"])
    sent = CARRIERS[carrier](holder.text)
    refused = await api.get(snippet_of(agent), **sent)
    assert (refused.status, refused.details["reason"]) == (403, "origin_not_allowed")
    sent = {**sent, "headers": {**sent.get("headers", {}), "Origin": "https://example.com"}}
    assert (await api.get(snippet_of(agent), **sent)).status == 200
    other = await make_agent(admin, name="Other")
    refused = await api.get(snippet_of(other), **sent)
    assert (refused.status, refused.code) == (403, "forbidden")
    assert refused.details == {
        "required": "key_of_this_agent",
        "your_role": "embed_key",
        "reason": "key_agent_mismatch",
    }
    await admin.delete(f"{PATH}/{holder.key['id']}")
    refused = await api.get(snippet_of(agent), **sent)
    assert (refused.status, refused.details) == (401, {"reason": "invalid_api_key"})


@pytest.mark.parametrize("second", ["same", "other", "token", "garbage"])
@pytest.mark.parametrize("pair", [("bearer", "header"), ("bearer", "query"), ("header", "query")])
async def test_two_carriers_are_refused_whatever_they_carry(admin, api, holder, agent, pair, second):
    texts = {
        "same": holder.text,
        "other": (await make_key(admin, agent))["api_key"],
        "token": admin.token,
        "garbage": "x",
    }
    one, two = CARRIERS[pair[0]](holder.text), CARRIERS[pair[1]](texts[second])
    merged = {
        "headers": {**one.get("headers", {}), **two.get("headers", {})},
        "query": {**one.get("query", {}), **two.get("query", {})},
    }
    answer = await api.get(snippet_of(agent), **merged)
    assert (answer.status, answer.details) == (401, {"reason": "invalid_api_key"})


async def test_one_carrier_twice_is_two(api, holder, agent):
    answer = await api.get(f"{snippet_of(agent)}?api_key={holder.text}&api_key={holder.text}")
    assert (answer.status, answer.details) == (401, {"reason": "invalid_api_key"})


async def test_a_user_may_ask_where_a_key_may_and_needs_the_permission(people, admin, agent):
    assert (await admin.get(snippet_of(agent))).status == 200
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Strangers"))
    refused = await stranger.get(snippet_of(agent))
    assert (refused.status, refused.code) == (404, "agent_not_found")


@pytest.mark.parametrize(
    "text", ["emb_", "emb_x", "emb_" + "a" * 43, "emb_" + "a" * 10_000, "x", "", "emb_\x80", "ek_x", "a.b.c"]
)
async def test_a_key_that_nobody_has_is_no_key(api, agent, text):
    answer = await api.get(snippet_of(agent), headers={"X-API-Key": text})
    assert (answer.status, answer.details) == (401, {"reason": "invalid_api_key"})


async def test_public_chat_takes_a_key_and_no_user(admin, api, holder):
    body = {"session_id": "s", "message": "Hello"}
    refused = await admin.post(holder.path, body)
    assert (refused.status, refused.details) == (401, {"reason": "invalid_api_key"})
    refused = await api.post(holder.path, body)
    assert (refused.status, refused.details) == (401, {"reason": "missing_token"})


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_a_key_opens_no_route_of_the_management(api, holder, carrier):
    sent = CARRIERS[carrier](holder.text)
    for route in MANAGEMENT:
        if route.requires == "public" or getattr(route.requires, "value", "") == "public":
            continue
        answer = await call(api, route, {"agent_id": holder.agent["id"]}, **sent)
        assert (answer.status, answer.code) == (401, "unauthorized"), (label(route), answer)


async def test_a_key_may_call_these_and_nothing_else():
    assert {label(route) for route in ROUTES if route.takes_embed_key} == {
        "GET /api/v1/public/agents/{agent_id}/embed",
        "GET /api/v1/public/agents/{agent_id}/widget",
        "POST /api/v1/public/agents/{agent_id}/audio",
        "POST /api/v1/public/agents/{agent_id}/chat",
        "POST /api/v1/public/agents/{agent_id}/feedback",
        "POST /api/v1/public/agents/{agent_id}/files",
        "POST /api/v1/public/agents/{agent_id}/stop",
        "POST /api/v1/public/agents/{agent_id}/transcript",
        "POST /v1/chat/completions",
        "GET /v1/models",
    }


async def test_an_agent_that_is_not_there_is_not_found_with_a_key_either(holder, people):
    holder.agent = {"id": "agt_nobody"}
    assert (await holder.say()).code == "agent_not_found"


async def test_a_key_in_a_query_does_not_reach_the_log(holder):
    line = scrub_secrets(
        f"GET /v1/models?api_key={holder.text}&x=1 Authorization: Bearer {holder.text} {holder.text}"
    )
    assert holder.text[12:] not in line
