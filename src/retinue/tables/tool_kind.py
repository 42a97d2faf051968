"""Data tables as tools: `config.kind = "data_table"`, bound to a table and the allowed operations."""

from typing import Any, Literal

import msgspec

from retinue.kit.context import Context
from retinue.kit.context.tool_kinds import ToolConfig, ToolKind, ToolRun, parse_tool_config
from retinue.kit.errors import InternalError, Invalid
from retinue.kit.json_types import JsonObject
from retinue.tables import service

MAX_ROWS = 100


class TableToolNotConfigured(InternalError):
    """Set config.table_id to a data table and config.operations to the allowed operations."""

    code = "not_configured"
    shown_in = "tool executions"


class DataTableToolConfig(ToolConfig, kw_only=True):
    """Configuration of a `custom` tool that reads or writes rows of a data table."""

    kind: Literal["data_table"]
    table_id: str
    operations: tuple[Literal["query", "insert", "update", "upsert"], ...] = ("query",)
    match: list[str] = []
    max_rows: int = 20


class _Input(msgspec.Struct):
    operation: Literal["query", "insert", "update", "upsert"] = "query"
    filter: JsonObject | None = None
    search: str = ""
    sort: str | None = None
    limit: int | None = None
    row_id: str = ""
    values: JsonObject = {}


async def run(ctx: Context, call: ToolRun) -> Any:
    """Return the rows of a query, or the row that was written."""
    config = parse_tool_config(call, DataTableToolConfig, TableToolNotConfigured)
    try:
        request = msgspec.convert(call.input, _Input)
    except msgspec.ValidationError:
        problem = "must have an operation and its arguments: filter, row_id, values"
        raise Invalid({"input": problem}) from None
    if request.operation not in config.operations:
        raise Invalid({"operation": f"must be one of {', '.join(config.operations)}"})
    if request.operation == "query":
        max_rows = max(1, min(config.max_rows, MAX_ROWS))
        limit = max_rows if request.limit is None else max(1, min(request.limit, max_rows))
        rows = await service.find_rows(
            ctx.detached(),
            config.table_id,
            request.filter,
            sort=request.sort,
            limit=limit,
            search=request.search[:100],
        )
        return {"rows": rows, "count": len(rows)}
    async with ctx.unit() as unit:
        return await _write(unit, config, request)


async def _write(ctx: Context, config: DataTableToolConfig, request: _Input) -> JsonObject:
    if request.operation == "insert":
        return {"row": await service.insert_row(ctx, config.table_id, request.values), "action": "created"}
    if request.operation == "update":
        row = await service.update_row(ctx, config.table_id, request.row_id, request.values)
        return {"row": row, "action": "updated"}
    row, action = await service.upsert_row(ctx, config.table_id, config.match, request.values)
    return {"row": row, "action": action}


TOOL_KIND = ToolKind(name="data_table", run=run, config=DataTableToolConfig)
