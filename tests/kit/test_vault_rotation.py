"""Key rotation in one process: what it moves, what it leaves alone, where it stops and goes on."""

import asyncio
import time
from dataclasses import replace

import pytest
import sqlalchemy as sa

from retinue.adapters.mail.mail_queue import OutgoingMail
from retinue.app import Service
from retinue.kit import failpoints
from retinue.kit.crypto import DecryptFailed, RootKey, Sealed, SealLocation, WrongKey
from retinue.kit.db.statements import Statement
from retinue.kit.errors import VaultSealed
from retinue.kit.failpoints import FailpointReached
from retinue.kit.vault import RingStale, root_keys
from retinue.kit.vault.key_refresh import KeyRefresher
from retinue.kit.vault.rewrap import REWRAP_BATCH_ROWS, SealedField, _replace
from retinue.kit.vault.root_rotation import rotate_root
from retinue.kit.vault.rotation import RotationStage, RotationTiming, rotate_key
from retinue.kit.vault.signing_key_rotation import rotate_signing_key
from retinue.kit.vault.status import read_status
from retinue.kit.vault.writer_barrier import wait_for_writers
from tests.databases import SERVER
from tests.factories.people import People
from tests.kit.sealed_records import plant, reread, sealed_values
from tests.pgbouncer import IS_EVERYWHERE

# The first pass must end before: behind a pooler each statement takes two round trips.
SETTLE_S = 2.0 if IS_EVERYWHERE else 0.5
AT_ONCE = RotationTiming(learn_s=0, settle_s=0)

_mails = OutgoingMail.__table__
SET_CONTENT = Statement(
    sa.update(_mails)
    .where(_mails.c.id == sa.bindparam("record_id"))
    .values(content=sa.bindparam("content", type_=sa.LargeBinary()))
)


@pytest.fixture(autouse=True)
def _disarmed():
    yield
    failpoints.arm("")


@pytest.fixture
async def tenant_id(people):
    return (await people.default_tenant()).id


async def store_mails(people, tenant_id, count):
    async with people.context(tenant_id) as ctx:
        mails = [OutgoingMail(content=Sealed.of(f"mail {number}")) for number in range(count)]
        await ctx.db.insert_many(mails)
    return mails


async def states(service):
    return {row.version: row.state for row in (await read_status(service.instance)).versions}


async def counts(service):
    return {row.version: row.secrets for row in (await read_status(service.instance)).versions}


async def test_every_sealed_column_moves_to_the_new_version_and_the_old_one_goes(service, people):
    planted = await plant(people, lambda table: f"secret of {table}")
    pepper = service.instance.vault.pepper
    seen = []
    rotation = await rotate_key(service.instance, pace=AT_ONCE, watch=seen.append)
    total = sum(sealed_values(record) for record, _ in planted) + 2
    assert (rotation.version, rotation.moved, rotation.retired, rotation.unreadable) == (2, total, [1], [])
    assert await counts(service) == {2: total}
    assert [await reread(people, record) for record, _ in planted] == [secret for _, secret in planted]
    assert service.instance.vault.pepper == pepper
    assert (seen[0].stage, seen[0].total) == (RotationStage.wrapping, total)
    assert max(step.done for step in seen if step.stage is RotationStage.wrapping) == total


async def test_a_rotation_changes_nothing_of_a_record_but_how_its_key_is_wrapped(service, people, tenant_id):
    (mail,) = await store_mails(people, tenant_id, 1)
    async with people.context(tenant_id) as ctx:
        before = await ctx.db.get(OutgoingMail, mail.id)
    await rotate_key(service.instance, pace=AT_ONCE)
    async with people.context(tenant_id) as ctx:
        after = await ctx.db.get(OutgoingMail, mail.id)
    assert after.updated_at == before.updated_at
    assert after.content._bytes[65:] == before.content._bytes[65:]
    assert after.content._bytes[:65] != before.content._bytes[:65]


