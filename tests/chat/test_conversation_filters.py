"""Conversations chosen by date, rating, failure, version and cost, in the list and in its export."""

import json
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.chat.engine.parts import FinishReason, ReplyDetails, TokenUsage
from retinue.chat.models import ChatChannel, ChatLog, Conversation, Message, Speaker, TurnStatus
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.happenings import audits
from tests.factories.people import People

PATH = "/api/v1/conversations"


async def talk(people: People, admin: Api, agent: dict[str, Any], title: str, **more: Any) -> str:
    """Store a conversation with one question, its reply and its log entry; return its id."""
    async with people.context(admin.user.tenant_id) as ctx:
        conversation = await ctx.db.insert(
            Conversation(
                agent_id=agent["id"],
                title=title,
                channel=ChatChannel.console,
                user_id=more.get("user_id", admin.user.id),
                message_count=1,
                last_message_at=more.get("at", ctx.now),
            )
        )
        details = ReplyDetails(
            model="m",
            finish_reason=FinishReason.stop,
            usage=TokenUsage(),
            agent_version=more.get("version", 1),
        )
        reply = await ctx.db.insert(
            Message(
                conversation_id=conversation.id,
                role=Speaker.assistant,
                content=f"About {title}",
                position=1,
                rating=more.get("rating", 0),
                details=details,
            )
        )
        for cost in more.get("costs", (0.0,)):
            await ctx.db.insert(
                ChatLog(
                    agent_id=agent["id"],
                    conversation_id=conversation.id,
                    message_id=reply.id,
                    channel=ChatChannel.console,
                    tool_calls=[],
                    cost_usd=cost,
                    model="m",
                    response_time_ms=1,
                    status=TurnStatus.failed if more.get("failed") else TurnStatus.completed,
                    correlation_id="cor_1",
                )
            )
    return conversation.id


@pytest.fixture
async def bot(admin: Api) -> dict[str, Any]:
    return await make_agent(admin, name="Shop")


@pytest.fixture
async def talks(people: People, admin: Api, bot: dict[str, Any]) -> dict[str, str]:
    return {
        "plain": await talk(people, admin, bot, "plain", at="2030-01-01T10:00:00.000000Z"),
        "liked": await talk(people, admin, bot, "liked", rating=1, at="2030-01-02T10:00:00.000000Z"),
        "broken": await talk(
            people, admin, bot, "broken", failed=True, rating=-1, at="2030-01-03T10:00:00.000000Z"
        ),
        "unliked": await talk(people, admin, bot, "unliked", rating=-1, at="2029-12-31T10:00:00.000000Z"),
        "dear": await talk(
            people, admin, bot, "dear", version=2, costs=(0.4, 0.35), at="2030-01-04T10:00:00.000000Z"
        ),
    }


CASES = [
    ({"from": "2030-01-03T00:00:00Z"}, {"broken", "dear"}),
    ({"to": "2030-01-02T10:00:00Z"}, {"plain", "liked", "unliked"}),
    ({"from": "2030-01-02T00:00:00Z", "to": "2030-01-03T23:00:00Z", "rating": "negative"}, {"broken"}),
    ({"rating": "positive"}, {"liked"}),
    ({"failed": "true"}, {"broken"}),
    ({"failed": "false"}, {"plain", "liked", "unliked", "dear"}),
    ({"needs_look": "true"}, {"broken", "unliked"}),
    ({"needs_look": "false"}, {"plain", "liked", "dear"}),
    ({"min_cost_usd": 0.7}, {"dear"}),
    ({"min_cost_usd": 0.8}, set()),
    ({"min_cost_usd": 0.5, "failed": "false", "search": "DEA"}, {"dear"}),
    ({"search": "lik"}, {"liked", "unliked"}),
]


@pytest.mark.parametrize(("query", "wanted"), CASES)
async def test_list_and_export_choose_the_same(
    admin: Api, talks: dict[str, str], query: dict[str, Any], wanted: set[str]
) -> None:
    listed = await admin.get(PATH, query=query)
    assert listed.status == 200, listed
    assert {one["title"] for one in listed.json()["data"]} == wanted
    assert listed.json()["pagination"]["total"] == len(wanted)
    exported = await admin.get(f"{PATH}/export", query=query)
    assert exported.status == 200, exported
    assert {json.loads(line)["conversation"]["title"] for line in exported.body.splitlines()} == wanted


async def test_versions_are_those_of_one_agent(
    admin: Api, bot: dict[str, Any], talks: dict[str, str]
) -> None:
    of_bot = {"agent_id": bot["id"]}
    listed = (await admin.get(PATH, query={**of_bot, "version": 2})).json()["data"]
    assert [one["id"] for one in listed] == [talks["dear"]]
    assert len((await admin.get(PATH, query={**of_bot, "version": 1})).json()["data"]) == 4
    assert (await admin.get(PATH, query={**of_bot, "version": 12})).json()["data"] == []
    for path in (PATH, f"{PATH}/export"):
        refused = await admin.get(path, query={"version": 2})
        assert (refused.status, list(refused.details)) == (422, ["agent_id"])


@pytest.mark.parametrize(
    "name", ["from", "to", "rating", "failed", "needs_look", "version", "min_cost_usd", "channel"]
)
async def test_what_is_no_filter_is_refused(admin: Api, name: str) -> None:
    for path in (PATH, f"{PATH}/export"):
        refused = await admin.get(path, query={name: "nonsense"})
        assert (refused.status, list(refused.details)) == (422, [name])


async def test_the_export_streams_every_conversation_with_its_messages_and_is_audited(
    people: People, admin: Api, bot: dict[str, Any]
) -> None:
    made = [await talk(people, admin, bot, f"Number {number}") for number in range(120)]
    answer = await admin.get(f"{PATH}/export", query={"agent_id": bot["id"], "search": "Number"})
    assert answer.headers["content-type"] == "application/x-ndjson; charset=utf-8"
    lines = [json.loads(line) for line in answer.body.splitlines()]
    assert [line["conversation"]["id"] for line in lines] == sorted(made)
    assert all(
        [message["content"] for message in line["messages"]] == [f"About {line['conversation']['title']}"]
        for line in lines
    )
    [audited] = await audits(people, "conversations.exported")
    assert audited.metadata == {"filters": {"agent_id": bot["id"], "search": "Number"}}
    assert audited.actor == {"type": "user", "id": admin.user.id}


async def test_who_sees_only_their_own_exports_only_these(
    people: People, admin: Api, bot: dict[str, Any], talks: dict[str, str]
) -> None:
    user = await people.signed_in(Role.agent_user)
    own = await talk(people, admin, bot, "mine", user_id=user.user.id, rating=1)
    for query in ({}, {"user_id": admin.user.id}, {"rating": "positive"}):
        answer = await user.get(f"{PATH}/export", query=query)
        assert [json.loads(line)["conversation"]["id"] for line in answer.body.splitlines()] == [own]
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    for query in ({}, {"failed": "true"}, {"min_cost_usd": 0.1}):
        assert (await stranger.get(f"{PATH}/export", query=query)).body == b""
        assert (await stranger.get(PATH, query=query)).json()["data"] == []
