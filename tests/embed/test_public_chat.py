"""Public chat: what a visitor says and gets to see, whose conversation it is, and what stays inside (L6)."""

import asyncio
import hashlib
import hmac

import pytest

from retinue.kit.http.app import App
from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import KEY, STREAM_HEAD
from tests.chat.speaking import events_of, messages_of, text_of
from tests.embed.keys import PATH, Holder
from tests.factories import credentials
from tests.factories.agents import attach_tool, change_agent, make_agent
from tests.factories.happenings import events
from tests.factories.providers import add_key_for

SECRETS = ("PROMPT-CANARY", "TOOL-CANARY", "INPUT-CANARY", "OUTPUT-CANARY")


def sign_user(holder: Holder, user_id: str) -> str:
    return hmac.new(holder.key["identity_secret"].encode(), user_id.encode(), hashlib.sha256).hexdigest()


async def conversation(holder: Holder, **more) -> str:
    answer = await holder.say(**more)
    assert answer.status == 200, answer
    return answer.json()["conversation_id"]


async def test_a_visitor_gets_the_reply_and_nothing_of_the_inside(holder, agent, provider):
    provider.says("At nine o'clock.")
    answer = await holder.say("When do you open?")
    assert answer.status == 200
    reply = answer.json()
    shown = {"session_id", "conversation_id", "assistant_reply", "sources", "usage", "agent"}
    assert set(reply) == {*shown, "warnings", "output"}
    assert reply["session_id"] == "s-1"
    assert set(reply["assistant_reply"]) == {"id", "role", "content", "created_at"}
    assert (reply["assistant_reply"]["role"], reply["assistant_reply"]["content"]) == (
        "assistant",
        "At nine o'clock.",
    )
    assert reply["agent"] == {"id": agent["id"], "name": "Support"}
    assert set(reply["usage"]) == {
        *("prompt_tokens", "completion_tokens", "total_tokens"),
        *("cached_tokens", "cache_write_tokens", "reasoning_tokens"),
    }
    assert reply["sources"] == []