async def test_more_rows_than_a_batch_are_all_moved(service, people, tenant_id):
    await store_mails(people, tenant_id, 2 * REWRAP_BATCH_ROWS + 7)
    rotation = await rotate_key(service.instance, pace=AT_ONCE)
    assert rotation.moved == 2 * REWRAP_BATCH_ROWS + 7 + 2
    assert await counts(service) == {2: 2 * REWRAP_BATCH_ROWS + 7 + 2}


async def test_rotating_twice_in_a_row_makes_two_versions(service, people):
    planted = await plant(people, lambda table: table)
    await rotate_key(service.instance, pace=AT_ONCE)
    rotation = await rotate_key(service.instance, pace=AT_ONCE)
    assert (rotation.version, rotation.retired) == (3, [2])
    assert [await reread(people, record) for record, _ in planted] == [secret for _, secret in planted]


@pytest.mark.parametrize(
    ("point", "state_after"),
    [
        ("rotate_prepared:1:error", {1: "active", 2: "next"}),
        ("rotate_before_activation:1:error", {1: "active", 2: "next"}),
        ("rotate_activated:1:error", {1: "old", 2: "active"}),
        ("rotate_before_commit:2:error", {1: "old", 2: "active"}),
        ("rotate_after_commit:2:error", {1: "old", 2: "active"}),
        ("rotate_before_retire:1:error", {1: "old", 2: "active"}),
    ],
)
async def test_a_rotation_that_was_cut_off_is_finished_by_the_next(
    service, people, tenant_id, point, state_after
):
    await store_mails(people, tenant_id, REWRAP_BATCH_ROWS + 1)
    failpoints.arm(point)
    with pytest.raises(FailpointReached):
        await rotate_key(service.instance, pace=AT_ONCE)
    assert await states(service) == state_after
    rotation = await rotate_key(service.instance, pace=AT_ONCE)
    assert (rotation.version, rotation.retired) == (2, [1])
    assert await counts(service) == {2: REWRAP_BATCH_ROWS + 3}


async def test_rows_that_are_on_the_new_version_are_not_touched_again(service, people, tenant_id):
    await store_mails(people, tenant_id, REWRAP_BATCH_ROWS + 1)
    failpoints.arm("rotate_after_commit:2:error")
    with pytest.raises(FailpointReached):
        await rotate_key(service.instance, pace=AT_ONCE)
    done = (await counts(service))[2]
    assert 0 < done < REWRAP_BATCH_ROWS + 3
    rotation = await rotate_key(service.instance, pace=AT_ONCE)
    assert rotation.moved == REWRAP_BATCH_ROWS + 3 - done


async def test_only_the_very_value_that_was_read_is_replaced(service, people, tenant_id):
    (mail,) = await store_mails(people, tenant_id, 1)
    async with people.context(tenant_id) as ctx:
        seen = (await ctx.db.get(OutgoingMail, mail.id)).content._bytes
        await ctx.db.update(mail, content=Sealed.of("changed meanwhile"))
    replace = _replace(SealedField(OutgoingMail, "content"))
    key = {"key_tenant_id": tenant_id, "key_id": mail.id}
    async with people.context() as ctx:
        assert await ctx.system("test").execute(replace, old=seen, new=b"lost update", **key) == 0
    assert await reread(people, mail) == "changed meanwhile"


async def test_what_cannot_be_read_is_named_and_keeps_the_old_version(service, people, tenant_id):
    mails = await store_mails(people, tenant_id, 3)
    async with people.context(tenant_id) as ctx:
        good = (await ctx.db.get(OutgoingMail, mails[1].id)).content._bytes
        bent = good[:40] + bytes([good[40] ^ 1]) + good[41:]
        await ctx.system("test").execute(SET_CONTENT, record_id=mails[1].id, content=bent)
    rotation = await rotate_key(service.instance, pace=AT_ONCE)
    assert [place.record_id for place in rotation.unreadable] == [mails[1].id]
    assert rotation.retired == []
    assert await states(service) == {1: "old", 2: "active"}
    assert await counts(service) == {1: 1, 2: 4}
    async with people.context(tenant_id) as ctx:
        await ctx.system("test").execute(SET_CONTENT, record_id=mails[1].id, content=good)
    rotation = await rotate_key(service.instance, pace=AT_ONCE)
    assert (rotation.version, rotation.moved, rotation.retired) == (2, 1, [1])
    assert await reread(people, mails[1]) == "mail 1"


