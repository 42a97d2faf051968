"""Embed keys as their owner sees them: made, listed, replaced, revoked, and gone with their agent."""

import hashlib
import re

import pytest

from retinue.access.models import Role
from retinue.embed.models import EmbedKey
from retinue.kit.clock import instant_from_timestamp
from tests.embed.keys import PATH, list_keys, make_key
from tests.factories.agents import make_agent
from tests.factories.happenings import only_event


async def test_a_new_key_is_shown_once_and_kept_as_its_hash(admin, agent, people):
    answer = await admin.post(PATH, {"agent_id": agent["id"], "name": "Website"})
    assert answer.status == 201
    made = answer.json()
    assert re.fullmatch(r"emb_[A-Za-z0-9_-]{43}", made["api_key"])
    assert made["id"].startswith("ek_")
    assert made["key_prefix"] == made["api_key"][:12]
    assert (made["agent_id"], made["agent_name"], made["name"]) == (agent["id"], "Support", "Website")
    assert (made["status"], made["allowed_domains"], made["request_count"]) == ("active", [], 0)
    async with people.context(admin.user.tenant_id) as ctx:
        stored = await ctx.db.get(EmbedKey, made["id"])
        assert stored.key_hash == hashlib.sha256(made["api_key"].encode()).hexdigest()
        assert stored.identity_secret.text(ctx.instance.ring) == made["identity_secret"]
        assert made["api_key"] not in repr(stored)


async def test_the_list_has_everything_but_the_key(admin, agent):
    made = await make_key(admin, agent, allowed_domains=["example.com"], rate_limit_per_minute=5)
    (shown,) = await list_keys(admin)
    assert set(shown) == set(made) - {"api_key", "identity_secret"}
    assert (shown["agent_name"], shown["allowed_domains"], shown["revoked_at"]) == (
        "Support",
        ["example.com"],
        None,
    )
    assert made["api_key"] not in str(shown)


async def test_the_list_is_narrowed_and_paged(admin, agent):
    other = await make_agent(admin, name="Other")
    for number in range(3):
        await make_key(admin, agent, name=f"Key {number}")
    await make_key(admin, other, name="Elsewhere")
    assert {key["name"] for key in await list_keys(admin, agent_id=other["id"])} == {"Elsewhere"}
    assert {key["name"] for key in await list_keys(admin, search="key")} == {"Key 0", "Key 1", "Key 2"}
    answer = await admin.get(PATH, query={"per_page": 3, "page": 2, "sort": "name"})
    assert [key["name"] for key in answer.json()["data"]] == ["Key 2"]
    assert answer.json()["pagination"] == {"page": 2, "per_page": 3, "total": 4, "total_pages": 2}


@pytest.mark.parametrize("where", ["query", "body", "key_id", "api_key", "path"])
async def test_a_key_is_revoked_however_it_is_named_and_revoking_it_again_is_fine(
    admin, key_for, agent, where
):
    holder = await key_for(agent)
    id = holder.key["id"]
    calls = {
        "query": lambda: admin.delete(PATH, query={"id": id}),
        "body": lambda: admin.delete(PATH, {"id": id}),
        "key_id": lambda: admin.delete(PATH, {"key_id": id}),
        "api_key": lambda: admin.delete(PATH, {"api_key": holder.text}),
        "path": lambda: admin.delete(f"{PATH}/{id}"),
    }
    assert (await holder.snippet()).status == 200
    for _ in range(2):
        answer = await calls[where]()
        assert (answer.status, answer.json()["id"]) == (200, id)
        assert answer.json()["message"]
    (shown,) = await list_keys(admin)
    assert shown["status"] == "revoked"
    assert shown["revoked_at"]
    refused = await holder.snippet()
    assert (refused.status, refused.details) == (401, {"reason": "invalid_api_key"})


async def test_a_call_that_names_no_key_or_two_or_none_that_is_there_revokes_nothing(admin, agent):
    made = await make_key(admin, agent)
    for answer, status, code in (
        (await admin.delete(PATH), 422, "validation_error"),
        (await admin.delete(PATH, {"id": made["id"], "key_id": "ek_other"}), 422, "validation_error"),
        (await admin.delete(PATH, {"id": "ek_nobody"}), 404, "api_key_not_found"),
        (await admin.delete(PATH, {"api_key": "emb_nobody"}), 404, "api_key_not_found"),
        (await admin.delete(f"{PATH}/ek_nobody"), 404, "api_key_not_found"),
    ):
        assert (answer.status, answer.code) == (status, code)
    (shown,) = await list_keys(admin)
    assert shown["status"] == "active"


async def test_a_key_of_another_tenant_cannot_be_named_in_any_way(admin, people, agent):
    made = await make_key(admin, agent)
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Strangers"))
    for answer in (
        await stranger.delete(PATH, {"id": made["id"]}),
        await stranger.delete(PATH, {"api_key": made["api_key"]}),
        await stranger.post(f"{PATH}/{made['id']}/rotate", {}),
    ):
        assert (answer.status, answer.code) == (404, "api_key_not_found")
    assert await list_keys(stranger, agent_id=agent["id"]) == []


async def test_a_key_for_an_agent_of_another_tenant_cannot_be_made(people, agent):
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Strangers"))
    answer = await stranger.post(PATH, {"agent_id": agent["id"], "name": "Theirs"})
    assert (answer.status, answer.code) == (404, "agent_not_found")
    assert await list_keys(stranger) == []


