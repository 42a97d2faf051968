"""A3: rotating the signing key rejects no valid token, and no key verifies for ever."""

import asyncio

import pytest

from retinue.app import Service
from retinue.kit import failpoints
from retinue.kit.failpoints import FailpointReached
from retinue.kit.vault.signing_key_rotation import MAX_TOKEN_LIFETIME_SECONDS, rotate_signing_key
from retinue.kit.vault.status import read_status
from tests.client import Api
from tests.factories.people import People

ME = "/auth/me"


@pytest.fixture(autouse=True)
def _disarmed():
    yield
    failpoints.arm("")


@pytest.fixture
async def other_service(service, clock):
    """A second process of the same instance; it looks at the keys when told."""
    started = Service(service.settings, clock)
    await started.start()
    await started.refresher.stop()
    yield started
    await started.stop()


def kid(service):
    return service.instance.tokens.keys.active[0]


async def signing_keys(service):
    return {key.id: key.state for key in (await read_status(service.instance)).signing_keys}


def many_tokens(api, service, count):
    """Tokens of the session, all different and none verified yet."""
    claims = service.instance.tokens.verify(api.token, "access")
    issue = service.instance.tokens.issue
    return [
        issue("access", claims.sub, claims.tid, claims.sid, MAX_TOKEN_LIFETIME_SECONDS) for _ in range(count)
    ]


async def test_new_tokens_have_the_new_key_and_old_ones_stay_good(service, people):
    before = await people.signed_in()
    old = kid(service)
    new = await rotate_signing_key(service.instance, learn_s=0)
    after = await people.signed_in()
    assert kid(service) == new != old
    assert await signing_keys(service) == {old: "old", new: "active"}
    assert (await before.get(ME)).status == (await after.get(ME)).status == 200


async def test_after_its_retirement_a_key_verifies_nothing_whatever_the_token_says(service, people, clock):
    api = await people.signed_in()
    claims = service.instance.tokens.verify(api.token, "access")
    endless = service.instance.tokens.issue("access", claims.sub, claims.tid, claims.sid, 10 * 86400)
    await rotate_signing_key(service.instance, learn_s=0)
    clock.advance(MAX_TOKEN_LIFETIME_SECONDS + 4 * 60)
    await service.refresher.check()
    assert (await api.signed_in(endless).get(ME)).status == 200
    clock.advance(2 * 60)
    await service.refresher.check()
    refused = await api.signed_in(endless).get(ME)
    assert (refused.status, refused.details) == (401, {"reason": "invalid_token"})


async def test_the_periodic_job_deletes_retired_keys_and_no_other(service, clock):
    new = await rotate_signing_key(service.instance, learn_s=0)
    clock.advance(MAX_TOKEN_LIFETIME_SECONDS)
    await service.runner.drain()
    assert len(await signing_keys(service)) == 2
    clock.advance(3600)
    await service.runner.drain()
    assert await signing_keys(service) == {new: "active"}


@pytest.mark.one_service("starts the second process itself, and says when it looks")
async def test_no_valid_token_is_rejected_while_the_key_is_rotated_under_load(
    service, other_service, people, clock
):
    """Two processes that look at the keys at different times; tokens of each are shown to both."""
    persons = [await people.signed_in() for _ in range(2)]
    rejected, shown = [], 0
    is_over = False

    async def show(person):
        nonlocal shown
        while not is_over:
            for issuer in (service, other_service):
                for token in many_tokens(person, issuer, 4):
                    for process in (service, other_service):
                        answer = await Api(process, token=token).get(ME)
                        shown += 1
                        if answer.status != 200:
                            rejected.append(answer)
            await asyncio.sleep(0)

    load = [asyncio.create_task(show(person)) for person in persons]
    for _ in range(3):
        await asyncio.sleep(0.1)
        await rotate_signing_key_in_steps(service, other_service)
    async with asyncio.timeout(30):
        while shown <= 500:
            await asyncio.sleep(0.1)
    is_over = True
    await asyncio.gather(*load)
    assert rejected == []
    assert len(await signing_keys(service)) == 4


async def rotate_signing_key_in_steps(service, other):
    """The other process learns the key before it is active, and uses it some time after."""
    # Cut off where it waits for the others: no time is long enough for a busy machine.
    failpoints.arm("rotate_signing_prepared:1:error")
    with pytest.raises(FailpointReached):
        await rotate_signing_key(service.instance, learn_s=0)
    failpoints.arm("")
    await asyncio.sleep(0.1)
    await other.refresher.check()
    await rotate_signing_key(service.instance, learn_s=0)
    assert kid(other) != kid(service)
    await asyncio.sleep(0.1)
    await other.refresher.check()
    assert kid(other) == kid(service)


async def test_a_rotation_that_was_cut_off_is_finished_by_the_next(service, people):
    old = kid(service)
    failpoints.arm("rotate_signing_prepared:1:error")
    with pytest.raises(FailpointReached):
        await rotate_signing_key(service.instance, learn_s=0)
    failpoints.arm("rotate_signing_before_commit:1:error")
    with pytest.raises(FailpointReached):
        await rotate_signing_key(service.instance, learn_s=0)
    (prepared,) = (id for id, state in (await signing_keys(service)).items() if state == "next")
    assert await rotate_signing_key(service.instance, learn_s=0) == prepared
    assert await signing_keys(service) == {old: "old", prepared: "active"}


async def test_a_restart_knows_every_key_that_still_verifies(service, people, clock):
    api = await people.signed_in()
    await rotate_signing_key(service.instance, learn_s=0)
    restarted = Service(service.settings, clock)
    await restarted.start()
    assert (await Api(restarted, token=api.token).get(ME)).status == 200
    assert kid(restarted) == kid(service)
    again = await People(restarted).sign_in(api.user)
    assert (await Api(service, token=again.token).get(ME)).status == 200
    await restarted.stop()


@pytest.mark.slow
async def test_ten_thousand_tokens_outlive_a_rotation(service, other_service, people, clock):
    api = await people.signed_in()
    tokens = many_tokens(api, service, 10_000)
    await rotate_signing_key(service.instance, learn_s=0)
    await other_service.refresher.check()
    for process in (service, other_service):
        for token in tokens:
            assert process.instance.tokens.verify(token, "access").sub == api.user.id
    clock.advance(MAX_TOKEN_LIFETIME_SECONDS + 6 * 60)
    await service.refresher.check()
    refused = [await Api(service, token=token).get(ME) for token in tokens[:100]]
    assert {answer.status for answer in refused} == {401}