@pytest.mark.skipif(not SERVER, reason="SQLite has one writer and no rows to hold")
async def test_a_row_that_another_transaction_holds_is_taken_later(service, people, tenant_id):
    mails = await store_mails(people, tenant_id, 2)
    holder = people.context(tenant_id)
    await holder.db.lock(OutgoingMail, mails[0].id)
    rotating = asyncio.create_task(rotate_key(service.instance, pace=AT_ONCE))
    async with asyncio.timeout(10):
        while (await counts(service)).get(1) != 1:
            await asyncio.sleep(0.02)
    assert not rotating.done()
    await holder.db.update(mails[0], content=Sealed.of("written by the holder"))
    await holder.commit()
    assert (await rotating).retired == [1]
    assert await reread(people, mails[0]) == "written by the holder"


async def test_open_transactions_are_waited_for_before_the_last_pass(service, people, tenant_id):
    writer = people.context(tenant_id)
    await writer.db.insert(OutgoingMail(content=Sealed.of("still open")))
    waiting = asyncio.create_task(wait_for_writers(service.instance, ["outgoing_mails"]))
    await asyncio.sleep(0.2)
    assert not waiting.done()
    await writer.commit()
    await asyncio.wait_for(waiting, 5)


async def test_the_barrier_lets_others_write_and_does_not_wait_for_them(service, people, tenant_id):
    await asyncio.wait_for(wait_for_writers(service.instance, ["outgoing_mails"]), 5)
    async with people.context(tenant_id) as ctx:
        await ctx.db.insert(OutgoingMail(content=Sealed.of("x")))


@pytest.fixture
async def other_service(service, clock):
    """A second process of the same instance, as far as the vault goes."""
    started = Service(service.settings, clock)
    await started.start()
    yield started
    await started.stop()


async def test_what_another_process_sealed_with_the_old_key_meanwhile_is_moved_too(
    service, other_service, people, tenant_id
):
    """The other process has not looked since the new version became active."""
    await other_service.refresher.stop()
    their = People(other_service)
    failpoints.arm("rotate_activated:1:error")
    with pytest.raises(FailpointReached):
        await rotate_key(service.instance, pace=AT_ONCE)
    (late,) = await store_mails(their, tenant_id, 1)
    assert await counts(service) == {1: 3, 2: 0}
    rotation = await rotate_key(service.instance, pace=AT_ONCE)
    assert (rotation.moved, rotation.retired) == (3, [1])
    await other_service.refresher.check()
    assert await reread(their, late) == "mail 0"


async def rotate_until_settling(service, settle_s):
    """Start a rotation; return it once it has made its first pass and waits for the others."""
    is_settling = asyncio.Event()

    def watch(progress):
        if progress.stage is RotationStage.settling:
            is_settling.set()

    rotating = asyncio.create_task(
        rotate_key(service.instance, pace=RotationTiming(learn_s=0, settle_s=settle_s), watch=watch)
    )
    await asyncio.wait_for(is_settling.wait(), 10)
    return rotating


async def test_what_is_sealed_with_the_old_key_after_the_first_pass_is_moved_by_the_last(
    service, other_service, tenant_id
):
    await other_service.refresher.stop()
    rotating = await rotate_until_settling(service, settle_s=SETTLE_S)
    (late,) = await store_mails(People(other_service), tenant_id, 1)
    assert (await counts(service))[1] == 1
    assert (await rotating).retired == [1]
    await other_service.refresher.check()
    assert await reread(People(other_service), late) == "mail 0"


async def test_a_transaction_that_outlasts_the_wait_keeps_the_old_version_until_it_ends(
    service, other_service, tenant_id
):
    await other_service.refresher.stop()
    rotating = await rotate_until_settling(service, settle_s=SETTLE_S)
    writer = People(other_service).context(tenant_id)
    late = await writer.db.insert(OutgoingMail(content=Sealed.of("sealed with the old key")))
    await asyncio.sleep(SETTLE_S + 0.5)
    assert not rotating.done()
    await writer.commit()
    assert (await rotating).retired == [1]
    await other_service.refresher.check()
    assert await reread(People(other_service), late) == "sealed with the old key"


