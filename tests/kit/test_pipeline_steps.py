"""Steps of a request with an `Idempotency-Key`: a repetition goes on where the first one was cut off."""

import asyncio
from collections.abc import Iterator

import pytest

from retinue.domains import DOMAINS
from retinue.files.models import File
from retinue.kit import failpoints
from retinue.kit.http.idempotency import IdempotencyKey
from tests.client import Api, Response
from tests.factories.people import People

STEPS = "/planted/steps"
DAY_S = 24 * 3600
LEASE_S = 10


@pytest.fixture
async def service(make_service, planted):
    planted.gate.opened.set()
    return await make_service(manifests=(*DOMAINS, planted.manifest), burst=False)


@pytest.fixture(autouse=True)
def _disarmed() -> Iterator[None]:
    yield
    failpoints.arm("")


async def post(me: Api, name: str = "a", key: str | None = "key") -> Response:
    headers = {"Idempotency-Key": key} if key else {}
    return await me.request("POST", STEPS, json={"name": name}, headers=headers)


async def cut_off(me: Api, key: str | None = "key", *, at: int = 1) -> None:
    failpoints.arm(f"after_step:{at}:error")
    assert (await post(me, key=key)).status == 500
    failpoints.arm("")


async def notes(people: People) -> set[str]:
    async with people.context() as ctx:
        return {one.id for one in await ctx.system("test").all(File, purpose="planted")}


@pytest.mark.parametrize("at", [1, 2])
async def test_a_repetition_does_again_only_what_was_not_done(me, people, planted, at):
    await cut_off(me, at=at)
    before = await notes(people)
    assert len(before) == at
    answer = await post(me)
    assert answer.status == 201
    assert len(set(answer.json())) == 2
    assert await notes(people) == set(answer.json()) >= before
    assert planted.runs == 2
    replay = await post(me)
    assert (replay.body, replay.headers["idempotent-replayed"]) == (answer.body, "true")


async def test_another_request_does_not_go_on_from_the_steps_of_the_first(me, people):
    await cut_off(me)
    answer = await post(me, name="b")
    assert (answer.status, answer.code) == (422, "idempotency_key_reused")
    assert len(await notes(people)) == 1


async def test_steps_of_other_keys_and_of_none_are_their_own(me, people):
    await cut_off(me)
    for key in ("other", None, None):
        assert (await post(me, key=key)).status == 201
    assert len(await notes(people)) == 1 + 3 * 2


async def test_a_step_is_forgotten_with_its_key(service, me, people, clock):
    await service.runner.drain()
    await cut_off(me)
    clock.advance(DAY_S + 10)
    me = await people.sign_in(me.user)
    assert (await post(me)).status == 201
    assert len(await notes(people)) == 3
    clock.advance(DAY_S + 3700)
    await service.runner.drain()
    async with people.context() as ctx:
        assert await ctx.system("test").all(IdempotencyKey) == []


async def test_of_two_that_are_at_the_same_step_one_commits(me, people, planted, clock):
    planted.gate.opened.clear()
    first = asyncio.create_task(post(me))
    await planted.gate.somebody_waits()
    clock.advance(LEASE_S + 1)
    planted.gate.entered.clear()
    second = asyncio.create_task(post(me))
    await planted.gate.somebody_waits()
    planted.gate.opened.set()
    answers = await asyncio.gather(first, second)
    assert sorted(answer.status for answer in answers) == [201, 409]
    kept = next(answer.json() for answer in answers if answer.status == 201)
    assert await notes(people) >= set(kept)
    assert len(await notes(people)) == 2
