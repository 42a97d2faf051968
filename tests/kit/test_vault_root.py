"""Exchanging the root key: at every moment one key at hand opens the database."""

import asyncio
from dataclasses import replace

import pytest

from retinue.app import Service
from retinue.kit import failpoints
from retinue.kit.crypto import RootKey, WrongKey
from retinue.kit.failpoints import FailpointReached
from retinue.kit.secrets import Secret
from retinue.kit.settings import BadSetting
from retinue.kit.vault import KEY_FILE
from retinue.kit.vault.root_rotation import SameRootKey, rotate_root
from retinue.kit.vault.rotation import RotationTiming, rotate_key
from retinue.kit.vault.status import read_status
from tests.factories.people import People
from tests.kit.killed_process import rotations
from tests.kit.sealed_records import plant, reread

NEXT = KEY_FILE + ".next"
POINTS = ["rotate_root_next_written", "rotate_root_before_commit", "rotate_root_after_commit"]


@pytest.fixture(autouse=True)
def _disarmed():
    yield
    failpoints.arm("")


@pytest.fixture(scope="module")
async def elsewhere():
    """Rotates in another process."""
    async with rotations() as made:
        yield made


@pytest.fixture
async def start(service, clock):
    """Start another process of the same instance, with other settings."""
    started = []

    async def make(**changed):
        made = Service(replace(service.settings, **changed), clock)
        await made.start()
        started.append(made)
        return made

    yield make
    for made in started:
        await made.stop()


def key_in(folder, name=KEY_FILE):
    return RootKey.parse(Secret((folder / name).read_text()))


def files_in(folder):
    return {path.name for path in folder.iterdir() if "key" in path.name}


async def test_a_new_root_key_takes_the_place_of_the_file_and_opens_everything(
    service, people, start, tmp_path
):
    planted = await plant(people, lambda table: f"secret of {table}")
    old, new = key_in(tmp_path), RootKey.generate()
    await rotate_root(service.instance, new)
    assert files_in(tmp_path) == {KEY_FILE}
    assert key_in(tmp_path) == new
    assert (tmp_path / KEY_FILE).stat().st_mode & 0o777 == 0o600
    restarted = await start()
    assert restarted.instance.vault.sealed_because == ""
    assert [await reread(People(restarted), record) for record, _ in planted] == [
        secret for _, secret in planted
    ]
    with_old = await start(master_key=old.encoded())
    assert with_old.instance.vault.sealed_because == "the master key does not match the database"


async def test_the_running_process_goes_on_and_may_rotate_its_keys(service, people):
    planted = await plant(people, lambda table: table)
    await rotate_root(service.instance, RootKey.generate())
    await service.refresher.check()
    rotation = await rotate_key(service.instance, pace=RotationTiming(learn_s=0, settle_s=0))
    assert rotation.retired == [1]
    assert [await reread(people, record) for record, _ in planted] == [secret for _, secret in planted]


async def test_a_root_key_of_the_environment_is_not_written_anywhere(make_service, tmp_path):
    old, new = RootKey.generate(), RootKey.generate()
    service = await make_service(master_key=old.encoded())
    await rotate_root(service.instance, new)
    assert files_in(tmp_path) == set()
    again = Service(replace(service.settings, master_key=new.encoded()))
    await again.start()
    assert again.instance.vault.sealed_because == ""
    await again.stop()


async def test_the_key_in_use_is_no_new_key(service, tmp_path):
    with pytest.raises(SameRootKey):
        await rotate_root(service.instance, key_in(tmp_path))
    assert files_in(tmp_path) == {KEY_FILE}


@pytest.mark.parametrize("point", POINTS)
async def test_a_root_rotation_that_was_cut_off_leaves_a_startable_instance(
    service, people, start, tmp_path, point
):
    planted = await plant(people, lambda table: table)
    old, new = key_in(tmp_path), RootKey.generate()
    failpoints.arm(f"{point}:1:error")
    with pytest.raises(FailpointReached):
        await rotate_root(service.instance, new)
    assert (key_in(tmp_path), key_in(tmp_path, NEXT)) == (old, new)
    is_committed = point == "rotate_root_after_commit"
    restarted = await start()
    assert restarted.instance.vault.sealed_because == ""
    assert key_in(tmp_path) == (new if is_committed else old)
    assert files_in(tmp_path) == ({KEY_FILE} if is_committed else {KEY_FILE, NEXT})
    third = RootKey.generate()
    await rotate_root(restarted.instance, third)
    assert (key_in(tmp_path), files_in(tmp_path)) == (third, {KEY_FILE})
    last = await start()
    assert [await reread(People(last), record) for record, _ in planted] == [secret for _, secret in planted]


@pytest.mark.campaign
async def test_a_root_rotation_that_is_killed_at_every_point_and_run_again_succeeds(
    service, people, start, elsewhere
):
    planted = await plant(people, lambda table: table)
    for point in POINTS:
        assert (await elsewhere.run(service, "root", failpoints=f"{point}:1:kill")).is_killed
    assert (await elsewhere.run(service, "root")).is_done
    assert files_in(service.settings.data_dir) == {KEY_FILE}
    restarted = await start()
    assert [await reread(People(restarted), record) for record, _ in planted] == [
        secret for _, secret in planted
    ]


async def test_two_root_rotations_at_once_leave_one_key_that_fits(service, start, tmp_path):
    others = [await start() for _ in range(3)]
    keys = [RootKey.generate() for _ in others]
    await asyncio.gather(*(rotate_root(other.instance, key) for other, key in zip(others, keys, strict=True)))
    (version,) = (await read_status(service.instance)).versions
    assert key_in(tmp_path).fingerprint == version.root_fingerprint
    assert key_in(tmp_path) in keys
    assert files_in(tmp_path) == {KEY_FILE}


async def test_a_key_rotation_and_a_root_rotation_at_once_leave_one_root_key_for_all_versions(
    service, people, start
):
    planted = await plant(people, lambda table: table)
    other = await start()
    await asyncio.gather(
        rotate_key(service.instance, pace=RotationTiming(learn_s=0.1, settle_s=0.1)),
        rotate_root(other.instance, RootKey.generate()),
    )
    restarted = await start()
    assert [await reread(People(restarted), record) for record, _ in planted] == [
        secret for _, secret in planted
    ]


async def test_an_instance_whose_root_key_is_another_one_cannot_exchange_it(make_service):
    """Between its start and now somebody else has moved the database to another key."""
    service = await make_service(master_key=RootKey.generate().encoded())
    await rotate_root(service.instance, RootKey.generate())
    with pytest.raises(WrongKey):
        await rotate_root(service.instance, RootKey.generate())


async def test_a_next_key_that_others_may_read_is_refused(service, start, tmp_path):
    (tmp_path / NEXT).write_text(RootKey.generate().encoded().reveal())
    (tmp_path / NEXT).chmod(0o644)
    with pytest.raises(BadSetting, match="chmod 600"):
        await start()
