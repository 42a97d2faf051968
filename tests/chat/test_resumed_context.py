"""Turns that resume after an approval stay within the context of their agent as well."""

from typing import Any

from tests.adapters.llm_replies import Call
from tests.chat.approving import LOOK_AT_GRAZ, Desk, questions_of
from tests.chat.long_talks import (
    FILLING,
    SUMMARY,
    LongTalk,
    functions_of,
    is_for_summary,
    recall,
    talk_at_length,
    text_of,
    tokens_in,
    usage_of,
)
from tests.chat.speaking import messages_of
from tests.factories.agents import change_agent

Json = dict[str, Any]
LIMIT = 4_000
LONG_CITY = "Graz " * 1_200


async def talk_until_nearly_full(desk: Desk) -> LongTalk:
    """A conversation that fits, but not together with a long result."""
    talk_at_length(desk.provider, filling=FILLING * 4)
    await change_agent(desk.admin, desk.agent, max_context_tokens=LIMIT)
    talk = LongTalk(desk.admin, desk.agent, desk.provider)
    await talk.say("My boat is called Albatross.")
    while talk.replies[-1]["usage"]["total_tokens"] < LIMIT - 800:
        await talk.say(f"What about day {len(talk.replies)}?")
    return talk


async def ask_and_approve(desk: Desk, talk: LongTalk, city: str) -> Json:
    """Ask for a call that needs approval, and approve it for a city whose name the result repeats."""
    desk.provider.says("", LOOK_AT_GRAZ, usage=usage_of(desk.provider, ""))
    reply = await talk.say("How is the weather?")
    assert reply["compaction"] is None
    (approval_id,) = questions_of(reply["tool_calls"])
    answer = await desk.approve(approval_id, edited_input={"city": city})
    assert answer.status == 200, answer
    await desk.work()
    return await desk.last_message(reply)


async def test_a_resumed_turn_that_has_become_too_long_is_compacted(desk: Desk) -> None:
    talk = await talk_until_nearly_full(desk)
    before = len(talk.chats())
    await ask_and_approve(desk, talk, LONG_CITY)
    asked, *resumed = talk.chats()[before:]
    assert [is_for_summary(one) for one in resumed] == [True, False]
    assert max(map(tokens_in, talk.chats())) <= LIMIT
    answered = resumed[-1]
    assert SUMMARY in text_of(answered["messages"][1])
    assert "recall" in functions_of(answered)
    assert answered["messages"][-3:-1] == asked["messages"][-1:] + answered["messages"][-2:-1]
    assert answered["messages"][-1]["tool_call_id"] == LOOK_AT_GRAZ.id


async def test_a_resumed_turn_that_was_compacted_says_so_and_its_summary_is_used_again(desk: Desk) -> None:
    talk = await talk_until_nearly_full(desk)
    done = await ask_and_approve(desk, talk, LONG_CITY)
    assert done["status"] == "completed", done
    details = done["details"]
    assert "history_compacted" in details["warnings"]
    assert details["compaction"]["tokens_before"] > LIMIT >= details["compaction"]["tokens_after"]
    assert len(await messages_of(talk.api, talk.conversation_id)) == 2 * len(talk.replies)
    made = len(talk.summaries())
    talk.provider.says("", recall(query="name of the boat"), usage=usage_of(talk.provider, ""))
    found = await talk.say("What is my boat called?")
    assert found["tool_calls"][0]["output"]["messages"][0]["text"] == "My boat is called Albatross."
    assert len(talk.summaries()) == made, "the summary of the resumed turn is used again"


async def test_a_resumed_turn_that_fits_goes_on_with_its_prompt_as_it_was(desk: Desk) -> None:
    talk = await talk_until_nearly_full(desk)
    before = len(talk.chats())
    done = await ask_and_approve(desk, talk, "Linz")
    assert done["status"] == "completed"
    asked, answered = talk.chats()[before:]
    assert answered["messages"][: len(asked["messages"])] == asked["messages"]
    assert done["details"]["compaction"] is None


async def test_a_resumed_turn_that_cannot_fit_ends_with_context_too_long(desk: Desk) -> None:
    talk = await talk_until_nearly_full(desk)
    await change_agent(desk.admin, desk.agent, max_context_tokens=1_000)
    fresh = LongTalk(desk.admin, desk.agent, desk.provider)
    before = len(talk.chats())
    done = await ask_and_approve(desk, fresh, LONG_CITY)
    assert (done["status"], done["details"]["error"]["code"]) == ("incomplete", "context_too_long")
    (called,) = done["details"]["tool_calls"]
    assert called["status"] == "completed", "the approved call was made and is told"
    assert len(talk.chats()) == before + 1


async def test_a_resumed_turn_of_a_caller_who_sends_everything_is_compacted(desk: Desk) -> None:
    """The caller's messages are only in the suspended turn."""
    talk_at_length(desk.provider, filling=FILLING * 4)
    await change_agent(desk.admin, desk.agent, max_context_tokens=LIMIT)
    talk = LongTalk(desk.admin, desk.agent, desk.provider)
    said: list[Json] = [{"role": "user", "content": "The mast is 12 metres high."}]
    for number in range(6):
        said += [
            {"role": "assistant", "content": f"As for {number}: {FILLING * 5}"},
            {"role": "user", "content": f"And day {number}?"},
        ]
    desk.provider.says("", Call("weather", '{"city": "Graz"}', "call_1"))
    answer = await desk.admin.post("/v1/chat/completions", {"model": desk.agent["id"], "messages": said})
    assert answer.status == 200, answer
    (approval,) = (await desk.admin.get("/api/v1/approvals")).json()["data"]
    assert not talk.summaries()
    assert (await desk.approve(approval["id"], edited_input={"city": LONG_CITY})).status == 200
    await desk.work()
    (summary,) = talk.summaries()
    assert "The mast is 12 metres high." in text_of(summary["messages"][-1])
    answered = talk.answers()[-1]
    assert tokens_in(answered) <= LIMIT
    assert SUMMARY in text_of(answered["messages"][1])
    assert answered["messages"][-1]["tool_call_id"] == "call_1"
