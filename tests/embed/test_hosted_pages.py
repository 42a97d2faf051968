"""The hosted page of an agent, as its owner sets it."""

import pytest

from tests.embed.hosting import OPEN
from tests.embed.hosting import page_path as path_of
from tests.embed.keys import list_keys
from tests.factories.agents import make_agent


async def test_a_page_is_off_until_it_is_switched_on(admin):
    agent = await make_agent(admin, name="Lamp Desk!", status="published")
    page = (await admin.get(path_of(agent))).json()
    assert (page["is_open"], page["slug"], page["embed_key_id"]) == (False, "lamp-desk", None)
    assert page["figures"] == {"opened": 0, "chats": 0, "tokens_used": 0, "cost_usd": 0.0}


async def test_a_public_page_makes_a_key_for_the_instance_alone(admin, service):
    agent = await make_agent(admin, status="published")
    answer = await admin.put(path_of(agent), OPEN)
    assert answer.status == 200, answer
    page = answer.json()
    (key,) = await list_keys(admin, agent_id=agent["id"])
    assert (page["is_open"], page["embed_key_id"]) == (True, key["id"])
    assert page["address"].endswith("/c/lamp-desk")
    assert key["allowed_domains"] == [page["address"].removesuffix("/c/lamp-desk")]
    assert page["limits"] == {
        "monthly_token_budget": 50_000,
        "rate_limit_per_visitor": 10,
        "allow_attachments": True,
    }


async def test_a_public_page_without_a_monthly_budget_is_refused(admin):
    agent = await make_agent(admin, status="published")
    answer = await admin.put(path_of(agent), {"slug": "lamp-desk", "audience": "public"})
    assert answer.status == 422
    assert b"spend money" in answer.body
    assert await list_keys(admin, agent_id=agent["id"]) == []
    assert (await admin.put(path_of(agent), {"slug": "lamp-desk", "audience": "members"})).status == 200


async def test_the_budget_of_a_public_page_cannot_be_taken_away(admin):
    agent = await make_agent(admin, status="published")
    page = (await admin.put(path_of(agent), OPEN)).json()
    key = f"/api/v1/embed/api-keys/{page['embed_key_id']}"
    assert (await admin.patch(key, {"monthly_token_budget": None})).status == 422
    assert (await admin.patch(key, {"monthly_token_budget": 70_000})).status == 200
    assert (await admin.delete(path_of(agent))).status == 204
    assert (await admin.patch(key, {"monthly_token_budget": None})).status == 200


async def test_a_page_takes_a_key_that_only_this_instance_may_use(admin):
    agent = await make_agent(admin, status="published")
    first = (await admin.put(path_of(agent), OPEN)).json()
    own = first["address"].removesuffix("/c/lamp-desk")
    keys = {}
    for domains in ([own], ["example.com"]):
        body = {"agent_id": agent["id"], "name": "Own", "allowed_domains": domains, "monthly_token_budget": 9}
        keys[domains[0]] = (await admin.post("/api/v1/embed/api-keys", body)).json()["id"]
    refused = await admin.put(path_of(agent), {**OPEN, "embed_key_id": keys["example.com"]})
    assert (refused.status, b"must allow only" in refused.body) == (422, True)
    taken = await admin.put(path_of(agent), {**OPEN, "embed_key_id": keys[own]})
    assert (taken.status, taken.json()["embed_key_id"]) == (200, keys[own])
    other = await make_agent(admin, name="Other", status="published")
    foreign = await admin.put(path_of(other), {**OPEN, "slug": "other-desk", "embed_key_id": keys[own]})
    assert foreign.status == 422


@pytest.mark.parametrize(
    "slug", ["ab", "Lamp", "lamp desk", "-lamp", "lamp-", "a" * 61, "lämp", "../x", "<b>", "lamp\n"]
)
async def test_an_address_is_lower_case_and_short(admin, slug):
    agent = await make_agent(admin, status="published")
    assert (await admin.put(path_of(agent), {**OPEN, "slug": slug})).status == 422


async def test_an_address_that_was_given_up_stays_reserved(admin, people):
    agent = await make_agent(admin, status="published")
    await admin.put(path_of(agent), OPEN)
    assert (await admin.put(path_of(agent), {**OPEN, "slug": "bulb-desk"})).status == 200
    other = await make_agent(admin, name="Other", status="published")
    taken = await admin.put(path_of(other), OPEN)
    assert (taken.status, taken.json()["error"]["code"]) == (409, "slug_taken")
    assert (await admin.put(path_of(agent), OPEN)).json()["slug"] == "lamp-desk"
    assert (await admin.delete(path_of(agent))).status == 204
    assert (await admin.put(path_of(other), OPEN)).status == 409


async def test_switching_off_twice_changes_nothing(admin):
    agent = await make_agent(admin, status="published")
    assert (await admin.delete(path_of(agent))).status == 204
    await admin.put(path_of(agent), OPEN)
    assert [(await admin.delete(path_of(agent))).status for _ in range(2)] == [204, 204]
    page = (await admin.get(path_of(agent))).json()
    assert (page["is_open"], page["slug"]) == (False, "lamp-desk")
