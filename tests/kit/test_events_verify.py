import pytest

from retinue.kit.db.session import SystemDb
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.events.audit_verification import ChainVerdict, verify_chain
from retinue.kit.events.declare import Event, event
from tests.kit.workshop import Marked, Workshop, workshop_on

pytestmark = pytest.mark.every_case


@event("system.measured", subject="", audited=True, listed=False)
class Measured(Event):
    """Something was measured."""

    values: list[float]


@pytest.fixture
async def workshop(databases, tmp_path):
    """With a chain of six rows, written by three transactions, beside another tenant's."""
    async with workshop_on(databases, tmp_path) as made:
        for number in range(3):
            async with made.context() as ctx:
                ctx.emit(Marked(name=f"first of {number}"))
                ctx.emit(Marked(name=f"second of {number}"))
        async with made.context("ten_b") as ctx:
            ctx.emit(Marked(name="elsewhere"))
        yield made


async def verdict(workshop: Workshop, tenant_id: str = "ten_a") -> ChainVerdict:
    unit = UnitOfWork(workshop.instance.database, reads_outside_transaction=True)
    return await verify_chain(SystemDb(unit, workshop.clock, workshop.instance.ring), tenant_id)


async def test_a_chain_nobody_touched_holds(workshop: Workshop):
    assert await verdict(workshop) == ChainVerdict(is_good=True, checked=6)
    assert await verdict(workshop, "ten_b") == ChainVerdict(is_good=True, checked=1)
    assert await verdict(workshop, "ten_without_rows") == ChainVerdict(is_good=True, checked=0)


MINE = "tenant_id = 'ten_a'"


@pytest.mark.parametrize(
    ("tampering", "first_bad"),
    [
        (f"UPDATE audit_log SET reason = 'other' WHERE {MINE} AND sequence = 3", 3),
        (f"UPDATE audit_log SET metadata = '[]' WHERE {MINE} AND sequence = 4", 4),
        (f"UPDATE audit_log SET created_at = 'x' WHERE {MINE} AND sequence = 1", 1),
        (f"UPDATE audit_log SET hash = 'x' WHERE {MINE} AND sequence = 2", 2),
        (f"UPDATE audit_log SET previous_hash = 'x' WHERE {MINE} AND sequence = 2", 2),
        (f"UPDATE audit_log SET tenant_id = 'ten_c' WHERE {MINE} AND sequence = 5", 5),
        (f"DELETE FROM audit_log WHERE {MINE} AND sequence = 1", 1),
        (f"DELETE FROM audit_log WHERE {MINE} AND sequence = 4", 4),
        (f"DELETE FROM audit_log WHERE {MINE} AND sequence >= 5", 5),
        (f"DELETE FROM audit_log WHERE {MINE}", 1),
        (f"UPDATE audit_log SET sequence = 0 WHERE {MINE} AND sequence = 6", 0),
        ("UPDATE audit_heads SET sequence = 4 WHERE id = 'ten_a'", 5),
        ("UPDATE audit_heads SET hash = 'x' WHERE id = 'ten_a'", 6),
        ("DELETE FROM audit_heads WHERE id = 'ten_a'", 1),
    ],
)
async def test_tampering_is_found_and_the_first_bad_row_named(workshop: Workshop, tampering, first_bad):
    await workshop.change(tampering)
    found = await verdict(workshop)
    assert not found.is_good
    assert found.sequence == first_bad
    assert f"broken at row {first_bad}" in str(found)
    assert (await verdict(workshop, "ten_b")).is_good


async def test_swapped_rows_are_found(workshop: Workshop):
    for old, new in ((2, 99), (3, 2), (99, 3)):
        await workshop.change(f"UPDATE audit_log SET sequence = {new} WHERE {MINE} AND sequence = {old}")
    found = await verdict(workshop)
    assert (found.sequence, found.checked) == (2, 1)
    assert found.row_id


async def test_a_row_added_at_the_end_is_found(workshop: Workshop):
    columns = "tenant_id, created_at, updated_at, action, subject_id, actor, success, ip_address"
    columns += ", user_agent, correlation_id, metadata, previous_hash, hash"
    await workshop.change(
        f"INSERT INTO audit_log (sequence, id, {columns})"
        f" SELECT 7, 'aud_forged', {columns} FROM audit_log WHERE {MINE} AND sequence = 6"
    )
    found = await verdict(workshop)
    assert (found.sequence, found.row_id) == (7, "aud_forged")


@pytest.mark.campaign
async def test_a_chain_longer_than_a_page_is_walked_to_its_end(workshop: Workshop):
    async with workshop.context() as ctx:
        for number in range(1200):
            ctx.emit(Marked(name=str(number)))
    assert await verdict(workshop) == ChainVerdict(is_good=True, checked=1206)
    await workshop.change(f"UPDATE audit_log SET action = 'other' WHERE {MINE} AND sequence = 1100")
    assert (await verdict(workshop)).sequence == 1100


async def test_numbers_a_database_writes_in_its_own_way_do_not_look_like_tampering(workshop: Workshop):
    async with workshop.context() as ctx:
        ctx.emit(Measured(values=[1e16, 1e22, 1.5e300, -0.0, 0.1, 1e-7, 3.0, 123456789.25]))
    assert (await verdict(workshop)).is_good
