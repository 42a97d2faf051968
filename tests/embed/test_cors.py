"""Pages of other origins: a preflight is answered for any, the call itself decides who may read."""

import pytest

from tests.client import Api, Response

pytestmark = pytest.mark.either_database

PAGE = "https://example.com"
EVIL = ["https://evil.example", "null", "https://example.com.evil", "https://example.com:443.evil"]


@pytest.fixture
async def listed_holder(key_for, agent):
    return await key_for(agent, allowed_domains=["example.com"])


def allowed_origin(answer: Response) -> str | None:
    names = [name for name, _ in answer.raw_headers]
    assert names.count(b"access-control-allow-origin") <= 1
    assert b"access-control-allow-credentials" not in names
    assert "Origin" in answer.headers["vary"]
    return answer.headers.get("access-control-allow-origin")


@pytest.mark.parametrize("origin", [PAGE, *EVIL])
@pytest.mark.parametrize(
    "path", ["/api/v1/public/agents/agt_x/chat", "/api/v1/public/agents/agt_x/embed", "/v1/chat/completions"]
)
async def test_a_preflight_is_answered_before_anybody_is_known(api: Api, path, origin):
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type, x-api-key",
    }
    answer = await api.request("OPTIONS", path, headers=headers)
    assert (answer.status, allowed_origin(answer)) == (204, "*")
    assert {"authorization", "content-type", "x-api-key"} <= set(
        answer.headers["access-control-allow-headers"].lower().split(", ")
    )


async def test_a_page_of_the_list_may_read_the_answer(listed_holder, provider):
    answer = await listed_holder.say(origin=PAGE)
    assert (answer.status, allowed_origin(answer)) == (200, PAGE)
    assert "retry-after" in answer.headers["access-control-expose-headers"].lower()
    streamed = await listed_holder.say(origin=PAGE, stream=True)
    assert (streamed.status, allowed_origin(streamed)) == (200, PAGE)
    assert streamed.headers["content-type"] == "text/event-stream"


@pytest.mark.parametrize("origin", EVIL)
async def test_a_page_that_is_not_of_the_list_is_refused_and_may_not_even_read_that(
    listed_holder, provider, origin
):
    answer = await listed_holder.say(origin=origin)
    assert (answer.status, answer.code, allowed_origin(answer)) == (403, "forbidden", None)
    assert answer.details == {
        "required": "allowed_origin",
        "your_role": "embed_key",
        "reason": "origin_not_allowed",
    }
    assert provider.requests == []


async def test_a_caller_without_an_origin_is_refused_where_there_is_a_list(listed_holder):
    answer = await listed_holder.say()
    assert (answer.status, answer.details["reason"]) == (403, "origin_not_allowed")


@pytest.mark.parametrize("domains", [None, [], ["*"], ["example.com", "*"]])
@pytest.mark.parametrize("origin", [PAGE, "null", "https://anything.example:81"])
async def test_without_a_list_every_page_may_read_the_answer(key_for, agent, domains, origin):
    holder = await key_for(agent, allowed_domains=domains)
    answer = await holder.snippet(Origin=origin)
    assert (answer.status, allowed_origin(answer)) == (200, origin)
    assert (await holder.snippet()).status == 200


async def test_a_refusal_that_comes_after_the_origin_can_be_read(key_for, agent):
    holder = await key_for(agent, allowed_domains=["example.com"], rate_limit_per_minute=1)
    await holder.snippet(Origin=PAGE)
    refused = await holder.snippet(Origin=PAGE)
    assert (refused.status, allowed_origin(refused)) == (429, PAGE)
    invalid = await (await key_for(agent)).say("", origin=PAGE)
    assert (invalid.status, allowed_origin(invalid)) == (422, PAGE)


async def test_without_a_good_key_no_page_may_read_anything(api, agent):
    answer = await api.get(
        f"/api/v1/public/agents/{agent['id']}/embed", headers={"Origin": PAGE, "X-API-Key": "emb_nobody"}
    )
    assert (answer.status, allowed_origin(answer)) == (401, None)


async def test_a_users_token_opens_no_answer_to_a_foreign_page(admin, agent):
    path = f"/api/v1/public/agents/{agent['id']}/embed"
    answer = await admin.get(path, headers={"Origin": "https://evil.example"})
    assert (answer.status, allowed_origin(answer)) == (200, None)
    own = await admin.get(path, headers={"Origin": "http://127.0.0.1:8080"})
    assert (own.status, allowed_origin(own)) == (200, "http://127.0.0.1:8080")