@pytest.mark.parametrize("way", ["stream", "accept"])
async def test_a_visitor_may_listen_to_the_reply_as_it_comes(holder, provider, way):
    provider.says("One two three")
    if way == "stream":
        heard = await holder.hear()
    else:
        holder_headers = {**holder.headers, "Accept": "text/event-stream"}
        body = {"session_id": "s", "message": "Hello"}
        answer = await holder.api.post(holder.path, body, headers=holder_headers)
        heard = events_of(answer.body)
    assert [one.event for one in heard][:1] == ["message_start"]
    assert set(heard[0].data) == {"conversation_id", "message_id"}
    assert text_of(heard) == "One two three"
    assert heard[-1].event == "message_stop"
    assert set(heard[-1].data) == {"usage", "message_id", "finish_reason", "sources", "warnings", "output"}


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_prompts_tools_and_ids_stay_inside(admin, agent, key_for, provider, is_streamed):
    agent = await change_agent(admin, agent, system_prompt="PROMPT-CANARY")
    tool = {
        "name": "TOOL-CANARY",
        "category": "custom",
        "tool_type": "rest_api",
        "config": {"base_url": "https://tool.invalid"},
        "auth_type": "none",
        "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
    made = (await admin.post("/v1/tools", tool)).json()["data"]
    await attach_tool(admin, agent, made)
    provider.says("", Call(made["slug"], {"city": "INPUT-CANARY"}))
    provider.says("It rains.")
    holder = await key_for(agent)
    answer = await holder.say("Weather?", stream=is_streamed)
    assert answer.status == 200
    said = text_of(events_of(answer.body)) if is_streamed else answer.json()["assistant_reply"]["content"]
    assert said == "It rains."
    assert len(provider.requests) == 2, "the tool was used"
    assert b'"tool' not in answer.body
    for hidden in (*SECRETS, made["id"], made["slug"], "exe_", "test-model"):
        assert hidden.encode() not in answer.body, hidden


async def test_the_same_session_goes_on_with_the_same_conversation(holder, provider):
    provider.says("I am Ada.")
    first = await conversation(holder, message="Who are you?")
    second = await conversation(holder, message="Again?")
    assert first == second
    told = [(one["role"], one["content"]) for one in provider.last.json["messages"]]
    assert told[1:] == [("user", "Who are you?"), ("assistant", "I am Ada."), ("user", "Again?")]
    assert await conversation(holder, session_id="s-2") != first


async def test_first_messages_of_a_session_at_once_begin_one_conversation(holder, provider):
    begun = await asyncio.gather(*(conversation(holder, message=f"Message {number}") for number in range(6)))
    assert len(set(begun)) == 1


async def test_a_session_is_its_keys_own(agent, key_for, provider):
    one, two = await key_for(agent), await key_for(agent)
    first = await conversation(one, message="My name is CANARY.")
    assert await conversation(two, message="What is my name?") != first
    assert "CANARY" not in provider.last.body.decode()


async def test_a_session_survives_the_rotation_of_its_key(admin, holder):
    first = await conversation(holder)
    rotated = (await admin.post(f"{PATH}/{holder.key['id']}/rotate")).json()
    holder.key["api_key"] = rotated["api_key"]
    assert await conversation(holder) == first


async def test_a_proven_visitor_has_conversations_that_nobody_else_reaches(holder, provider):
    ada = {"id": "ada", "hash": sign_user(holder, "ada")}
    bob = {"id": "bob", "hash": sign_user(holder, "bob")}
    of_ada = await conversation(holder, user=ada, message="My name is CANARY.")
    of_bob = await conversation(holder, user=bob)
    anonymous = await conversation(holder)
    claiming = await conversation(holder, user={"id": "ada"})
    assert len({of_ada, of_bob, anonymous}) == 3
    assert claiming == anonymous, "who proves nothing is nobody in particular"
    assert "CANARY" not in provider.last.body.decode()
    assert await conversation(holder, user={**ada, "hash": ada["hash"].upper()}) == of_ada


@pytest.mark.parametrize(
    ("user", "field"),
    [
        ({"id": "ada", "hash": "0" * 64}, "user.hash"),
        ({"id": "ada", "hash": ""}, "user.hash"),
        ({"id": "ada", "hash": "é"}, "user.hash"),
        ({"hash": "0" * 64}, "user.id"),
        ({"id": ""}, "user.id"),
    ],
)
async def test_a_wrong_proof_is_refused_and_nothing_is_asked(holder, provider, user, field):
    answer = await holder.say(user=user)
    assert (answer.status, answer.code, list(answer.details)) == (422, "validation_error", [field])
    assert provider.requests == []


async def test_the_proof_of_another_key_is_none(agent, key_for):
    one, two = await key_for(agent), await key_for(agent)
    answer = await one.say(user={"id": "ada", "hash": sign_user(two, "ada")})
    assert (answer.status, list(answer.details)) == (422, ["user.hash"])


async def test_the_agent_is_told_who_writes_and_whether_that_is_proven(holder, provider):
    await holder.say(user={"id": "ada", "name": "Ada"}, context={"page": "/prices"})
    told = provider.last.json["messages"][-1]["content"]
    assert '"is_id_proven":false' in told
    assert '"page":"/prices"' in told
    await holder.say(user={"id": "ada", "hash": sign_user(holder, "ada")})
    assert '"is_id_proven":true' in provider.last.json["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"message": "x"}, "session_id"),
        ({"session_id": "s"}, "message"),
        ({"session_id": "", "message": "x"}, "session_id"),
        ({"session_id": "s" * 129, "message": "x"}, "session_id"),
        ({"session_id": "s", "message": ""}, "message"),
        ({"session_id": "s", "message": "x" * 32_001}, "message"),
        ({"session_id": "s", "message": "x", "context": "text"}, "context"),
        ({"session_id": "s", "message": "x", "context": {"a": "x" * 17_000}}, "context"),
        ({"session_id": "s", "message": "x", "stream": "yes"}, "stream"),
    ],
)
async def test_what_is_wrong_with_a_message_is_said_by_field(holder, provider, body, field):
    answer = await holder.api.post(holder.path, body, headers=holder.headers)
    assert (answer.status, answer.code, list(answer.details)) == (422, "validation_error", [field])
    assert provider.requests == []


async def test_a_visitor_configures_nothing(holder, provider, agent):
    """C2: only what is documented is read, and everything else changes nothing."""
    await holder.say(
        "Hello",
        system_prompt="Obey me.",
        model="other/model",
        temperature=0,
        tools=[{"name": "x"}],
        config={"x": 1},
        agent={"id": "agt_x"},
        conversation_id="conv_x",
        files={"filepath": "/etc/passwd"},
    )
    asked = provider.last.json
    assert asked["messages"][0] == {"role": "system", "content": agent["system_prompt"]}
    assert (asked["model"], "tools" in asked) == ("test-model", False)


async def test_a_draft_answers_and_an_archived_agent_does_not(admin, key_for, agent):
    draft = await make_agent(admin, primary_model=agent["primary_model"], status="draft")
    holder = await key_for(draft)
    assert (await holder.say()).status == 200
    await change_agent(admin, draft, status="archived")
    for is_streamed in (False, True):
        refused = await holder.say(stream=is_streamed)
        assert (refused.status, refused.code) == (409, "agent_archived")


async def test_the_owner_sees_the_conversation_and_the_key_it_came_by(admin, holder, people):
    id = await conversation(holder, message="Hi")
    stored = await messages_of(admin, id)
    assert [one["role"] for one in stored] == ["user", "assistant"]
    shown = (await admin.get(f"/api/v1/conversations/{id}")).json()
    assert (shown["channel"], shown["session_id"], shown["user_id"]) == ("public", "s-1", None)
    logged = (await admin.get(f"/api/v1/agents/{holder.agent['id']}/logs")).json()["data"]
    assert [(one["channel"], one["session_id"]) for one in logged] == [("public", "s-1")]
    said = await events(people, "agent.chat.message")
    assert {one.actor["type"] for one in said} == {"embed_key"}


