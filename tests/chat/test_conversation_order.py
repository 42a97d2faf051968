"""Conversations by their last message: indexed by its hour, listed by its instant (ADR 45)."""

from typing import Any

from retinue.chat.models import Conversation
from retinue.kit.clock import ManualClock, hour_of
from tests.chat.speaking import reply_to
from tests.client import Api
from tests.factories.people import People

MINUTE, HOUR = 60, 3600
LIST = "/api/v1/conversations"


async def listed(api: Api, **query: Any) -> tuple[list[str], int]:
    answer = await api.get(LIST, query=query)
    assert answer.status == 200, answer
    return [one["title"] for one in answer.json()["data"]], answer.json()["pagination"]["total"]


async def shortly_before_an_hour(people: People, clock: ManualClock) -> Api:
    """Return the administrator, signed in late enough: the clock of tests starts at an hour."""
    clock.advance(HOUR - 2 * MINUTE)
    return await people.super_admin()


async def test_conversations_are_listed_by_the_instant_of_their_last_message(
    people: People, agent: dict[str, Any], clock: ManualClock
) -> None:
    admin = await shortly_before_an_hour(people, clock)
    made = {}
    for name, seconds in (("A", 10), ("B", 10), ("C", 2 * MINUTE), ("D", 10)):
        clock.advance(seconds)
        made[name] = (await reply_to(admin, agent, f"Parcel {name}"))["conversation_id"]
    newest_first = ["Parcel D", "Parcel C", "Parcel B", "Parcel A"]
    assert await listed(admin) == (newest_first, 4)
    clock.advance(10)
    await reply_to(admin, agent, "Again", conversation_id=made["C"])
    clock.advance(10)
    await reply_to(admin, agent, "Again", conversation_id=made["A"])
    newest_first = ["Parcel A", "Parcel C", "Parcel D", "Parcel B"]
    assert await listed(admin) == (newest_first, 4)
    assert await listed(admin, sort="last_message_at") == (newest_first[::-1], 4)
    assert await listed(admin, agent_id=agent["id"], status="active") == (newest_first, 4)
    for count in (1, 2, 3):
        assert await listed(admin, search="parcel", per_page=count) == (newest_first[:count], 4)
        assert await listed(admin, search="parcel", per_page=count, sort="last_message_at") == (
            newest_first[::-1][:count],
            4,
        )


async def test_a_message_opens_a_conversation_again_in_the_hour_of_its_reply(
    people: People, agent: dict[str, Any], clock: ManualClock
) -> None:
    admin = await shortly_before_an_hour(people, clock)
    id = (await reply_to(admin, agent))["conversation_id"]
    assert (await admin.post(f"{LIST}/{id}/close")).status == 200
    clock.advance(3 * MINUTE)
    await reply_to(admin, agent, conversation_id=id)
    async with people.context(admin.user.tenant_id) as ctx:
        [conversation] = await ctx.db.all(Conversation)
    assert (conversation.status, conversation.message_count) == ("active", 4)
    assert conversation.last_message_hour == hour_of(conversation.last_message_at) == hour_of(clock.now())
