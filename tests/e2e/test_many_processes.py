"""Three servers and two workers on PostgreSQL and Redis are one instance."""

import asyncio
import contextlib
import dataclasses
import itertools
import os
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from retinue.kit.jobs.models import Job
from retinue.workflows.models import WorkflowSchedule
from tests.adapters.llm_server import Request
from tests.databases import SERVER
from tests.e2e.chatting import (
    HEAD,
    Shop,
    StreamClient,
    Talker,
    open_database,
    piece,
    serve_talker,
    set_up,
    whole,
)
from tests.e2e.cluster import Cluster, cluster
from tests.e2e.load import call
from tests.e2e.processes import ADMIN_PASSWORD
from tests.factories.workflows import PATH, edges, node
from tests.redis_server import BINARY, RedisServer
from tests.tools.servers.rest_api import RestApi, rest_api

pytestmark = [
    # Of the journeys through real processes, the one that only PostgreSQL can show.
    pytest.mark.every_case,
    pytest.mark.skipif(not SERVER, reason="several processes share PostgreSQL"),
    pytest.mark.skipif(BINARY is None, reason="several processes share Redis"),
]

PATIENCE_S = 60
A_MINUTE = 300
ROUNDS = 5
SCHEDULES = 20
# Longer than a turn is left alone that nobody listens to.
SILENCE_S = 3.5


@pytest.fixture
def redis_url() -> Iterator[str]:
    server = RedisServer()
    server.start()
    # It is asked to answer within a tenth of a second, however busy the tests keep the machine.
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, server.process.pid, -10)
    yield server.url
    server.kill()


