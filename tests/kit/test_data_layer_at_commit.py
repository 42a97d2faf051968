"""Writes that wait for the commit: all of them or none, as if they came last and in their order."""

import asyncio
from typing import Any

import asyncpg
import pytest
import sqlalchemy as sa

from retinue.kit.db.databases import direct_url
from retinue.kit.db.errors import DatabaseUnavailable, ReferenceViolation, UniqueViolation
from retinue.kit.db.sqlite import SqliteDatabase
from retinue.kit.db.statements import Statement
from tests.databases import SERVER
from tests.kit.records import Box, Lid
from tests.pgbouncer import IS_EVERYWHERE

pytestmark = pytest.mark.every_case

_boxes = Box.__table__
GROW: Statement[Any] = Statement(
    sa.update(_boxes).where(_boxes.c.id == sa.bindparam("box_id")).values(size=_boxes.c.size + 1)
)
_lids = Lid.__table__
TOUCH: Statement[Any] = Statement(
    sa.update(_lids).where(_lids.c.id == sa.bindparam("lid_id")).values(updated_at=_lids.c.created_at)
)
WAITING = (
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'"
)
only_postgresql = pytest.mark.skipif(not SERVER, reason="only PostgreSQL is asked in exchanges")


@pytest.fixture
async def box(door) -> Box:
    unit, db = door()
    stored = await db.insert(Box(name="there"))
    await unit.commit()
    return stored


@pytest.fixture
def look(door):
    async def count() -> tuple[int, int, list[int]]:
        """Return the number of boxes and lids, and the sizes of the boxes."""
        _, db = door(reads_outside_transaction=True)
        boxes = await db.all(Box, order_by=("name",))
        return len(boxes), await db.count(Lid), [found.size for found in boxes]

    return count


async def test_all_of_them_are_stored(door, box, look) -> None:
    unit, db = door()
    db.execute_at_commit(GROW, box_id=box.id)
    lid = await db.insert_at_commit(Lid(box_id=box.id))
    assert not unit.is_open
    assert unit.has_changes
    assert await unit.commit()
    assert lid.id.startswith("lid_")
    assert await look() == (1, 1, [1])


@only_postgresql
async def test_rows_are_held_in_the_order_of_the_writes(door, box) -> None:
    """Otherwise a transaction that writes step by step would deadlock with this one."""
    unit, db = door()
    lid = await db.insert(Lid(box_id=box.id))
    await unit.commit()
    slow_unit, slow = door()
    await slow.execute(GROW, box_id=box.id)
    unit, db = door()
    db.execute_at_commit(GROW, box_id=box.id)
    db.execute_at_commit(TOUCH, lid_id=lid.id)
    together = asyncio.create_task(unit.commit())
    async with asyncio.timeout(10):
        while not (await unit.database.fetch(WAITING, []))[0][0]:
            await asyncio.sleep(0.01)
        await slow.execute(TOUCH, lid_id=lid.id)
        await slow_unit.commit()
        assert await together


async def test_a_statement_of_the_unit_sees_those_before_it(door, box) -> None:
    unit, db = door()
    db.execute_at_commit(GROW, box_id=box.id)
    await db.insert_at_commit(Lid(box_id=box.id))
    assert await db.count(Lid) == 1
    found = await db.get(Box, box.id)
    assert found is not None
    assert found.size == 1
    await unit.commit()


async def test_a_row_may_refer_to_one_of_them(door, look) -> None:
    unit, db = door()
    box = await db.insert_at_commit(Box(name="there"))
    await db.insert(Lid(box_id=box.id))
    await unit.commit()
    assert await look() == (1, 1, [0])


async def test_they_wait_for_the_commit_while_nothing_depends_on_them(door, box) -> None:
    unit, db = door(reads_outside_transaction=True)
    await db.insert_at_commit(Lid(box_id=box.id))
    assert await db.get(Box, box.id) is not None
    assert not unit.is_open
    assert await db.count(Lid) == 1
    assert unit.is_open
    await unit.commit()