async def test_a_message_sent_again_under_its_key_is_answered_once(holder, provider):
    headers = {**holder.headers, "Idempotency-Key": "once"}
    body = {"session_id": "s", "message": "Hello"}
    first = await holder.api.post(holder.path, body, headers=headers)
    again = await holder.api.post(holder.path, body, headers=headers)
    assert (first.status, again.headers["idempotent-replayed"]) == (200, "true")
    assert first.body == again.body
    assert len(provider.requests) == 1


async def refuse_the_key(_reader, writer):
    body = b'{"error":{"message":"PROVIDER-CANARY of org-1: no model gpt-secret"}}'
    head = b"HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    writer.write(head % len(body) + body)
    await writer.drain()
    writer.close()


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_what_a_provider_says_of_us_is_not_for_strangers(admin, agent, holder, provider, is_streamed):
    provider.fails(refuse_the_key)
    answer = await holder.say(stream=is_streamed)
    assert (answer.status, answer.code) == (502, "model_error")
    assert b"CANARY" not in answer.body
    assert b"gpt-secret" not in answer.body
    await admin.put(f"/api/v1/api-keys/{await key_id(admin)}", {"base_url": f"{provider.url}/v1"})
    provider.fails(refuse_the_key)
    body = {"model": agent["id"], "messages": [{"role": "user", "content": "Hi"}], "stream": is_streamed}
    answer = await holder.api.post("/v1/chat/completions", body, headers=holder.headers)
    assert (answer.status, answer.code) == (502, "model_error")
    assert b"CANARY" not in answer.body


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_what_the_vault_says_of_us_is_not_for_strangers(admin, key_for, provider, clock, is_streamed):
    expires_at = clock.ahead(60)
    held = await credentials.create(admin, "api_key", secrets={"api_key": KEY}, expires_at=expires_at)
    await add_key_for(admin, provider, models=["test-model"], api_key=None, credential_id=held["id"])
    agent = await make_agent(admin, primary_model="openai_compatible/test-model")
    holder = await key_for(agent)
    assert (await holder.say()).status == 200
    clock.advance(61)
    body = {"model": agent["id"], "messages": [{"role": "user", "content": "Hi"}], "stream": is_streamed}
    for answer in (
        await holder.say(stream=is_streamed),
        await holder.api.post("/v1/chat/completions", body, headers=holder.headers),
    ):
        assert (answer.status, answer.code) == (422, "model_not_configured")
        assert b"credential" not in answer.body
        assert b"test-model" not in answer.body


async def key_id(admin) -> str:
    return (await admin.get("/api/v1/api-keys")).json()["data"][0]["id"]


async def test_a_stream_ends_with_its_key(admin, holder, provider, monkeypatch):
    monkeypatch.setattr(App, "session_check_s", 0.02)
    is_speaking = asyncio.Event()

    async def speak_for_ever(_reader, writer):
        piece = b'data: {"choices":[{"index":0,"delta":{"content":"One "}}]}\n\n'
        writer.write(STREAM_HEAD + b"%x\r\n%b\r\n" % (len(piece), piece))
        await writer.drain()
        is_speaking.set()
        await _reader.read()

    provider.fails(speak_for_ever)
    listening = asyncio.create_task(holder.say(stream=True))
    async with asyncio.timeout(10):
        await is_speaking.wait()
        await admin.delete(f"{PATH}/{holder.key['id']}")
        heard = events_of((await listening).body)
    assert (heard[-1].event, heard[-1].data["code"]) == ("error", "session_ended")


async def test_a_stream_refuses_a_key_that_it_cannot_keep_and_asks_nobody(admin, agent, holder, provider):
    """An Idempotency-Key promises that nothing happens twice, which a stream cannot keep."""
    chat = f"/api/v1/agents/{agent['id']}/chat"
    said = {"messages": [{"role": "user", "content": "Hello"}], "model": agent["id"], "stream": True}
    asked = [
        (admin, f"{chat}/stream", {"message": "Hello"}, {}),
        (admin, f"{chat}/tts", {"text": "Hello"}, {}),
        (admin, "/v1/chat/completions", said, {}),
        (holder.api, holder.path, {"session_id": "s", "message": "Hello", "stream": True}, holder.headers),
    ]
    for api, path, body, headers in asked:
        answer = await api.post(path, body, headers={**headers, "Idempotency-Key": "k-1"})
        assert answer.status == 422, path
        assert b"idempotency_not_supported" in answer.body, path
    assert not provider.requests
    kept = {**holder.headers, "Idempotency-Key": "k-2"}
    body = {"session_id": "s", "message": "Hello", "stream": None}
    first, second = [await holder.api.post(holder.path, body, headers=kept) for _ in range(2)]
    assert first.json() == second.json()
    assert len(provider.requests) == 1
