"""Usage of chosen groups, and the tokens in a report that no price is known for."""

from typing import Any

import pytest

from retinue.kit.clock import Instant
from retinue.usage.models import UsageEntry
from tests.client import Api
from tests.factories.people import People
from tests.usage.prices import set_price
from tests.usage.spending import USAGE, usage

OWN = "openai_compatible/own"
FREE = "openai_compatible/free"
GPT = "openai/gpt-4o"
LOCAL = "local/small"


@pytest.fixture
async def metered(admin: Api, people: People) -> Api:
    """An administrator whose agents used a model with a price, one without, a free and an embedded one."""
    await set_price(admin, FREE, 0, 0)
    async with people.context(admin.user.tenant_id) as ctx:
        entries = [
            ("agt_a", "usr_1", GPT, 100, 0.5),
            ("agt_a", "usr_2", OWN, 40, 0.0),
            ("agt_b", "usr_1", OWN, 2, 0.0),
            ("agt_b", "", FREE, 300, 0.0),
            ("", "usr_3", LOCAL, 5000, 0.0),
        ]
        for agent_id, user_id, model, tokens, cost in entries:
            await ctx.db.insert(_entry(ctx.now, agent_id, user_id, model, tokens, cost))
    return admin


def _entry(now: Instant, agent_id: str, user_id: str, model: str, tokens: int, cost: float) -> UsageEntry:
    return UsageEntry(
        hour=now[:13],
        agent_id=agent_id,
        user_id=user_id,
        model=model,
        prompt_tokens=tokens,
        chat_requests=1,
        cost_usd=cost,
    )


def by_group(told: dict[str, Any], name: str, field: str) -> dict[str | None, Any]:
    return {row["group"][name]: row[field] for row in told["data"]}


@pytest.mark.parametrize(
    ("group", "expected"),
    [
        ("agent", {"agt_a": 40, "agt_b": 2, None: 0}),
        ("model", {GPT: 0, OWN: 42, FREE: 0, LOCAL: 0}),
        ("user", {"usr_1": 2, "usr_2": 40, "usr_3": 0, None: 0}),
    ],
)
async def test_tokens_without_a_known_price_are_told_for_each_group(
    metered: Api, group: str, expected: dict[str | None, int]
) -> None:
    told = await usage(metered, granularity="month", group_by=group)
    found = by_group(told, group, "unpriced_tokens")
    assert {name: found[name] for name in expected} == expected
    assert told["totals"]["unpriced_tokens"] == 42


async def test_a_price_set_later_does_not_make_the_past_cost_nothing(metered: Api) -> None:
    await set_price(metered, OWN, 1, 2)
    assert (await usage(metered))["totals"]["unpriced_tokens"] == 42
    await set_price(metered, OWN, 0, 0)
    assert (await usage(metered))["totals"]["unpriced_tokens"] == 0


async def test_a_report_is_limited_to_chosen_groups(metered: Api) -> None:
    told = await usage(metered, group_by="agent", group_ids="agt_b, agt_gone")
    assert by_group(told, "agent", "prompt_tokens") == {"agt_b": 302}
    assert (told["totals"]["prompt_tokens"], told["totals"]["chat_requests"]) == (302, 2)
    assert told["totals"]["unpriced_tokens"] == 2


async def test_usage_of_no_group_is_chosen_by_name(metered: Api) -> None:
    told = await usage(metered, group_by="agent", group_ids="null,agt_a")
    assert set(by_group(told, "agent", "prompt_tokens")) == {None, "agt_a"}
    assert by_group(told, "agent", "prompt_tokens")[None] == 5000


async def test_stored_files_are_told_only_where_no_group_is_chosen(metered: Api) -> None:
    upload = {"file": ("a.txt", b"12345", "text/plain")}
    answer = await metered.request("POST", "/api/v1/files", files=upload, fields={"purpose": "chat"})
    assert answer.status == 201, answer
    chosen = await usage(metered, group_by="agent", group_ids="agt_a")
    assert [row["storage_bytes"] for row in chosen["data"]] == [0]
    everything = await usage(metered, group_by="agent", group_ids="null")
    assert [row["storage_bytes"] for row in everything["data"]] == [5]


@pytest.mark.parametrize(
    "query",
    [
        {"group_ids": "agt_a"},
        {"group_ids": "agt_a", "group_by": "agent,model"},
        {"group_ids": ",".join(f"agt_{i}" for i in range(101)), "group_by": "agent"},
    ],
)
async def test_groups_that_cannot_be_chosen_are_refused(metered: Api, query: dict[str, str]) -> None:
    answer = await metered.get(USAGE, query=query)
    assert (answer.status, list(answer.details)) == (422, ["group_ids"])


async def test_a_file_of_chosen_groups_ends_with_what_has_no_price(metered: Api) -> None:
    query = {"format": "csv", "group_by": "agent", "group_ids": "agt_b"}
    lines = (await metered.get(USAGE, query=query)).body.decode().split("\r\n")
    assert lines[0].endswith(",estimated_cost_usd,unpriced_tokens")
    assert [line.rsplit(",", 1)[1] for line in lines[1:] if line] == ["2"]