async def test_what_a_statement_ran_is_undone_with_the_unit(door, box, look) -> None:
    unit, db = door()
    await db.insert_at_commit(Lid(box_id=box.id))
    assert await db.count(Lid) == 1
    await unit.rollback()
    assert await look() == (1, 0, [0])


async def test_none_is_left_when_one_fails(door, box, look) -> None:
    unit, db = door()
    db.execute_at_commit(GROW, box_id=box.id)
    await db.insert_at_commit(Lid(box_id="box_missing"))
    with pytest.raises(ReferenceViolation):
        await unit.commit()
    await unit.rollback()
    assert await look() == (1, 0, [0])


async def test_one_alone_that_fails_lets_the_next_writer_in(door, box, look) -> None:
    unit, db = door()
    await db.insert_at_commit(Box(name="there"))
    with pytest.raises(UniqueViolation) as raised:
        await unit.commit()
    await unit.rollback()
    assert raised.value.constraint == "uq_test_boxes_tenant_id_name"
    unit, db = door()
    await asyncio.wait_for(db.insert(Lid(box_id=box.id)), 5)
    await unit.commit()
    assert await look() == (1, 1, [0])


async def test_none_is_left_of_a_unit_that_is_rolled_back(door, box, look) -> None:
    unit, db = door()
    await db.insert_at_commit(Lid(box_id=box.id))
    await unit.rollback()
    assert not await unit.commit()
    assert await look() == (1, 0, [0])


async def test_they_end_an_open_transaction(door, box, look) -> None:
    unit, db = door()
    made = await db.insert(Box(name="made"))
    db.execute_at_commit(GROW, box_id=made.id)
    await db.insert_at_commit(Lid(box_id=made.id))
    await unit.commit()
    assert await look() == (2, 1, [1, 0])


async def test_a_parent_and_its_children_are_stored_together(door, box, look) -> None:
    unit, db = door()
    parent = await db.insert_at_commit(Box(name="parent"))
    for _ in range(3):
        await db.insert_at_commit(Lid(box_id=parent.id))
    await unit.commit()
    assert await look() == (2, 3, [0, 0])


async def test_the_same_row_can_be_changed_twice(door, box, look) -> None:
    unit, db = door()
    db.execute_at_commit(GROW, box_id=box.id)
    db.execute_at_commit(GROW, box_id=box.id)
    await unit.commit()
    assert await look() == (1, 0, [2])


@pytest.mark.parametrize("lids", [0, 1])
async def test_a_new_row_can_be_changed_after_it_was_added(door, box, look, lids: int) -> None:
    unit, db = door()
    for _ in range(lids):
        await db.insert_at_commit(Lid(box_id=box.id))
    made = await db.insert_at_commit(Box(name="made"))
    db.execute_at_commit(GROW, box_id=made.id)
    await unit.commit()
    assert await look() == (2, lids, [1, 0])


async def test_what_another_write_added_is_read_by_the_next(door, box, look) -> None:
    lids = Lid.__table__
    count = sa.select(sa.func.count()).select_from(lids).scalar_subquery()
    as_large_as_lids: Statement[Any] = Statement(
        sa.update(_boxes).where(_boxes.c.id == sa.bindparam("box_id")).values(size=count)
    )
    unit, db = door()
    await db.insert_at_commit(Lid(box_id=box.id))
    db.execute_at_commit(as_large_as_lids, box_id=box.id)
    await unit.commit()
    assert await look() == (1, 1, [1])


async def test_a_great_many_are_stored_too(door, box, look) -> None:
    unit, db = door()
    db.execute_at_commit(GROW, box_id=box.id)
    for _ in range(30):
        await db.insert_at_commit(Lid(box_id=box.id))
    await unit.commit()
    assert await look() == (1, 30, [1])