async def test_a_process_knows_the_next_version_before_anybody_seals_with_it(
    service, other_service, people, tenant_id
):
    failpoints.arm("rotate_prepared:1:error")
    with pytest.raises(FailpointReached):
        await rotate_key(service.instance, pace=AT_ONCE)
    await other_service.refresher.check()
    assert (other_service.instance.ring.versions, other_service.instance.ring.active) == ({1, 2}, 1)
    await rotate_key(service.instance, pace=AT_ONCE)
    (mail,) = await store_mails(people, tenant_id, 1)
    assert await reread(People(other_service), mail) == "mail 0"


async def test_a_value_of_an_unknown_version_makes_a_process_look_at_once(
    service, other_service, people, tenant_id
):
    await rotate_key(service.instance, pace=AT_ONCE)
    (mail,) = await store_mails(people, tenant_id, 1)
    with pytest.raises(DecryptFailed):
        await reread(People(other_service), mail)
    async with asyncio.timeout(3):
        while other_service.instance.ring.active != 2:
            await asyncio.sleep(0.01)
    assert await reread(People(other_service), mail) == "mail 0"


async def test_a_new_key_reaches_transactions_that_are_already_open(
    service, other_service, people, tenant_id
):
    writer = People(other_service).context(tenant_id)
    door = writer.db
    failpoints.arm("rotate_activated:1:error")
    with pytest.raises(FailpointReached):
        await rotate_key(service.instance, pace=AT_ONCE)
    await other_service.refresher.check()
    mail = await door.insert(OutgoingMail(content=Sealed.of("sealed with the new key")))
    await writer.commit()
    assert await counts(service) == {1: 2, 2: 1}
    await service.refresher.check()
    assert await reread(people, mail) == "sealed with the new key"


async def test_a_process_that_was_held_up_longer_than_its_lease_seals_nothing_until_it_has_looked(
    service, people, tenant_id
):
    await service.refresher.stop()
    refresher = KeyRefresher(service.instance, period_s=0.2)
    await refresher.start()
    time.sleep(0.7)
    with pytest.raises(RingStale) as refusal:
        service.instance.ring.seal(b"x", SealLocation(tenant_id, "t", "r", "f"))
    assert (refusal.value.status, refusal.value.code) == (503, "unavailable")
    await store_mails(people, tenant_id, 1)
    service.instance.ring.seal(b"x", SealLocation(tenant_id, "t", "r", "f"))
    await refresher.stop()


async def test_a_process_whose_root_key_was_replaced_goes_on_until_there_is_a_new_version(
    service, clock, people, tenant_id
):
    """It cannot unwrap the new version, so it neither seals with the old one nor loses what it holds."""
    other = Service(replace(service.settings, master_key=first_root(service)), clock)
    await other.start()
    try:
        await rotate_root(service.instance, RootKey.generate())
        await other.refresher.check()
        (mail,) = await store_mails(People(other), tenant_id, 1)
        failpoints.arm("rotate_prepared:1:error")
        with pytest.raises(FailpointReached):
            await rotate_key(service.instance, pace=AT_ONCE)
        with pytest.raises(WrongKey):
            await other.refresher.check()
        assert other.instance.ring.versions == {1}
        assert await reread(People(other), mail) == "mail 0"
    finally:
        await other.stop()


def first_root(service):
    (root,) = root_keys(service.settings, may_create=False)
    return root.encoded()


async def test_a_sealed_instance_rotates_nothing(service, clock):
    sealed = Service(replace(service.settings, master_key=RootKey.generate().encoded()), clock)
    await sealed.start()
    try:
        for action in (rotate_key(sealed.instance), rotate_signing_key(sealed.instance)):
            with pytest.raises(VaultSealed):
                await action
        with pytest.raises(VaultSealed):
            await rotate_root(sealed.instance, RootKey.generate())
    finally:
        await sealed.stop()
    assert await states(service) == {1: "active"}
