"""Kill -9 while agents are asked in every way: nothing acknowledged is missing, nothing is there twice."""

import asyncio
import os
import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from retinue.chat.models import FINISHED_JOB_STATUSES, ChatJob, Conversation, JobStatus, Message, Speaker
from retinue.kit.events.models import EventEntry
from tests.e2e.chat_load import ChatLedger, Chatters, Told, answer_slowly, answer_to
from tests.e2e.chatting import Kept, Shop, open_database, serve_talker, set_up
from tests.e2e.conftest import Serving
from tests.e2e.processes import ServerProcess

KILLS = int(os.environ.get("RETINUE_TEST_KILLS", "4"))
SEED = int(os.environ.get("RETINUE_TEST_SEED", "1"))
PATIENCE_S = 60


async def crash(shop: Shop, kills: int) -> ChatLedger:
    """Kill at random moments under load, restart at once; the last start is left to finish its work."""
    chance = random.Random(SEED)
    chatters = Chatters(shop)
    chatters.start()
    for _ in range(kills):
        await asyncio.sleep(chance.uniform(0.2, 1.0))
        shop.server.kill()
        await shop.server.start()
    ledger = await chatters.finish()
    await until_jobs_end(shop)
    assert await shop.server.stop() == 0
    return ledger


async def until_jobs_end(shop: Shop) -> None:
    """Wait until no job is left, up to the limit: a job that remains after it is stuck."""
    for _ in range(int(PATIENCE_S / 0.1)):
        counts = [await _jobs_in(shop, status) for status in JobStatus if status not in FINISHED_JOB_STATUSES]
        if not any(counts):
            return
        await asyncio.sleep(0.1)


async def _jobs_in(shop: Shop, status: JobStatus) -> int:
    answered, page = await shop.call("GET", f"{shop.chat}/jobs?status={status}&per_page=1")
    assert answered == 200, page
    return page["pagination"]["total"]


async def problems(server: ServerProcess, ledger: ChatLedger) -> list[str]:
    """Return every broken promise in words; none if all were kept."""
    async with open_database(server) as ctx:
        system = ctx.system("the checker looks at everything")
        found = Kept(await system.all(Message), await system.all(Conversation))
        jobs = {job.id: job for job in await system.all(ChatJob)}
        entries = await system.all(EventEntry, type="agent.chat.message")
    events = Counter(entry.data["message_id"] for entry in entries)
    broken = [f"refused: {refusal}" for refusal in ledger.refused]
    broken += _lost(ledger, found)
    broken += _unfinished(ledger, jobs, found)
    broken += _doubled(ledger, found)
    broken += _misplaced(found)
    broken += [f"{one.id} has {events[one.id]} events" for one in found.messages if events[one.id] != 1]
    known = {one.id for one in found.messages}
    return broken + [f"an event without its message: {id}" for id in events if id not in known]


def _lost(ledger: ChatLedger, found: Kept) -> list[str]:
    asked = {one.reply_id: one for one in found.messages if one.role is Speaker.user}

    def is_kept(id: str, told: Told) -> bool:
        reply, question = found.replies.get(id), asked.get(id)
        return (
            reply is not None
            and question is not None
            and (reply.conversation_id, reply.content) == (told.conversation_id, told.content)
            and (question.conversation_id, question.content) == (told.conversation_id, told.question)
            and told.content == answer_to(told.question)
        )

    return [
        f"acknowledged but not there: {id} {told}"
        for id, told in ledger.replies.items()
        if not is_kept(id, told)
    ]


def _unfinished(ledger: ChatLedger, jobs: dict[str, ChatJob], found: Kept) -> list[str]:
    broken = []
    for id, question in ledger.jobs.items():
        job = jobs.get(id)
        reply = found.replies.get(job.message_id) if job is not None else None
        if job is None or job.status is not JobStatus.completed:
            broken.append(f"job {id} is {job and job.status}: {job and job.error}")
        elif reply is None or reply.content != answer_to(question):
            broken.append(f"job {id} has another answer: {reply and reply.content}")
    return broken + [
        f"job {job.id} is still {job.status}"
        for job in jobs.values()
        if job.status not in FINISHED_JOB_STATUSES
    ]


def _doubled(ledger: ChatLedger, found: Kept) -> list[str]:
    """Every reply is the one that its question named, and every question was asked once."""
    questions = [one for one in found.messages if one.role is Speaker.user]
    named = Counter(one.reply_id for one in questions)
    where = {one.reply_id: one.conversation_id for one in questions}
    broken = [
        f"{reply.id} answers {named[reply.id]} questions"
        for reply in found.replies.values()
        if named[reply.id] != 1 or where[reply.id] != reply.conversation_id
    ]
    said = Counter(one.content for one in questions)
    broken += [f"{question} is there {count} times" for question, count in said.items() if count > 1]
    return broken + [f"there but never asked: {question}" for question in said.keys() - ledger.asked]


def _misplaced(found: Kept) -> list[str]:
    positions: dict[str, list[int]] = defaultdict(list)
    for message in found.messages:
        positions[message.conversation_id].append(message.position)
    return [
        f"{one.id} counts {one.message_count} and has {sorted(positions[one.id])}"
        for one in found.conversations
        if sorted(positions[one.id]) != list(range(1, one.message_count + 1))
    ]


@pytest.mark.slow
async def test_nothing_acknowledged_is_lost_or_doubled_when_the_server_is_killed_in_conversations(
    serving: Serving,
) -> None:
    async with serve_talker(answer_slowly) as talker, serving() as server:
        await server.start()
        ledger = await crash(await set_up(server, talker), KILLS)
        assert await problems(server, ledger) == []
    assert len(ledger.replies) > 5 * KILLS, "there was load"
    assert len(ledger.jobs) > 2 * KILLS
    assert ledger.cut_off > KILLS, "the kills came in the middle of turns"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mutant", "expected"),
    [("ack_before_commit", "acknowledged but not there"), ("event_in_second_transaction", "has 0 events")],
)
async def test_a_server_that_breaks_its_promise_in_conversations_is_caught(
    tmp_path: Path, database_url: str, mutant: str, expected: str
) -> None:
    async with (
        serve_talker(answer_slowly) as talker,
        ServerProcess(tmp_path, database_url, mutant=mutant) as server,
    ):
        await server.start()
        ledger = await crash(await set_up(server, talker), 4)
        assert any(expected in problem for problem in await problems(server, ledger))
