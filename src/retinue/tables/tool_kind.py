"""A data table as a tool: `config.kind = "data_table"`, bound to a table and to what may be done with it."""

from typing import Any, Literal

import msgspec

from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.tool_kinds import ToolRun
from retinue.tables import service

MOST_ROWS = 100


class ToolNotConfigured(RetinueError):
    """config.table_id must name a data table, and config.operations what may be done with it."""

    status, code = 422, "not_configured"


class _Config(msgspec.Struct):
    """Reading is allowed unless the configuration says otherwise; writing only if it says so."""

    table_id: str
    operations: tuple[Literal["query", "insert", "update", "upsert"], ...] = ("query",)
    match: list[str] = []
    max_rows: int = 20


class _Input(msgspec.Struct):
    operation: Literal["query", "insert", "update", "upsert"] = "query"
    filter: dict[str, Any] | None = None
    search: str = ""
    sort: str | None = None
    limit: int | None = None
    row_id: str = ""
    values: dict[str, Any] = {}


async def run(ctx: Context, call: ToolRun) -> Any:
    """What the tool answers: the rows that were found, or the row that was written."""
    config = _read(call.config, _Config)
    wanted = _read(call.input, _Input)
    if config is None:
        raise ToolNotConfigured
    if wanted is None:
        raise Invalid({"input": "must have an operation and what it takes: filter, row_id, values"})
    if wanted.operation not in config.operations:
        raise Invalid({"operation": f"must be one of {', '.join(config.operations)}"})
    if wanted.operation == "query":
        most = max(1, min(config.max_rows, MOST_ROWS))
        limit = most if wanted.limit is None else max(1, min(wanted.limit, most))
        rows = await service.find_rows(
            ctx.apart(),
            config.table_id,
            wanted.filter,
            sort=wanted.sort,
            limit=limit,
            search=wanted.search[:100],
        )
        return {"rows": rows, "count": len(rows)}
    async with ctx.unit() as unit:
        return await _write(unit, config, wanted)


async def _write(ctx: Context, config: _Config, wanted: _Input) -> dict[str, Any]:
    if wanted.operation == "insert":
        return {"row": await service.insert_row(ctx, config.table_id, wanted.values), "action": "created"}
    if wanted.operation == "update":
        row = await service.update_row(ctx, config.table_id, wanted.row_id, wanted.values)
        return {"row": row, "action": "updated"}
    row, action = await service.upsert_row(ctx, config.table_id, config.match, wanted.values)
    return {"row": row, "action": action}


def _read(given: dict[str, Any], shape: type[Any]) -> Any:
    try:
        return msgspec.convert(given, shape)
    except msgspec.ValidationError:
        return None
