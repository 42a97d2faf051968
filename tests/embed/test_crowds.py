"""Tests of many concurrent conversations with one agent: none deadlocks with another."""

import asyncio

import pytest

from tests.factories.agents import make_agent


@pytest.fixture
async def service(make_service):
    """A service with enough connections for all of them to hold a transaction at once."""
    return await make_service(database_pool=30)


async def test_parallel_messages_of_many_sessions_with_one_key_are_all_answered(holder, agent):
    for _ in range(4):
        answers = await asyncio.gather(*(holder.say(session_id=str(number % 12)) for number in range(48)))
        assert {answer.status for answer in answers} == {200}


async def test_an_agent_is_deleted_while_it_is_talked_to(admin, agent, key_for):
    for _ in range(3):
        doomed = await make_agent(admin, primary_model=agent["primary_model"])
        holder = await key_for(doomed)
        said = [asyncio.create_task(holder.say(session_id=str(number % 5))) for number in range(25)]
        await asyncio.sleep(0)
        assert (await admin.delete(f"/api/v1/agents/{doomed['id']}")).status == 204
        answers = await asyncio.gather(*said)
        assert {answer.status for answer in answers} <= {200, 401, 404}