async def test_they_stay_inside_the_tenant(door, box, look) -> None:
    unit, db = door(tenant_id="ten_other")
    db.execute_at_commit(GROW, box_id=box.id)
    own = await db.insert_at_commit(Box(name="there"))
    assert own.tenant_id == "ten_other"
    await unit.commit()
    assert await look() == (1, 0, [0])


async def test_an_ended_unit_takes_no_more(door, box) -> None:
    unit, db = door()
    await db.insert_at_commit(Lid(box_id=box.id))
    await unit.commit()
    with pytest.raises(RuntimeError):
        await db.insert_at_commit(Lid(box_id=box.id))


async def test_units_that_wait_at_the_same_time_succeed_and_fail_each_for_itself(door, box, look) -> None:
    async def store(number: int) -> None:
        unit, db = door()
        db.execute_at_commit(GROW, box_id=box.id)
        await db.insert_at_commit(Lid(box_id="box_missing" if number % 3 == 0 else box.id))
        await unit.commit()

    outcomes = await asyncio.gather(*(store(number) for number in range(90)), return_exceptions=True)
    failed = [number for number, outcome in enumerate(outcomes) if outcome is not None]
    assert failed == list(range(0, 90, 3))
    assert all(isinstance(outcomes[number], ReferenceViolation) for number in failed)
    assert await look() == (1, 60, [60])


async def test_one_that_is_cancelled_leaves_the_others_alone(door, box, look) -> None:
    async def store(number: int) -> None:
        unit, db = door()
        await db.insert_at_commit(Box(name=f"box {number}"))
        await unit.commit()

    storing = [asyncio.create_task(store(number)) for number in range(20)]
    await asyncio.sleep(0)
    for task in storing[::2]:
        task.cancel()
    outcomes = await asyncio.gather(*storing, return_exceptions=True)
    assert [outcome is None for outcome in outcomes[1::2]] == [True] * 10
    unit, db = door()
    await asyncio.wait_for(db.insert(Lid(box_id=box.id)), 5)
    await unit.commit()
    boxes, lids, _ = await look()
    assert (boxes >= 11, lids) == (True, 1)


async def test_whoever_waits_for_a_closed_database_is_told(tmp_path) -> None:
    database = SqliteDatabase(tmp_path / "never_opened.db")
    batch = [("DELETE FROM test_lids", [[]])]
    outcomes = await asyncio.gather(database.apply(batch), database.apply(batch), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [DatabaseUnavailable] * 2
    await database.close()


@only_postgresql
async def test_postgresql_is_asked_once(door, box, look, service) -> None:
    asked: list[str] = []
    connection = service.instance.database._idle[-1]
    with connection.raw.query_logger(lambda record: asked.append(record.query)):
        unit, db = door()
        db.execute_at_commit(GROW, box_id=box.id)
        await db.insert_at_commit(Lid(box_id=box.id))
        await db.insert_at_commit(Lid(box_id=box.id))
        await unit.commit()
        await asyncio.sleep(0)  # the driver tells in its next turn
    assert len(asked) == 1, asked
    assert await look() == (1, 2, [1])


@only_postgresql
@pytest.mark.skipif(IS_EVERYWHERE, reason="a pooler hides which process of the server answers")
async def test_a_connection_that_died_in_idleness_loses_nothing(door, box, look, service) -> None:
    """Nothing told us: as if something on the way had forgotten the connection."""
    connection = service.instance.database._idle[-1]
    connection.raw._transport.pause_reading()
    connection.used_at -= 60
    pid = connection.raw.get_server_pid()
    other = await asyncpg.connect(direct_url(service.settings))
    try:
        await other.execute(f"SELECT pg_terminate_backend({pid})")
    finally:
        await other.close()
    connection.raw._transport.resume_reading()
    unit, db = door()
    await db.insert_at_commit(Lid(box_id=box.id))
    await unit.commit()
    assert connection.raw.is_closed()
    assert await look() == (1, 1, [0])
