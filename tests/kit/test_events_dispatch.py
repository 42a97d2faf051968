import asyncio

import sqlalchemy as sa
from structlog.testing import capture_logs

from retinue.kit.clock import ManualClock
from retinue.kit.db.databases import direct_url
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.db.unit_of_work import UnitOfWork
from retinue.kit.events.dispatch import MAX_HOPS, EventDispatcher
from retinue.kit.events.models import EventEntry
from retinue.kit.events.outbox import OUTBOX_BATCH_SIZE
from retinue.kit.jobs.statements import statements
from tests.kit import workshop as here
from tests.kit.workshop import MarkCounted, Marked, Workshop, workshop_on


async def emit(workshop: Workshop, *names: str, tenant_id: str = "ten_a", **caller) -> None:
    async with workshop.context(tenant_id, **caller) as ctx:
        for name in names:
            ctx.emit(Marked(name=name))


async def test_an_event_reaches_every_listener_once(workshop: Workshop):
    await emit(workshop, "one")
    await workshop.drain()
    assert await workshop.marks() == ["counted one"]
    assert here.ran == ["system.marked one", "system.mark_counted one"]
    assert all(entry.is_dispatched for entry in await workshop.events())
    await workshop.drain()
    assert await workshop.marks() == ["counted one"]


async def test_a_listener_knows_whose_doing_it_was_and_how_far_it_came(workshop: Workshop):
    await emit(workshop, "one", correlation_id="cor_chain", hops=2)
    await workshop.drain()
    assert await workshop.notes() == ["system.marked one cor_chain 3 usr_asker"]


async def test_what_a_listener_emits_belongs_to_the_same_chain(workshop: Workshop):
    await emit(workshop, "one", correlation_id="cor_chain")
    await workshop.drain()
    [first, second] = await workshop.events()
    assert (first.type, first.hops, first.correlation_id) == ("system.marked", 0, "cor_chain")
    assert (second.type, second.hops, second.correlation_id) == ("system.mark_counted", 1, "cor_chain")
    assert second.actor == {"type": "user", "id": "usr_asker"}


async def test_a_chain_that_is_too_long_is_cut(workshop: Workshop):
    await emit(workshop, "far", hops=MAX_HOPS)
    with capture_logs() as logs:
        await workshop.drain()
    assert await workshop.marks() == []
    assert here.ran == []
    assert [entry["event"] for entry in logs] == ["event_chain_cut"]
    assert all(entry.is_dispatched for entry in await workshop.events())


async def test_events_are_handed_on_in_the_order_they_happened(workshop: Workshop):
    names = [f"number {number:03}" for number in range(120)]
    await emit(workshop, *names[:60])
    await emit(workshop, *names[60:])
    await workshop.drain(default=1000)
    assert [entry.data["name"] for entry in await workshop.events() if entry.type == "system.marked"] == names
    heard = [text.removeprefix("system.marked ") for text in here.ran if text.startswith("system.marked ")]
    assert heard == names


async def test_an_event_runs_in_its_own_tenant(workshop: Workshop):
    await emit(workshop, "of a", tenant_id="ten_a")
    await emit(workshop, "of b", tenant_id="ten_b")
    await workshop.drain()
    by_tenant = {entry.tenant_id: entry.data["name"] for entry in await workshop.events()}
    assert by_tenant == {"ten_a": "of a", "ten_b": "of b"}
    assert await workshop.marks() == ["counted of a", "counted of b"]


async def test_an_event_nobody_listens_to_is_only_marked(databases, tmp_path):
    async with workshop_on(databases, tmp_path, manifest=here.CLOCKWORK) as workshop:
        async with workshop.context() as ctx:
            ctx.emit(MarkCounted(name="unheard"))
        assert await workshop.drain() == 0
        assert [entry.is_dispatched for entry in await workshop.events()] == [True]


async def test_two_processes_hand_an_event_on_once(workshop: Workshop):
    settings = workshop.instance.settings
    other = await here.open_workshop(settings.data_dir, direct_url(settings), ManualClock())
    for batch in range(5):
        await emit(workshop, *(f"{batch}-{number}" for number in range(20)))
        await asyncio.gather(workshop.drain(), other.drain())
    await here.close_instance(other.instance)
    marks = await workshop.marks()
    assert len(marks) == len(set(marks)) == 100


async def test_a_tenant_with_thousands_of_events_delays_another_by_one_batch(workshop: Workshop):
    await emit(workshop, *(str(number) for number in range(2 * OUTBOX_BATCH_SIZE + 1)), tenant_id="ten_a")
    await emit(workshop, "of b", tenant_id="ten_b")
    relay, waiting = EventDispatcher(workshop.instance), []
    for _ in range(4):
        async with workshop.context() as ctx:
            await relay.run(ctx.unit_of_work)
        left = [entry.tenant_id for entry in await workshop.events() if not entry.is_dispatched]
        waiting.append((left.count("ten_a"), left.count("ten_b")))
    assert waiting == [(OUTBOX_BATCH_SIZE + 1, 1), (OUTBOX_BATCH_SIZE + 1, 0), (1, 0), (0, 0)]


async def test_looking_for_work_reads_nothing_that_was_handed_on(workshop: Workshop):
    """PostgreSQL without statistics is the hard case: to it, every second event may be waiting."""
    database = workshop.instance.database
    unit = UnitOfWork(database, reads_outside_transaction=False)
    system = SystemDb(unit, workshop.instance.clock, workshop.instance.ring)
    old = {"type": "a.b", "category": "a", "correlation_id": "cor_x", "data": {}, "actor": {}}
    await system.insert_many(
        EventEntry(tenant_id="ten_a", created_at=f"2026-{number // 500}", position=number % 500, **old)
        for number in range(3000)
    )
    await system.execute(Statement(sa.update(EventEntry.__table__).values(is_dispatched=sa.true())))
    await unit.commit()
    by_database = database.dialect == "postgresql"
    look = statements(database.dialect, ("default",), by_database=by_database).look
    compiled = look.compiled(database.dialect, narrow=False)
    explain = "EXPLAIN " if by_database else "EXPLAIN QUERY PLAN "
    rows = await database.fetch(explain + compiled.sql, compiled.arguments({"now": 0.0}))
    plan = "\n".join(str(tuple(row)) for row in rows)
    assert "ix_event_log_waiting" in plan, plan
    assert "ix_event_log_tenant" not in plan, plan