async def talk(
    _talker: Talker, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    """Says what the last message tells it to do."""
    wish = request.json["messages"][-1]["content"]
    if not request.json.get("stream"):
        writer.write(whole(f"You said {wish}."))
        return
    writer.write(HEAD + piece("one ") + piece("two "))
    await writer.drain()
    if wish == "hang":
        await reader.read()
        return
    if wish == "slowly":
        await asyncio.sleep(SILENCE_S)
    writer.write(piece(wish) + piece("", "stop") + b"data: [DONE]\n\n")


async def wait_until(look: Callable[[], Awaitable[Any]], wanted: Any) -> None:
    """Wait until `look` returns the wanted value; fail with the last one."""
    deadline = time.monotonic() + PATIENCE_S
    while (seen := await look()) != wanted and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
    assert seen == wanted


async def test_three_servers_and_two_workers_are_one_instance(
    tmp_path: Path, database_url: str, redis_url: str
) -> None:
    async with (
        serve_talker(talk) as talker,
        rest_api() as remote,
        cluster(tmp_path, database_url, RETINUE_REDIS_URL=redis_url, RETINUE_BURST="off") as running,
    ):
        shop = await set_up(running.servers[0], talker)
        running.token = shop.token
        await journey(running, shop, remote)
        await one_limit_for_all(running, tmp_path / "children.log")
        await asyncio.gather(
            every_schedule_fires_once(running),
            a_reply_goes_on_in_another_process(running, shop),
            a_run_is_watched_in_another_process(running),
        )
        await places_of_a_killed_process_come_back(running, talker)
        assert all(worker.is_alive for worker in running.workers)
    assert "Traceback" not in (tmp_path / "children.log").read_text()


async def journey(running: Cluster, shop: Shop, remote: RestApi) -> None:
    """Chat, form, workflow, tool table and webhook; every request goes to the next server."""
    for text in ("hello", "again", "bye"):
        status, reply = await running.call("POST", shop.chat, {"message": text})
        assert (status, reply["message"]["content"]) == (200, f"You said {text}.")
    table = await running.made(
        "/api/v1/data-tables", {"name": "Leads", "columns": [{"name": "name", "type": "text"}]}
    )
    steps = [
        node("ask", "agent", agent_id=shop.agent_id, message="{{input.data.name}}"),
        node("keep", "data_table", table_id=table["id"], operation="insert",
             values={"name": "{{nodes.ask.output.reply}}"}),
        node("end", "end", output="{{nodes.keep.output.row.name}}"),
    ]  # fmt: skip
    flow = {"name": "Lead", "status": "published", "nodes": steps, "edges": edges("ask>keep", "keep>end")}
    workflow = await running.made(PATH, flow)
    hook = await running.made(
        "/api/v1/webhooks", {"url": f"{remote.url}/hook", "events": ["workflow.execution.completed"]}
    )
    assert hook["secret"]
    form = await running.made(
        "/api/v1/forms",
        {"name": "Contact", "workflow_id": workflow["id"],
         "fields": [{"id": "name", "type": "text", "required": True}]},
    )  # fmt: skip
    await running.made(f"/api/v1/forms/{form['id']}/publish", expected=200)
    names = [f"visitor {number}" for number in range(6)]
    for name in names:
        path = f"/api/v1/public/forms/{form['slug']}/submit"
        status, answer = await running.call("POST", path, {"data": {"name": name}}, token="")
        assert status == 201, answer

    async def ended() -> Any:
        return Counter(
            (one["status"], (one["error"] or {}).get("code"))
            for one in (await running.read(f"{PATH}/{workflow['id']}/executions"))["data"]
        )

    await wait_until(ended, {("completed", None): len(names)})
    rows = (await running.read(f"/api/v1/data-tables/{table['id']}/rows"))["data"]
    assert sorted(row["name"] for row in rows) == sorted(f"one two {name}" for name in names)

    async def told() -> int:
        return len([one for one in remote.seen if one.target == "/hook"])

    await wait_until(told, len(names))


async def sign_up(running: Cluster, name: str, **limits: int | None) -> str:
    """A tenant of its own with these limits and no others; the token of its administrator."""
    unlimited = dict.fromkeys(
        ("requests_per_minute", "requests_per_hour", "requests_per_day", "chat_per_minute")
    )
    email = f"{name}@example.com"
    admin = {"email": email, "password": ADMIN_PASSWORD, "first_name": "A", "last_name": "B"}
    tenant = await running.made("/api/v1/tenants", {"name": name, "plan": "enterprise", "admin": admin})
    status, answer = await running.call(
        "PUT", f"/api/v1/tenants/{tenant['id']}", {"limits": {**unlimited, **limits}}
    )
    assert status == 200, answer
    login = {"email": email, "password": ADMIN_PASSWORD}
    status, answer = await running.call("POST", "/auth/login", login, token="")
    assert status == 200, answer
    return str(answer["access_token"])


async def one_limit_for_all(running: Cluster, log: Path) -> None:
    """While Redis answers: on a machine so busy that it does not in time, each process limits by itself."""
    for number in range(ROUNDS):
        outages = log.read_text().count('"redis_lost"')
        admitted = await spend_a_minute(running, f"limited-{number}")
        if outages == log.read_text().count('"redis_lost"'):
            break
        # Longer than it takes to find Redis again.
        await asyncio.sleep(5)
    assert A_MINUTE * 0.98 <= admitted <= A_MINUTE * 1.02, f"after {number} rounds with outages"


async def spend_a_minute(running: Cluster, name: str) -> int:
    """Return how many requests of one tenant were admitted by all servers together."""
    token = await sign_up(running, name, requests_per_minute=A_MINUTE)
    answers: Counter[int] = Counter()
    left = itertools.count(A_MINUTE + 100, -1)

    async def ask() -> None:
        while next(left) > 0:
            status, _ = await running.call("GET", "/api/v1/tenant", token=token)
            answers[status] += 1

    began = time.monotonic()
    await asyncio.gather(*(ask() for _ in range(4)))
    assert time.monotonic() - began < 60, "nothing has left the window again"
    assert set(answers) <= {200, 429}
    return answers[200]


async def every_schedule_fires_once(running: Cluster) -> None:
    """All at one moment, and each of them with two jobs, as after a restart that found one late."""
    flow = {"name": "Nightly", "status": "published", "nodes": [node("a")], "edges": []}
    workflow = await running.made(PATH, flow)
    for _ in range(SCHEDULES):
        await running.made(f"{PATH}/{workflow['id']}/schedules", {"cron": "0 0 1 1 *"})
    async with open_database(running.servers[0]) as ctx:
        system = ctx.system("the test turns the clock forward")
        at = ctx.clock.time() + 1
        for schedule in await system.all(WorkflowSchedule, workflow_id=workflow["id"]):
            await system.update(schedule, next_at=at)
        for job in await system.all(Job, kind="workflows.fire_schedule"):
            payload = {**job.payload, "at": at}
            await system.update(job, run_at=at, payload=payload, dedupe_key=None)
            await system.insert(msgspec.structs.replace(job, id=""))
    path = f"{PATH}/{workflow['id']}/executions?status=completed&per_page=100"

    async def fired() -> bool:
        return (await running.read(path))["pagination"]["total"] >= SCHEDULES

    await wait_until(fired, wanted=True)

    async def due() -> int:
        async with open_database(running.servers[0]) as ctx:
            jobs = await ctx.system("the test looks at everything").all(Job, kind="workflows.fire_schedule")
            return len([job for job in jobs if job.run_at < ctx.clock.time() + 60])

    await wait_until(due, 0)
    assert (await running.read(f"{PATH}/{workflow['id']}/executions"))["pagination"]["total"] == SCHEDULES


async def a_reply_goes_on_in_another_process(running: Cluster, shop: Shop) -> None:
    """Also when nobody has listened in the first one for longer than a turn is left alone."""
    client = await StreamClient(shop, "slowly").open()
    await client.until(b"id: 3\n")
    client.drop(with_reset=True)
    message_id = client.ids["message_id"]
    there = running.servers[1]
    path = f"{shop.chat}/stream/{message_id}"
    events = await stream_of(there.port, path, shop.token, after=2)
    assert [(name, number) for name, number, _ in events] == [
        ("content_delta", 3),
        ("content_delta", 4),
        ("message_stop", 5),
    ]
    assert '"slowly"' in events[1][2]
    assert '"finish_reason":"stop"' in events[2][2]


async def a_run_is_watched_in_another_process(running: Cluster) -> None:
    nodes = [node("a"), node("wait", "delay", seconds=2), node("b")]
    flow = {"name": "Watched", "status": "published", "nodes": nodes, "edges": edges("a>wait", "wait>b")}
    workflow = await running.made(PATH, flow)
    started = await running.made(f"{PATH}/{workflow['id']}/execute", {}, expected=202)
    path = f"{PATH}/{workflow['id']}/executions/{started['execution_id']}/stream"
    heard = await asyncio.gather(
        *(stream_of(one.port, path, running.token, after) for after, one in enumerate(running.servers))
    )
    for after, events in enumerate(heard):
        assert [number for _, number, _ in events] == list(range(after + 1, 9))
        assert events[-1][0] == "execution_completed"


async def stream_of(port: int, path: str, token: str, after: int) -> list[tuple[str, int, str]]:
    """Return all events of a stream that ends: name, number and data."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n"
    writer.write(f"{head}Last-Event-ID: {after}\r\n\r\n".encode())
    async with asyncio.timeout(PATIENCE_S):
        got = (await reader.read()).decode()
    writer.close()
    assert got.startswith("HTTP/1.1 200"), got
    found = re.findall(r"event: (\w+)\nid: (\d+)\ndata: (.*?)\n\n", got)
    return [(name, int(number), data) for name, number, data in found]


async def places_of_a_killed_process_come_back(running: Cluster, talker: Talker) -> None:
    """The plan has one place; the process that holds it is killed, and another one gets it soon."""
    lost, *others = reversed(running.servers)
    token = await sign_up(running, "alone", concurrent_executions=1)
    key = {"provider": "openai_compatible", "api_key": "sk-test", "models": ["m"],
           "base_url": f"http://127.0.0.1:{talker.port}/v1"}  # fmt: skip
    status, answer = await running.call("POST", "/api/v1/api-keys", key, token=token)
    assert status == 201, answer
    agent = {"name": "Alone", "primary_model": "openai_compatible/m", "system_prompt": "You are alone."}
    status, made = await running.call("POST", "/api/v1/agents", agent, token=token)
    assert status == 201, made
    shop = Shop(lost, talker, token, made["id"], "")
    holding = await StreamClient(shop, "hang").open()
    await holding.until(b"event: content_delta")
    elsewhere = dataclasses.replace(shop, server=others[0])

    async def is_refused() -> bool:
        status, answer = await elsewhere.call("POST", shop.chat, {"message": "hello"})
        assert status == 200 or answer["error"]["details"]["window"] == "concurrent", answer
        return status == 429

    await wait_until(is_refused, wanted=True)
    lost.kill()
    holding.drop(with_reset=False)
    began = time.monotonic()
    await wait_until(is_refused, wanted=False)
    assert time.monotonic() - began < 30
    status, _ = await call(others[1].port, "GET", "/health")
    assert status == 200
