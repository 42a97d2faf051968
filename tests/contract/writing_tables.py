"""How the routes of data tables are called so that they succeed, and what that may change."""

from tests.contract.writing import Call, Scene, writes
from tests.factories.tables import SomeTable, some_table

_COUNTED = "data_tables.row_count"
_COLUMNS = "data_tables.columns data_tables.updated_at"


async def _table(scene: Scene) -> SomeTable:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        return await some_table(ctx, scene.user.id)


def _path(table: SomeTable) -> dict[str, str]:
    return table._asdict()


@writes(data_tables=1)
async def create_data_table(scene: Scene) -> Call:
    return Call(scene.me, {"name": "New", "columns": [{"name": "title", "type": "text"}]})


@writes("data_tables.name data_tables.updated_at")
async def update_data_table(scene: Scene) -> Call:
    return Call(scene.me, {"name": "Other"}, _path(await _table(scene)))


@writes(f"{_COLUMNS} data_tables.next_key")
async def add_table_column(scene: Scene) -> Call:
    return Call(scene.me, {"name": "more", "type": "text"}, _path(await _table(scene)))


@writes(_COLUMNS)
async def update_table_column(scene: Scene) -> Call:
    return Call(scene.me, {"name": "heading"}, _path(await _table(scene)))


@writes(_COUNTED)
async def create_table_rows(scene: Scene) -> Call:
    return Call(scene.me, {"title": "New"}, _path(await _table(scene)))


@writes(_COUNTED)
async def upsert_table_rows(scene: Scene) -> Call:
    return Call(scene.me, {"match": ["title"], "rows": [{"title": "New"}]}, _path(await _table(scene)))


@writes(_COUNTED)
async def delete_table_rows(scene: Scene) -> Call:
    return Call(scene.me, {"filter": [{"size": 1}]}, _path(await _table(scene)))


@writes()
async def replace_table_row(scene: Scene) -> Call:
    return Call(scene.me, {"title": "Other"}, _path(await _table(scene)))


@writes()
async def update_table_row(scene: Scene) -> Call:
    return Call(scene.me, {"title": "Other"}, _path(await _table(scene)))
