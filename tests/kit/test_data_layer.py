"""Records in, records out, the same on both databases."""

import asyncio

import pytest
import sqlalchemy as sa

from retinue.kit.crypto import Sealed
from retinue.kit.db.errors import UniqueViolation, ValueRejected
from retinue.kit.db.statements import Statement
from tests.kit.records import Box, Colour, Lid


async def test_a_record_comes_back_as_it_was_stored(door, service) -> None:
    unit, db = door()
    stored = await db.insert(
        Box(
            name="Ünïcode ✓",
            size=2**62,
            weight=0.1,
            is_open=True,
            colour=Colour.green,
            labels={"a": [1, None, {"b": "c"}]},
            secret=Sealed.of("hush"),
        )
    )
    await unit.commit()
    unit, db = door()
    found = await db.get(Box, stored.id)
    assert found is not None
    assert found.secret is not None
    assert found.secret.text(service.instance.ring) == "hush"
    for name in Box.__struct_fields__:
        if name != "secret":
            assert getattr(found, name) == getattr(stored, name), name
    assert isinstance(found.is_open, bool)
    assert found.id.startswith("box_")
    assert len(found.id) == len("box_") + 26
    await unit.rollback()


async def test_an_update_changes_only_what_it_names(door) -> None:
    unit, db = door()
    box = await db.insert(Box(name="a", labels={"x": 1}))
    before = box.updated_at
    await db.update(box, labels={"y": 2}, colour=Colour.green, secret=Sealed.of("s"))
    found = await db.get(Box, box.id)
    assert found is not None
    assert (found.labels, found.colour, found.name) == ({"y": 2}, Colour.green, "a")
    assert found.updated_at > before
    await unit.rollback()


async def test_a_taken_unique_value_names_the_constraint_alike_on_both_databases(door) -> None:
    unit, db = door()
    await db.insert(Box(name="a"))
    with pytest.raises(UniqueViolation) as raised:
        await db.insert(Box(name="a"))
    assert raised.value.constraint == "uq_test_boxes_tenant_id_name"
    await unit.rollback()


async def test_insert_missing_stores_once(door) -> None:
    unit, db = door()
    assert await db.insert_missing(Box(name="a"))
    assert not await db.insert_missing(Box(name="a"))
    assert await db.count(Box) == 1
    await unit.rollback()


async def test_a_value_no_column_can_hold_is_a_refusal_not_a_fault(door) -> None:
    unit, db = door()
    with pytest.raises(ValueRejected):
        await db.insert(Box(name="a", size=2**70))
    await unit.rollback()


async def test_nothing_of_a_rolled_back_unit_remains(door) -> None:
    unit, db = door()
    await db.insert(Box(name="gone"))
    await unit.rollback()
    unit, db = door(reads_outside_transaction=True)
    assert await db.count(Box) == 0


async def test_a_unit_that_reads_freely_opens_a_transaction_with_its_first_write(door) -> None:
    unit, db = door(reads_outside_transaction=True)
    await db.count(Box)
    assert not unit.is_open
    await db.insert(Box(name="a"))
    assert unit.is_open
    await unit.commit()


async def test_an_ended_unit_cannot_be_used_again(door) -> None:
    unit, db = door()
    await db.insert(Box(name="a"))
    await unit.commit()
    with pytest.raises(RuntimeError):
        await db.insert(Box(name="b"))


async def test_children_go_with_their_parent(door) -> None:
    unit, db = door()
    box = await db.insert(Box(name="a"))
    await db.insert(Lid(box_id=box.id))
    await db.delete(box)
    assert await db.count(Lid) == 0
    await unit.rollback()


async def test_records_sort_both_ways(door) -> None:
    unit, db = door()
    for name in ("b", "a", "c"):
        await db.insert(Box(name=name))
    assert [box.name for box in await db.all(Box, order_by=("name",))] == ["a", "b", "c"]
    assert [box.name for box in await db.all(Box, order_by=("-name",))] == ["c", "b", "a"]
    await unit.rollback()


async def test_a_missing_parameter_is_a_mistake_that_shows(door) -> None:
    unit, db = door()
    with pytest.raises(TypeError):
        await db.rows(Statement(sa.select(Box.__table__).where(Box.__table__.c.name == sa.bindparam("x"))))
    await unit.rollback()


async def test_a_heavy_read_runs_beside_the_others(door) -> None:
    unit, db = door()
    await db.insert(Box(name="a"))
    await unit.commit()
    unit, db = door(reads_outside_transaction=True)
    heavy = Statement(sa.select(sa.func.count()).select_from(Box.__table__), heavy=True)
    assert await db.scalar(heavy) == 1


async def test_writers_take_turns_and_lose_nothing(door) -> None:
    unit, db = door()
    box = await db.insert(Box(name="counter"))
    await unit.commit()

    async def add_one() -> None:
        unit, db = door()
        held = await db.lock(Box, box.id)
        assert held is not None
        await asyncio.sleep(0)
        await db.update(held, size=held.size + 1)
        await unit.commit()

    await asyncio.gather(*(add_one() for _ in range(20)))
    unit, db = door(reads_outside_transaction=True)
    found = await db.get(Box, box.id)
    assert found is not None
    assert found.size == 20


async def test_a_cancelled_writer_lets_the_next_one_in(door) -> None:
    started = asyncio.Event()

    async def hang() -> None:
        unit, db = door()
        try:
            await db.insert(Box(name="never"))
            started.set()
            await asyncio.Event().wait()
        finally:
            await unit.rollback()

    task = asyncio.create_task(hang())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    unit, db = door()
    await asyncio.wait_for(db.insert(Box(name="next")), 5)
    assert await db.count(Box) == 1
    await unit.commit()


async def test_a_transaction_with_a_failed_statement_is_never_taken_for_committed(door, service) -> None:
    """PostgreSQL answers such a COMMIT with a silent rollback; SQLite keeps what did not fail."""
    unit, db = door()
    await db.insert(Box(name="a"))
    with pytest.raises(UniqueViolation):
        await db.insert(Box(name="a"))
    if service.instance.database.dialect == "postgresql":
        with pytest.raises(RuntimeError, match="nothing was committed"):
            await unit.commit()
    else:
        await unit.commit()
    unit, db = door(reads_outside_transaction=True)
    stored = await db.count(Box)
    assert stored == (0 if service.instance.database.dialect == "postgresql" else 1)
