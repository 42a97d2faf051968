"""Kill -9 while forms are filled in by talking: nothing acknowledged is lost, nothing is submitted twice."""

import asyncio
import os
from collections import Counter, defaultdict
from typing import Any

import pytest

from retinue.forms.models import FormConversation, FormConversationStatus, FormMessage, Submission
from tests.e2e.chatting import open_database
from tests.e2e.conftest import Serving
from tests.e2e.crashing import sign_in
from tests.e2e.form_crashing import crash
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import ServerProcess

PLACES = ("form_message_stored", "before_commit", "form_submission_before_store", "after_commit")
KILLS = int(os.environ.get("RETINUE_TEST_KILLS", "4"))
SEED = int(os.environ.get("RETINUE_TEST_SEED", "1"))
SAID = ("Ada", "ada@example", "ada@example.com", "change name to Bob", "yes")


class Visitors:
    """Have one conversation after the other; what is not answered is said again under the same key."""

    def __init__(self, server: ServerProcess, slug: str) -> None:
        self.said: list[str] = []
        self.submitted: list[str] = []
        self.refused: list[Any] = []
        self._server = server
        self._path = f"/api/v1/public/forms/{slug}/conversations"
        self._is_over = False
        self._tasks = [asyncio.create_task(self._work(number)) for number in range(3)]

    async def finish(self) -> None:
        self._is_over = True
        await asyncio.gather(*self._tasks)

    async def _work(self, number: int) -> None:
        turn = 0
        while not self._is_over:
            turn += 1
            started = await self._post(self._path, {}, f"{number}-{turn}")
            for position, content in enumerate(SAID):
                path = f"{self._path}/{started['id']}/messages"
                answer = await self._post(path, {"content": content}, f"{number}-{turn}-{position}")
                self.said.append(answer["user_message"]["id"])
            self.submitted.append(answer["submission_id"])

    async def _post(self, path: str, body: Any, key: str) -> Any:
        while True:
            headers = {"Idempotency-Key": key}
            try:
                status, answer = await asyncio.wait_for(
                    call(self._server.port, "POST", path, body=body, headers=headers), 10
                )
            except (*Unreachable, TimeoutError):
                status, answer = 0, None
            if status in {200, 201}:
                return answer["data"]
            if status not in {0, 409, 429, 503}:
                self.refused.append((status, answer))
            await asyncio.sleep(0.05)


async def make_form(server: ServerProcess) -> str:
    token = await sign_in(server.port)
    fields = [{"id": "name", "type": "text"}, {"id": "email", "type": "email", "required": True}]
    limits = {"messages": 100_000, "total": 100_000}
    body = {
        "name": "Crash",
        "fields": fields,
        "settings": {"limits": limits, "conversational": {"confirm": True}},
    }
    _, form = await call(server.port, "POST", "/api/v1/forms", token=token, body=body)
    publish = f"/api/v1/forms/{form['data']['id']}/publish"
    assert (await call(server.port, "POST", publish, token=token, body={}))[0] == 200
    return form["data"]["slug"]


@pytest.mark.slow
async def test_what_was_said_is_there_and_submitted_once(serving: Serving) -> None:
    async with serving(kills_workers=False) as server:
        await server.start()
        visitors = Visitors(server, await make_form(server))
        await crash(server, KILLS, PLACES, SEED)
        await visitors.finish()
        assert await server.stop() == 0
        async with open_database(server) as ctx:
            system = ctx.system("the checker looks at everything")
            talks = await system.all(FormConversation)
            messages = await system.all(FormMessage, order_by=("position",))
            submissions = await system.all(Submission)
    assert visitors.refused == []
    assert len(visitors.submitted) > KILLS, "there was load"
    kept = {one.id: one.data for one in submissions}
    assert {*visitors.submitted} <= kept.keys()
    assert all(data == {"name": "Bob", "email": "ada@example.com"} for data in kept.values())
    assert {*visitors.said} <= {one.id for one in messages}
    done = [one for one in talks if one.status is FormConversationStatus.completed]
    assert Counter(one.submission_id for one in done) == dict.fromkeys(kept, 1), "each of one conversation"
    by_talk = defaultdict(list)
    for one in messages:
        by_talk[one.conversation_id].append(one)
    for talk in talks:
        told = by_talk[talk.id]
        assert [one.position for one in told] == list(range(1, talk.message_count + 1))
        assert [one.role for one in told] == ["assistant", *["user", "assistant"] * (len(told) // 2)]
