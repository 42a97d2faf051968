from typing import Any

from tests.adapters.llm_server import ProviderServer, refusing
from tests.chat.speaking import messages_of, reply_to, say, stream, text_of
from tests.client import Api


async def test_a_message_is_answered_and_both_are_stored(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.says("Hello, how can I help?")
    reply = await reply_to(admin, agent, "Hi")
    assert reply["message"]["role"] == "assistant"
    assert reply["message"]["content"] == "Hello, how can I help?"
    assert reply["finish_reason"] == "stop"
    assert reply["model"] == "openai_compatible/test-model"
    assert reply["warnings"] == ["unpriced_model"]
    usage = reply["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    stored = await messages_of(admin, reply["conversation_id"])
    assert [(one["role"], one["content"]) for one in stored] == [
        ("user", "Hi"),
        ("assistant", "Hello, how can I help?"),
    ]
    assert stored[1]["id"] == reply["message"]["id"]


async def test_a_conversation_goes_on_with_what_was_said_before(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.says("I am Ada.")
    first = await reply_to(admin, agent, "Who are you?")
    provider.says("Ada, as I said.")
    second = await reply_to(admin, agent, "Again?", conversation_id=first["conversation_id"])
    assert second["conversation_id"] == first["conversation_id"]
    told = provider.last.json["messages"]
    assert [(one["role"], one["content"]) for one in told] == [
        ("system", agent["system_prompt"]),
        ("user", "Who are you?"),
        ("assistant", "I am Ada."),
        ("user", "Again?"),
    ]


async def test_a_stream_has_the_events_of_the_contract_in_order(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.says("One two three")
    heard = await stream(admin, agent)
    assert heard[0].event == "message_start"
    assert set(heard[0].data) == {"conversation_id", "message_id"}
    assert {one.event for one in heard[1:-1]} == {"content_delta"}
    assert text_of(heard) == "One two three"
    assert heard[-1].event == "message_stop"
    assert heard[-1].data["finish_reason"] == "stop"
    assert [one.id for one in heard] == list(range(1, len(heard) + 1))
    stored = await messages_of(admin, heard[0].data["conversation_id"])
    assert stored[1]["content"] == "One two three"
    assert stored[1]["id"] == heard[0].data["message_id"]


async def test_a_failing_model_is_an_error_with_its_status_and_the_message_is_kept(
    admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.fails(refusing(400))
    answer = await say(admin, agent, "Anyone?")
    assert (answer.status, answer.code) == (502, "model_error")
    logs = (await admin.get(f"/api/v1/agents/{agent['id']}/logs")).json()["data"]
    assert [(one["status"], one["user_message"]) for one in logs] == [("failed", "Anyone?")]
    provider.says("Here.")
    assert answer.json()["error"]["details"]["conversation_id"] == logs[0]["conversation_id"]
    again = await reply_to(admin, agent, "And now?", conversation_id=logs[0]["conversation_id"])
    assert again["message"]["content"] == "Here."
    told = [one["content"] for one in provider.last.json["messages"]]
    assert told[-2:] == ["Anyone?", "And now?"]
