"""Ceilings of what a plain chat costs: pages written, statements run and tasks started.

A ceiling may only fall: what costs more has to save it elsewhere, or says in an ADR why it is worth it.
"""

from typing import Any

import pytest

from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.chat.speaking import reply_to
from tests.chat.turn_costs import Cost, by_tree, counted
from tests.client import Api
from tests.databases import SERVER

pytestmark = [
    pytest.mark.skipif(bool(SERVER), reason="counts the pages of SQLite's log"),
    pytest.mark.one_service("counts what one process does"),
]

TRANSACTIONS = 2
"""The question is on disk before the model is called."""
MAX_PAGES, MAX_STATEMENTS, MAX_TASKS = 35, 15, 3
MAX_PAGES_OF_NEXT_TURN = 30
WARM_UP, CHATS = 30, 12


async def repeated(
    service: Service, clock: ManualClock, admin: Api, agent: dict[str, Any], **more: Any
) -> list[Cost]:
    """Return what chats cost once caches are warm, the cheapest first.

    Now and then a page is full and split in two; how full they are depends on random ids.
    """
    costs = []
    for number in range(WARM_UP + CHATS):
        clock.advance(1)
        if number < WARM_UP:
            await reply_to(admin, agent, **more)
            continue
        with counted(service) as cost:
            await reply_to(admin, agent, **more)
        costs.append(cost)
    return sorted(costs, key=lambda cost: len(cost.pages))


async def test_a_chat_costs_no_more_than_it_did(
    service: Service, clock: ManualClock, admin: Api, agent: dict[str, Any]
) -> None:
    costs = await repeated(service, clock, admin, agent)
    assert {cost.transactions for cost in costs} == {TRANSACTIONS}
    assert len(costs[0].pages) <= MAX_PAGES, by_tree(service, costs[0].pages)
    statements = min((cost.statements for cost in costs), key=len)
    assert len(statements) <= MAX_STATEMENTS, statements
    tasks = min((cost.tasks for cost in costs), key=len)
    assert len(tasks) <= MAX_TASKS, tasks


async def test_a_message_changes_no_index_of_conversations(
    service: Service, clock: ManualClock, admin: Api, agent: dict[str, Any]
) -> None:
    first = await reply_to(admin, agent)
    costs = await repeated(service, clock, admin, agent, conversation_id=first["conversation_id"])
    assert {cost.transactions for cost in costs} == {TRANSACTIONS}
    trees = by_tree(service, costs[0].pages)
    assert len(costs[0].pages) <= MAX_PAGES_OF_NEXT_TURN, trees
    assert {name for name in trees if "conversations" in name} == {"conversations"}
