"""The fence narrows, stamps and refuses."""

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.db.errors import RecordGone, ReferenceViolation
from retinue.kit.db.fence import FenceRefused, narrow_to_tenant
from retinue.kit.db.models import metadata
from retinue.kit.db.statements import DIALECTS, Statement
from tests.kit.records import Box, Lid

pytestmark = pytest.mark.every_case

boxes, lids = Box.__table__, Lid.__table__
other = sa.Table("not_ours", sa.MetaData(), sa.Column("id", sa.Text), sa.Column("tenant_id", sa.Text))


def conditions(statement: object) -> int:
    """Return the number of conditions that narrow the compiled statement to a tenant."""
    sql = str(narrow_to_tenant(statement).compile(dialect=DIALECTS["sqlite"]))
    return sql.count("tenant_id = ?")


NARROWED = {
    "select": (sa.select(boxes), 1),
    "one column": (sa.select(boxes.c.name), 1),
    "count": (sa.select(sa.func.count()).select_from(boxes), 1),
    "join": (sa.select(boxes.c.id).select_from(boxes.join(lids, lids.c.box_id == boxes.c.id)), 2),
    "two sources": (sa.select(boxes.c.id, lids.c.id).where(lids.c.box_id == boxes.c.id), 2),
    "alias": (sa.select(boxes.alias("b").c.name), 1),
    "alias of an alias": (sa.select(boxes.alias("b").alias("c").c.name), 1),
    "lateral": (
        sa.select(boxes.c.id, sa.select(lids.c.id).where(lids.c.box_id == boxes.c.id).lateral("l").c.id),
        2,
    ),
    "subquery": (sa.select(sa.select(boxes.c.id).subquery().c.id), 1),
    "scalar subquery": (sa.select(sa.select(sa.func.count(lids.c.id)).scalar_subquery()), 1),
    "exists": (sa.select(boxes.c.id).where(sa.exists().where(lids.c.box_id == boxes.c.id)), 2),
    "in": (sa.select(boxes.c.id).where(boxes.c.id.in_(sa.select(lids.c.box_id))), 2),
    "cte": (sa.select(sa.select(boxes.c.id).cte("c").c.id), 1),
    "union": (sa.union(sa.select(boxes.c.id), sa.select(lids.c.id)), 2),
    "update": (sa.update(boxes).values(size=1), 1),
    "update by subquery": (
        sa.update(boxes).where(boxes.c.id.in_(sa.select(lids.c.box_id))).values(size=1),
        2,
    ),
    "delete": (sa.delete(boxes), 1),
}


@pytest.mark.parametrize("kind", NARROWED)
def test_every_kind_of_statement_is_narrowed_at_every_depth(kind: str) -> None:
    statement, at_least = NARROWED[kind]
    assert conditions(statement) >= at_least


REFUSED = {
    "raw text": sa.text("SELECT * FROM test_boxes"),
    "text inside a select": sa.select(boxes.c.id).where(sa.text("1 = 1")),
    "text as a column": sa.select(sa.text("name")).select_from(boxes),
    "textual select": sa.text("SELECT id FROM test_boxes").columns(boxes.c.id),
    "unknown table": sa.select(other),
    "lightweight table": sa.select(sa.table("test_boxes", sa.column("id"))),
    "insert from select": sa.insert(lids).from_select(["id"], sa.select(boxes.c.id)),
    "moving a row": sa.update(boxes).values(tenant_id="ten_b"),
    "outer join": sa.select(boxes.c.id).select_from(boxes.outerjoin(lids, lids.c.box_id == boxes.c.id)),
    "not a statement": sa.func.now(),
    "update from another table": sa.update(boxes).where(boxes.c.id == lids.c.box_id).values(size=1),
    "update with another table's value": sa.update(boxes).values(name=lids.c.id),
    "delete using another table": sa.delete(boxes).where(boxes.c.id == lids.c.box_id),
    "update of everything": sa.update(boxes),
    "conflict over a value of all tenants": postgresql.insert(boxes).on_conflict_do_update(
        index_elements=["name"], set_={"size": 1}
    ),
    "conflict that moves the row": postgresql.insert(boxes).on_conflict_do_update(
        index_elements=["tenant_id", "name"], set_={"tenant_id": "ten_b"}
    ),
    "insert inside a select": sa.select(
        sa.insert(boxes).values(id="x", tenant_id="ten_b").returning(boxes.c.id).cte("c").c.id
    ),
    "delete inside an insert": sa.insert(boxes).add_cte(sa.delete(lids).cte("gone")),
    "text as a literal column": sa.select(sa.literal_column("(SELECT secret FROM test_boxes)")),
    "text behind a select": sa.select(boxes.c.id).suffix_with("UNION ALL SELECT id FROM test_boxes"),
    "text before a select": sa.select(boxes.c.id).prefix_with("x"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_narrowed_is_refused(kind: str) -> None:
    with pytest.raises(FenceRefused):
        narrow_to_tenant(REFUSED[kind])


def test_an_insert_is_stamped_whatever_tenant_it_names() -> None:
    made = narrow_to_tenant(sa.insert(boxes).values(id="x", tenant_id="ten_b")).compile(
        dialect=DIALECTS["sqlite"]
    )
    assert "fence_tenant" in made.params
    assert "ten_b" not in made.params.values()


@pytest.mark.parametrize("table", [table for table in metadata.sorted_tables if "tenant_id" in table.c])
def test_every_reference_between_tenant_tables_carries_the_tenant(table: sa.Table) -> None:
    for constraint in table.foreign_key_constraints:
        if "tenant_id" in constraint.referred_table.c:
            assert "tenant_id" in constraint.column_keys, f"{table.name} → {constraint.referred_table.name}"


async def test_another_tenants_row_is_not_there(door) -> None:
    unit, mine = door("ten_a")
    box = await mine.insert(Box(name="mine"))
    await unit.commit()
    unit, theirs = door("ten_b")
    assert await theirs.get(Box, box.id) is None
    assert await theirs.find(Box, name="mine") is None
    assert await theirs.all(Box) == []
    assert await theirs.count(Box) == 0
    with pytest.raises(RecordGone):
        await theirs.update(box, size=99)
    await theirs.delete(box)
    await unit.commit()
    unit, mine = door("ten_a")
    kept = await mine.get(Box, box.id)
    assert kept is not None
    assert kept.size == 0
    await unit.rollback()


async def test_a_reference_into_another_tenant_cannot_be_stored(door) -> None:
    unit, mine = door("ten_a")
    box = await mine.insert(Box(name="mine"))
    await unit.commit()
    unit, theirs = door("ten_b")
    with pytest.raises(ReferenceViolation):
        await theirs.insert(Lid(box_id=box.id))
    await unit.rollback()


async def test_a_record_of_another_tenant_is_refused(door) -> None:
    unit, mine = door("ten_a")
    with pytest.raises(FenceRefused):
        await mine.insert(Box(name="x", tenant_id="ten_b"))
    await unit.rollback()


async def test_a_narrowed_statement_without_a_tenant_does_not_run(system_door) -> None:
    unit, system = system_door()
    narrowed = Statement(narrow_to_tenant(sa.select(boxes.c.id)))
    with pytest.raises(FenceRefused):
        await system.rows(narrowed)
    await unit.rollback()


def test_a_conflict_within_the_tenant_may_change_its_row() -> None:
    statement = (
        postgresql.insert(boxes)
        .values(id="box_x")
        .on_conflict_do_update(index_elements=["tenant_id", "name"], set_={"size": 1})
    )
    assert "fence_tenant" in narrow_to_tenant(statement).compile(dialect=DIALECTS["postgresql"]).params
