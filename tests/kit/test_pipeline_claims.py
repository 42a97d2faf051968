"""A claimed key while its request runs, when it crashes, and when its claim is lost."""

import asyncio

import pytest
from structlog.testing import capture_logs

from retinue.domains import DOMAINS
from retinue.kit import failpoints
from retinue.kit.db.errors import DatabaseUnavailable
from retinue.kit.http import idempotency
from tests.kit.idempotency import is_replay, list_claims, notes, post
from tests.kit.planted import PATIENCE_S
from tests.services import in_each

SLOW = "/planted/slow"


@pytest.fixture
async def service(make_service, planted):
    return await make_service(manifests=(*DOMAINS, planted.manifest), burst=False)


@pytest.fixture(autouse=True)
def disarmed():
    yield
    failpoints.arm("")


@pytest.fixture
async def first_request(me, planted):
    """A first request that has claimed its key and is not done."""
    first = asyncio.create_task(post(me, SLOW))
    await planted.gate.somebody_waits()
    yield first
    planted.gate.opened.set()
    await asyncio.wait_for(first, PATIENCE_S)


async def abandon(people) -> None:
    """Leave the only claim as a killed process leaves it: without an answer."""
    (row,) = await list_claims(people)
    async with people.context() as ctx:
        await ctx.system("test").update(row, status=None, headers=[], body=None)


async def test_while_the_first_request_runs_the_second_is_told_so(me, planted, first_request, people):
    second = await post(me, SLOW)
    assert (second.status, second.code) == (409, "idempotency_conflict")
    assert (await post(me, SLOW, name="b")).code == "idempotency_key_reused"
    planted.gate.opened.set()
    first = await first_request
    third = await post(me, SLOW)
    assert (third.status, third.body, is_replay(third)) == (201, first.body, True)
    assert (planted.runs, await notes(people)) == (1, 1)


async def test_a_claim_without_its_process_is_taken_over_when_its_lease_is_up(me, planted, people, clock):
    await post(me)
    await abandon(people)
    assert (await post(me)).code == "idempotency_conflict"
    clock.advance(11)
    answer = await post(me)
    assert (answer.status, is_replay(answer), planted.runs) == (201, False, 2)
    assert is_replay(await post(me))


async def test_an_abandoned_claim_binds_nobody_to_its_body(me, people, clock):
    await post(me)
    await abandon(people)
    clock.advance(11)
    assert (await post(me, name="b")).status == 201
    assert is_replay(await post(me, name="b"))
    assert (await post(me)).code == "idempotency_key_reused"


async def test_of_many_that_find_an_abandoned_claim_one_takes_it(me, planted, people, clock):
    await post(me)
    await abandon(people)
    clock.advance(11)
    answers = await asyncio.gather(*(post(me) for _ in range(20)))
    assert {answer.status for answer in answers} <= {201, 409}
    assert planted.runs == 2
    assert sum(answer.status == 201 and not is_replay(answer) for answer in answers) == 1


async def test_a_long_request_keeps_its_claim(me, planted, people, clock, monkeypatch):
    monkeypatch.setattr(idempotency, "_RENEW_SECONDS", 0.01)
    first = asyncio.create_task(post(me, SLOW))
    await planted.gate.somebody_waits()
    await wait_for_renewals(people, clock, times=3)
    assert (await post(me, SLOW)).code == "idempotency_conflict"
    planted.gate.opened.set()
    assert (await first).status == 201
    assert planted.runs == 1


async def wait_for_renewals(people, clock, *, times: int) -> None:
    """Let most of the lease pass this often; wait each time until it is renewed."""
    for _ in range(times):
        clock.advance(8)
        renewed = clock.ahead(9)
        async with asyncio.timeout(PATIENCE_S):
            while [row.lease_until for row in await list_claims(people)] < [renewed]:
                await asyncio.sleep(0.005)


async def test_a_renewal_that_fails_is_tried_again(service, me, planted, people, clock, monkeypatch):
    monkeypatch.setattr(idempotency, "_RENEW_SECONDS", 0.01)
    first = asyncio.create_task(post(me, SLOW))
    await planted.gate.somebody_waits()
    failed = asyncio.Event()

    async def refuse():
        failed.set()
        raise DatabaseUnavailable

    with capture_logs() as logs:
        with monkeypatch.context() as patch:
            in_each(service, lambda one: patch.setattr(one.instance.database, "begin", refuse))
            await asyncio.wait_for(failed.wait(), PATIENCE_S)
        await wait_for_renewals(people, clock, times=2)
    assert "idempotency_claim_not_renewed" in {log["event"] for log in logs}
    planted.gate.opened.set()
    assert (await first).status == 201


async def test_a_request_that_lost_its_claim_undoes_its_work(me, planted, first_request, people, clock):
    """A process that stood still for longer than its lease wakes up beside the one that took over."""
    clock.advance(11)
    planted.gate.entered.clear()
    second = asyncio.create_task(post(me, SLOW))
    await planted.gate.somebody_waits()
    planted.gate.opened.set()
    answers = [await first_request, await second]
    assert sorted((answer.status, answer.code if answer.status == 409 else "") for answer in answers) == [
        (201, ""),
        (409, "idempotency_conflict"),
    ]
    assert (planted.runs, await notes(people)) == (2, 1)
    kept_answer = await post(me, SLOW)
    assert is_replay(kept_answer)
    assert kept_answer.body in {answer.body for answer in answers}


async def test_a_commit_that_fails_leaves_neither_work_nor_claim(me, planted, people):
    failpoints.arm("before_commit:2:error")
    assert (await post(me)).status == 500
    assert (await notes(people), await list_claims(people)) == (0, [])
    answer = await post(me)
    assert (answer.status, is_replay(answer), planted.runs) == (201, False, 2)


async def test_an_answer_lost_after_its_commit_is_found_by_the_retry(me, planted, people):
    failpoints.arm("after_commit:2:error")
    assert (await post(me)).status == 500
    assert await notes(people) == 1
    answer = await post(me)
    assert (answer.status, is_replay(answer), planted.runs) == (201, True, 1)


async def test_a_claim_that_cannot_be_settled_hides_no_error(me, people, clock, monkeypatch):
    settle = idempotency._store_refusal

    async def settle_without_a_database(ctx, claim, error, format):
        async def refuse():
            raise DatabaseUnavailable

        with monkeypatch.context() as patch:
            patch.setattr(ctx.instance.database, "begin", refuse)
            await settle(ctx, claim, error, format)

    monkeypatch.setattr(idempotency, "_store_refusal", settle_without_a_database)
    answer = await post(me, "/planted/failing/conflict")
    assert (answer.status, answer.code) == (409, "conflict")
    (row,) = await list_claims(people)
    assert row.status is None
    clock.advance(11)
    assert (await post(me, "/planted/failing/conflict")).code == "conflict"


async def test_a_cancelled_request_gives_its_claim_back(me, planted, people):
    first = asyncio.create_task(post(me, SLOW))
    await planted.gate.somebody_waits()
    first.cancel()
    await asyncio.wait([first])
    assert first.cancelled()
    assert await list_claims(people) == []
    planted.gate.opened.set()
    answer = await post(me, SLOW)
    assert (answer.status, is_replay(answer)) == (201, False)
