from retinue.kit.context import Context
from retinue.kit.errors import FileTooLarge, InvalidTransition, UnsupportedFileType
from retinue.kit.http.replies import ByteStream, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Routes, Upload
from retinue.kit.http.uploads import FormData
from retinue.kit.lists import Page, PageQuery
from retinue.tables import row_requests
from retinue.tables.errors import ImportNotFound, TableBusy
from retinue.tables.filters import WHERE_NAME
from retinue.tables.loaders import TableById
from retinue.tables.queries import IMPORTS
from retinue.tables.schemas import ImportOut, ImportStarted, RowExportQuery, TableImportQuery
from retinue.tables.transfers import exports, imports

IMPORT_UPLOAD = Upload(max_file=imports.MAX_FILE_BYTES, fields=("file",), texts=("mapping", "mode", "match"))

routes = Routes("/api/v1/data-tables/{table_id}", tag="data tables", wrap=True)


@routes.post(
    "/import",
    requires="data_tables:write",
    status=202,
    upload=IMPORT_UPLOAD,
    calls_out=True,
    errors=(FileTooLarge, UnsupportedFileType, TableBusy),
)
async def import_table_rows(
    ctx: Context, table: TableById, form: FormData, query: TableImportQuery
) -> ImportStarted:
    """Start to import a CSV, JSON or XLSX file; the rows are stored in the background.

    Rows with invalid values are skipped and reported in the import. A table has only one running import; a
    second one answers 409 `import_running`. With `dry_run`, the file is read and checked in the same way, but
    no row is stored; `problems` and `sample` of the import say what an import would meet.
    """
    run = await imports.start(ctx, table, form, is_dry_run=query.dry_run)
    return ImportStarted(job_id=run.id)


@routes.get("/imports", requires="data_tables:read", wrap=False)
async def list_table_imports(ctx: Context, table: TableById, query: PageQuery) -> Page[ImportOut]:
    """List the imports of a data table, newest first. Dry runs are found by their id alone."""
    return (await IMPORTS.page(ctx.db, query, table_id=table.id, is_dry_run=False)).to_page(
        ImportOut.from_record
    )


@routes.get("/imports/{import_id}", requires="data_tables:read", errors=(ImportNotFound,))
async def get_table_import(ctx: Context, table: TableById, import_id: str) -> ImportOut:
    """Return the progress of an import and the first 100 rows that were skipped."""
    return ImportOut.from_record(await imports.fetch(ctx, table, import_id))


@routes.post(
    "/imports/{import_id}/cancel", requires="data_tables:write", errors=(ImportNotFound, InvalidTransition)
)
async def cancel_table_import(ctx: Context, table: TableById, import_id: str) -> ImportOut:
    """Stop an import that has not ended.

    Rows that were added so far stay; with the mode `replace`, the table stays unchanged.
    """
    return ImportOut.from_record(await imports.cancel(ctx, table, import_id))


@routes.get("/export", requires="data_tables:read", cost="execute", query_names=WHERE_NAME)
async def export_table_rows(
    ctx: Context, table: TableById, query: RowExportQuery, request: Request
) -> Reply[ByteStream]:
    """Download rows as a file that is streamed while it is generated.

    Cells that a spreadsheet would run as a formula are escaped; an import removes the escape.
    `where[column]=value` narrows the rows as in the list.
    """
    condition = row_requests.parse_condition(table, query.filter, query.search, request.query_pairs())
    fields = row_requests.parse_fields(table, query.fields)
    chunks = exports.export_table(ctx.detached(), table, condition, query.format, fields)
    name = ("Content-Disposition", f'attachment; filename="{table.slug}.{query.format}"')
    return Reply(ByteStream(chunks, exports.MIME_TYPES[query.format]), headers=(name,))
