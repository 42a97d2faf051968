from retinue.kit.context import Context
from retinue.kit.errors import FileTooLarge, InvalidTransition, UnsupportedFileType
from retinue.kit.http.replies import ByteStream, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes, Upload
from retinue.kit.http.uploads import FormData
from retinue.kit.lists import Page, PageQuery
from retinue.tables import exporting, importing, reading
from retinue.tables.errors import ImportNotFound, TableBusy
from retinue.tables.loaders import TableById
from retinue.tables.queries import IMPORTS
from retinue.tables.schemas import ExportQuery, ImportOut, ImportStarted

IMPORT = Upload(max_file=importing.LARGEST_FILE, fields=("file",), texts=("mapping", "mode", "match"))

routes = Routes("/api/v1/data-tables/{table_id}", tag="data tables", wrap=True)


@routes.post(
    "/import",
    requires="data_tables:write",
    status=202,
    upload=IMPORT,
    calls_out=True,
    errors=(FileTooLarge, UnsupportedFileType, TableBusy),
)
async def import_table_rows(ctx: Context, table: TableById, form: FormData) -> ImportStarted:
    """A .csv, .json or .xlsx file; `mode` is append, upsert (with `match`) or replace."""
    return ImportStarted(job_id=(await importing.start(ctx, table, form)).id)


@routes.get("/imports", requires="data_tables:read", wrap=False)
async def list_table_imports(ctx: Context, table: TableById, query: PageQuery) -> Page[ImportOut]:
    return (await IMPORTS.page(ctx.db, query, table_id=table.id)).shown(ImportOut.of)


@routes.get("/imports/{import_id}", requires="data_tables:read", errors=(ImportNotFound,))
async def get_table_import(ctx: Context, table: TableById, import_id: str) -> ImportOut:
    """How far it is, and the first hundred rows that were left out."""
    return ImportOut.of(await importing.fetch(ctx, table, import_id))


@routes.post(
    "/imports/{import_id}/cancel", requires="data_tables:write", errors=(ImportNotFound, InvalidTransition)
)
async def cancel_table_import(ctx: Context, table: TableById, import_id: str) -> ImportOut:
    """What was added so far stays, except with `replace`, where the table is as it was."""
    return ImportOut.of(await importing.cancel(ctx, table, import_id))


@routes.get("/export", requires="data_tables:read", cost="execute")
async def export_table_rows(
    ctx: Context, table: TableById, query: ExportQuery, request: Request
) -> Reply[ByteStream]:
    """The rows as a file that is made while it is sent."""
    condition = reading.condition(table, query.filter, query.search, request.query_pairs())
    fields = reading.fields(table, query.fields)
    chunks = exporting.file(ctx.apart(), table, condition, query.format, fields)
    name = ("Content-Disposition", f'attachment; filename="{table.slug}.{query.format}"')
    return Reply(ByteStream(chunks, exporting.MIME_TYPES[query.format]), headers=(name,))
