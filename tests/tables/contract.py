"""Objects and calls of data tables for the contract tests."""

from retinue.tables.models import DataTable, TableImport
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.tables import SomeTable, some_table


async def _make(world: World) -> dict[str, str]:
    # A table takes no rows while an import runs.
    is_busy = world.wants("import_id")
    return (await some_table(world.ctx, world.owner.id, world.name, is_busy=is_busy))._asdict()


CONTRACT = DomainContract(
    records=(DataTable, TableImport),
    make=_make,
    uploads={"import_table_rows": ("a.csv", b"title\nFirst\n", "text/csv")},
)


_COUNTED = "data_tables.row_count"
_COLUMNS = "data_tables.columns data_tables.updated_at"


async def _table(scene: Scene) -> SomeTable:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return await some_table(ctx, scene.user.id)


def _path(table: SomeTable) -> dict[str, str]:
    return table._asdict()


@CONTRACT.writes(data_tables=1)
async def create_data_table(scene: Scene) -> Call:
    return Call(scene.me, {"name": "New", "columns": [{"name": "title", "type": "text"}]})


@CONTRACT.writes("data_tables.name data_tables.updated_at")
async def update_data_table(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Other"}, _path(await _table(scene)))


@CONTRACT.writes(f"{_COLUMNS} data_tables.next_key")
async def add_table_column(scene: Scene) -> Call:
    return Call(scene.me, {"name": "more", "type": "text"}, _path(await _table(scene)))


@CONTRACT.writes(_COLUMNS)
async def update_table_column(scene: Scene) -> Call:
    return Call(scene.me, {"name": "heading"}, _path(await _table(scene)))


@CONTRACT.writes(_COUNTED, refuses_unknown=True)
async def create_table_rows(scene: Scene) -> Call:
    return Call(scene.me, {"title": "New"}, _path(await _table(scene)))


@CONTRACT.writes(_COUNTED)
async def upsert_table_rows(scene: Scene) -> Call:
    return Call(scene.me, {"match": ["title"], "rows": [{"title": "New"}]}, _path(await _table(scene)))


@CONTRACT.writes(_COUNTED)
async def delete_table_rows(scene: Scene) -> Call:
    return Call(scene.me, {"filter": [{"size": 1}]}, _path(await _table(scene)))


@CONTRACT.writes(refuses_unknown=True)
async def replace_table_row(scene: Scene) -> Call:
    return Call(scene.me, {"title": "Other"}, _path(await _table(scene)))


@CONTRACT.writes(refuses_unknown=True)
async def update_table_row(scene: Scene) -> Call:
    return Call(scene.me, {"title": "Other"}, _path(await _table(scene)))


@CONTRACT.writes()
async def update_table_rows(scene: Scene) -> Call:
    table = await _table(scene)
    return Call(scene.me, {"rows": [{"id": table.row_id, "title": "Other"}]}, _path(table))


@CONTRACT.writes(_COUNTED)
async def restore_table_rows(scene: Scene) -> Call:
    table = await _table(scene)
    assert (await scene.me.delete(f"/api/v1/data-tables/{table.table_id}/rows/{table.row_id}")).status == 204
    return Call(scene.me, {"row_ids": [table.row_id]}, _path(table))