async def test_a_rotated_key_is_another_one_and_the_old_one_has_its_grace(admin, key_for, agent, clock):
    holder = await key_for(agent)
    old = holder.text
    answer = await admin.post(f"{PATH}/{holder.key['id']}/rotate", {"grace_seconds": 60})
    assert answer.status == 200
    rotated = answer.json()
    assert (rotated["id"], rotated["key_prefix"]) == (holder.key["id"], rotated["api_key"][:12])
    assert rotated["api_key"] != old
    assert rotated["previous_until"][:19] == instant_from_timestamp(clock.time() + 60)[:19]
    assert "identity_secret" not in rotated
    clock.advance(59)
    for text in (old, rotated["api_key"]):
        holder.key["api_key"] = text
        assert (await holder.snippet()).status == 200
    clock.advance(1)
    assert (await holder.snippet()).status == 200
    holder.key["api_key"] = old
    assert (await holder.snippet()).status == 401


async def test_without_grace_the_old_key_is_over_at_once(admin, key_for, agent):
    holder = await key_for(agent)
    assert (await admin.post(f"{PATH}/{holder.key['id']}/rotate")).status == 200
    assert (await holder.snippet()).status == 401


async def test_a_revoked_key_cannot_be_rotated_and_its_grace_is_over_too(admin, key_for, agent):
    holder = await key_for(agent)
    await admin.post(f"{PATH}/{holder.key['id']}/rotate", {"grace_seconds": 600})
    assert (await holder.snippet()).status == 200
    await admin.delete(f"{PATH}/{holder.key['id']}")
    assert (await holder.snippet()).status == 401
    answer = await admin.post(f"{PATH}/{holder.key['id']}/rotate")
    assert (answer.status, answer.code) == (409, "conflict")


async def test_a_key_ends_when_it_was_said_to(admin, key_for, agent, clock):
    holder = await key_for(agent, expires_at=instant_from_timestamp(clock.time() + 100))
    assert (await holder.snippet()).status == 200
    clock.advance(100)
    refused = await holder.snippet()
    assert (refused.status, refused.details) == (401, {"reason": "invalid_api_key"})


async def test_the_end_of_a_key_can_be_moved_and_taken_away(admin, key_for, agent, clock, people):
    holder = await key_for(agent)
    path = f"{PATH}/{holder.key['id']}"
    end = instant_from_timestamp(clock.time() + 100)
    assert (await admin.patch(path, {"expires_at": end})).json()["expires_at"] == end
    assert (await only_event(people, "system.embed_key.updated"))["changed"] == ["expires_at"]
    clock.advance(101)
    assert (await holder.snippet()).status == 401
    past = await admin.patch(path, {"expires_at": end})
    assert (past.status, list(past.details)) == (422, ["expires_at"])
    assert (await admin.patch(path, {"name": "Renamed"})).json()["expires_at"] == end
    assert (await admin.patch(path, {"expires_at": None})).json()["expires_at"] is None
    assert (await holder.snippet()).status == 200


async def test_an_agent_takes_its_keys_with_it(admin, key_for, agent):
    holder = await key_for(agent)
    assert (await admin.delete(f"/api/v1/agents/{agent['id']}")).status == 204
    assert await list_keys(admin) == []
    assert (await holder.snippet()).status == 401


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "x"}, "agent_id"),
        ({"agent_id": "agt_x"}, "name"),
        ({"agent_id": "agt_x", "name": " "}, "name"),
        ({"agent_id": "agt_x", "name": "x", "allowed_domains": "example.com"}, "allowed_domains"),
        ({"agent_id": "agt_x", "name": "x", "allowed_domains": ["a b"]}, "allowed_domains.0"),
        ({"agent_id": "agt_x", "name": "x", "allowed_domains": ["*", ""]}, "allowed_domains.1"),
        ({"agent_id": "agt_x", "name": "x", "expires_at": "tomorrow"}, "expires_at"),
        ({"agent_id": "agt_x", "name": "x", "expires_at": "2020-01-01T00:00:00Z"}, "expires_at"),
        ({"agent_id": "agt_x", "name": "x", "rate_limit_per_minute": 0}, "rate_limit_per_minute"),
        ({"agent_id": "agt_x", "name": "x", "monthly_token_budget": -1}, "monthly_token_budget"),
    ],
)
async def test_what_is_wrong_with_a_new_key_is_said_by_field(admin, body, field):
    answer = await admin.post(PATH, body)
    assert (answer.status, answer.code) == (422, "validation_error")
    assert field in answer.details


async def test_domains_are_kept_in_one_form_and_once(admin, agent):
    written = ["Example.com", "example.com", "https://Example.com:443/", "*.EXAMPLE.com", "localhost:3000"]
    made = await make_key(admin, agent, allowed_domains=written)
    assert made["allowed_domains"] == [
        "example.com",
        "https://example.com",
        "*.example.com",
        "localhost:3000",
    ]


async def test_what_happens_to_a_key_is_an_event_and_never_tells_the_key(admin, agent, people):
    made = await make_key(admin, agent)
    rotated = (await admin.post(f"{PATH}/{made['id']}/rotate")).json()
    await admin.delete(f"{PATH}/{made['id']}")
    await admin.delete(f"{PATH}/{made['id']}")
    told = [
        await only_event(people, f"system.embed_key.{what}") for what in ("created", "rotated", "revoked")
    ]
    assert {(one["embed_key_id"], one["agent_id"], one["name"]) for one in told} == {
        (made["id"], agent["id"], "Website")
    }
    for secret in (made["api_key"], made["identity_secret"], rotated["api_key"]):
        assert secret not in str(told)
