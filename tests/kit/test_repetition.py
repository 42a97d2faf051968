"""Tests of repetition after a rollback by the database: it starts anew, and happens once."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from retinue.app import Service
from retinue.domains import DOMAINS
from retinue.files.models import File
from retinue.kit.context import Context
from retinue.kit.context.manifest import Manifest
from retinue.kit.db.databases import direct_url
from retinue.kit.http.routing import Routes
from retinue.kit.jobs.models import Job
from retinue.kit.schema.base import Schema
from retinue.users.events import UserCreated
from tests.client import Api
from tests.databases import SERVER
from tests.factories.happenings import events
from tests.factories.people import People
from tests.kit.job_factory import handlers, job
from tests.kit.planted import store
from tests.kit.rival import Rival, rival_at
from tests.kit.workshop import Named

pytestmark = [
    pytest.mark.every_case,
    pytest.mark.skipif(not SERVER, reason="SQLite has one writer, so two never wait for each other"),
]

runs: list[str] = []


class Pair(Schema):
    first: str
    second: str
    name: str


async def touch_both(ctx: Context, pair: Pair) -> None:
    runs.append(pair.name)
    for id in (pair.first, pair.second):
        held = await ctx.db.lock(File, id)
        assert held is not None
        await ctx.db.update(held, size_bytes=held.size_bytes + 1)
    ctx.emit(UserCreated(user_id=pair.name, email="a@example.com", role="viewer"))
    ctx.defer(note_pair, Named(pair.name))
    await ctx.db.insert_at_commit(_note(pair.name))


def _note(name: str) -> File:
    return File(filename=name, mime_type="text/plain", size_bytes=0, sha256="", purpose="pair")


@job()
async def note_pair(ctx: Context, payload: Named) -> None:
    await ctx.db.insert(_note(f"job of {payload.name}"))


@job()
async def touch_pair(ctx: Context, payload: Pair) -> None:
    await touch_both(ctx, payload)


def _routes() -> Routes:
    routes = Routes("/pairs", tag="test")

    @routes.post("/plain", requires="agents:write", status=201)
    async def in_the_request(ctx: Context, body: Pair) -> None:
        await touch_both(ctx, body)

    @routes.post("/after", requires="agents:write", status=201, calls_out=True)
    async def after_an_effect(ctx: Context, body: Pair) -> None:
        runs.append("effect")
        async with ctx.unit() as unit:
            await store(unit, "effect")
        await ctx.run_in_unit(lambda unit: touch_both(unit, body))

    @routes.post("/lost", requires="agents:write", status=201, calls_out=True)
    async def not_prepared_for_it(ctx: Context, body: Pair) -> None:
        runs.append("effect")
        async with ctx.unit() as unit:
            await store(unit, "effect")
        async with ctx.unit() as unit:
            await touch_both(unit, body)

    return routes


@pytest.fixture
async def service(make_service: Any) -> Service:
    runs.clear()
    manifest = Manifest(name="pairs", routes=(_routes(),), jobs=handlers(note_pair, touch_pair))
    made: Service = await make_service(manifests=(*DOMAINS, manifest), burst=False)
    return made


@pytest.fixture
async def rival(service: Service) -> AsyncIterator[Rival]:
    async with rival_at(direct_url(service.settings)) as made:
        yield made


@pytest.fixture
async def pair(people: People, me: Api) -> Pair:
    async with people.context(me.user.tenant_id) as ctx:
        first, second = await store(ctx, "first"), await store(ctx, "second")
    return Pair(first.id, second.id, "n")


async def collide(me: Api, rival: Rival, path: str, pair: Pair, **headers: str) -> Any:
    await rival.hold("files", pair.second)
    body = {"first": pair.first, "second": pair.second, "name": pair.name}
    asked = asyncio.create_task(me.request("POST", f"/pairs/{path}", json=body, headers=headers))
    await rival.collide("files", pair.first)
    return await asked


def assert_repeated(attempts: list[str]) -> None:
    """A repetition may lock the row before the rival is awake, and is then rolled back as well."""
    assert set(attempts) == {"n"}
    assert len(attempts) > 1


async def assert_happened_once(service: Service, people: People, me: Api, pair: Pair) -> None:
    await service.runner.drain()
    async with people.context(me.user.tenant_id) as ctx:
        found = [await ctx.db.get(File, id) for id in (pair.first, pair.second)]
        assert [one and one.size_bytes for one in found] == [1, 1]
        notes = [one.filename for one in await ctx.db.all(File, purpose="pair")]
        assert sorted(notes) == ["job of n", "n"]
        assert await ctx.db.count(Job) == 0
    told = [one for one in await events(people, "system.user.created") if one.data.get("user_id") == "n"]
    assert len(told) == 1


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "once"}])
async def test_a_request_is_repeated_and_happens_once(service, people, me, rival, pair, headers) -> None:
    answer = await collide(me, rival, "plain", pair, **headers)
    assert answer.status == 201, answer
    assert_repeated(runs)
    await assert_happened_once(service, people, me, pair)
    if headers:
        body = {"first": pair.first, "second": pair.second, "name": pair.name}
        again = await me.request("POST", "/pairs/plain", json=body, headers=headers)
        assert (again.status, again.headers["idempotent-replayed"]) == (201, "true")
        await assert_happened_once(service, people, me, pair)


async def test_after_an_effect_only_the_unit_is_repeated(service, people, me, rival, pair) -> None:
    answer = await collide(me, rival, "after", pair)
    assert answer.status == 201, answer
    assert runs[0] == "effect"
    assert_repeated(runs[1:])
    await assert_happened_once(service, people, me, pair)


async def test_what_had_an_effect_is_never_begun_anew(people, me, rival, pair) -> None:
    answer = await collide(me, rival, "lost", pair)
    assert (answer.status, answer.code) == (503, "database_unavailable")
    assert answer.headers["retry-after"] == "1"
    assert runs == ["effect", "n"]
    async with people.context(me.user.tenant_id) as ctx:
        assert await ctx.db.count(File, purpose="pair") == 0


@pytest.mark.one_service("it is about the attempts of one job")
async def test_a_job_is_repeated_without_counting_an_attempt(service, people, me, rival, pair, clock) -> None:
    async with people.context(me.user.tenant_id) as ctx:
        ctx.defer(touch_pair, pair)
    await rival.hold("files", pair.second)
    draining = asyncio.create_task(service.runner.drain())
    await rival.collide("files", pair.first)
    await draining
    async with people.context(me.user.tenant_id) as ctx:
        (left,) = await ctx.db.all(Job)
        assert (left.kind, left.state, left.attempt) == ("touch_pair", "ready", 0)
    clock.advance(1)
    await assert_happened_once(service, people, me, pair)
