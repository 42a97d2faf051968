"""Imports of files into tables: stored first, then read and written in batches.

Rows and the position in the file are stored in one transaction. If a worker is killed, the next one continues
at that position.
"""

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath

from retinue.adapters.blobs import BlobMissing, Blobs
from retinue.adapters.sheets import FORMATS, Cells, SheetError, read, require_format
from retinue.files import service as files
from retinue.files.models import File
from retinue.files.service import blob_key
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, InvalidTransition, UnsupportedFileType
from retinue.kit.failpoints import failpoint
from retinue.kit.http.uploads import FormData
from retinue.kit.jobs.declare import RetryLater
from retinue.kit.json_types import JsonObject
from retinue.tables.erasure import enqueue_row_erasure
from retinue.tables.errors import ImportNotFound, TableBusy, TableNotFound
from retinue.tables.events import ImportCompleted
from retinue.tables.job_kinds import RUN_IMPORT, ImportToRun
from retinue.tables.loaders import fetch_for_writing
from retinue.tables.models import TERMINAL_STATUSES, DataTable, ImportMode, ImportStatus, TableImport
from retinue.tables.storage import Layout, new_row_key
from retinue.tables.transfers.dry_run import DryRunWriter
from retinue.tables.transfers.import_batches import BATCH_SIZE, BatchWriter, ImportBatch, ImportSuperseded
from retinue.tables.transfers.import_mapping import ImportMappingError, parse_mapping, parse_match
from retinue.tables.upsert_plan import lock_table, matched_columns

MAX_FILE_BYTES = 100 * 1024 * 1024
_MIME_TYPES = {"csv": "text/csv", "json": "application/json", "xlsx": "application/octet-stream"}


async def start(ctx: Context, table: DataTable, form: FormData, *, is_dry_run: bool) -> TableImport:
    """Store the file and enqueue its import, after all checks that need no reading of the file."""
    upload = form.file("file")
    format = PurePosixPath(upload.filename.replace("\\", "/")).suffix.lower().removeprefix(".")
    if format not in FORMATS:
        raise UnsupportedFileType(
            f"The filename must end in {', '.join(f'.{format}' for format in FORMATS)}."
        )
    _require_readable(format)
    mode = _mode(form.fields.get("mode", "append"))
    layout = Layout(table)
    mapping = parse_mapping(form.fields.get("mapping"), layout)
    match = parse_match(form.fields.get("match"), is_wanted=mode is ImportMode.upsert)
    if match:
        matched_columns(layout, table, match)
    file = await files.store_content(
        ctx, upload, purpose="table_import", filename=upload.filename, mime_type=_MIME_TYPES[format]
    )
    # In the request's transaction, together with the response stored for an Idempotency-Key.
    await ctx.unit_of_work.begin()
    locked = await fetch_for_writing(ctx, table.id)
    await require_no_running_import(ctx, locked.id)
    await ctx.db.insert(file)
    run = await ctx.db.insert(
        TableImport(
            table_id=locked.id,
            file_id=file.id,
            filename=file.filename,
            format=format,
            mode=mode,
            match=match,
            mapping=mapping,
            row_key=new_row_key() if mode is ImportMode.replacing else locked.row_key,
            errors=[],
            is_dry_run=is_dry_run,
            created_by=ctx.principal.id,
        )
    )
    ctx.defer(RUN_IMPORT, ImportToRun(run.id), dedupe_key=f"import:{run.id}")
    return run


def _require_readable(format: str) -> None:
    """Refuse a format that this installation cannot read before the file is stored."""
    try:
        require_format(format)
    except SheetError as error:
        raise UnsupportedFileType(error.message) from error


def _mode(text: str) -> ImportMode:
    try:
        return ImportMode(text)
    except ValueError:
        raise Invalid({"mode": f"must be one of {', '.join(ImportMode)}"}) from None


async def require_no_running_import(ctx: Context, table_id: str) -> None:
    for status in (ImportStatus.pending, ImportStatus.running):
        if await ctx.db.find(TableImport, table_id=table_id, status=status) is not None:
            raise TableBusy


async def fetch(ctx: Context, table: DataTable, import_id: str) -> TableImport:
    run = await ctx.db.get(TableImport, import_id)
    if run is None or run.table_id != table.id:
        raise ImportNotFound
    return run


async def cancel(ctx: Context, table: DataTable, import_id: str) -> TableImport:
    """Cancel an import. Rows added or changed so far stay; those of a `replace` are deleted."""
    await fetch(ctx, table, import_id)
    run = await ctx.db.lock(TableImport, import_id)
    if run is None:
        raise ImportNotFound
    if run.status in TERMINAL_STATUSES:
        raise InvalidTransition(run.status, ImportStatus.cancelled, [])
    await _end(ctx, run, ImportStatus.cancelled)
    return run


async def run_import(ctx: Context, payload: ImportToRun) -> None:
    run = await _begin(ctx, payload.import_id)
    if run is None:
        return
    try:
        async with _downloaded(ctx, run) as path:
            run = await _import_rows(ctx, run, path)
        await _finish(ctx, run)
    except ImportSuperseded:
        return
    except (SheetError, ImportMappingError, BlobMissing) as error:
        await _fail(ctx, run, error.code, error.message)
    except TableNotFound:
        return
    except RetryLater:
        raise
    except Exception:
        if ctx.caller.attempt >= RUN_IMPORT.max_attempts:
            await _fail(ctx, run, "internal_error", "The import failed on our side.")
        raise


async def _begin(ctx: Context, import_id: str) -> TableImport | None:
    async with ctx.unit() as unit:
        run = await unit.db.lock(TableImport, import_id)
        if run is None or run.status in TERMINAL_STATUSES:
            return None
        if run.status is ImportStatus.pending:
            await unit.db.update(run, status=ImportStatus.running, started_at=unit.now)
        return run


@contextlib.asynccontextmanager
async def _downloaded(ctx: Context, run: TableImport) -> AsyncIterator[Path]:
    """Yield a local copy for the isolated parser process; a sweep deletes what a crash leaves."""
    file = await ctx.db.get(File, run.file_id)
    if file is None:
        raise BlobMissing
    folder = ctx.settings.data_dir / "tmp"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / secrets.token_hex(16)
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as copy:
            async for piece in await ctx.adapter(Blobs).open(blob_key(file)):
                copy.write(piece)
        yield path
    finally:
        path.unlink(missing_ok=True)


async def _import_rows(ctx: Context, run: TableImport, path: Path) -> TableImport:
    """Store all remaining rows and return the updated import."""
    writer = (DryRunWriter if run.is_dry_run else BatchWriter)(ctx, run)
    header: list[str] | None = None
    buffered: list[Cells] = []
    lines: list[int | None] = []
    rows = read(path, run.format, skip=run.rows_read)
    async with contextlib.aclosing(rows):  # type: ignore[type-var]
        async for batch in rows:
            header = batch.header
            buffered += batch.rows
            lines += batch.lines
            while len(buffered) >= BATCH_SIZE:
                await writer.write(ImportBatch(header, buffered[:BATCH_SIZE], lines[:BATCH_SIZE]))
                buffered, lines = buffered[BATCH_SIZE:], lines[BATCH_SIZE:]
                failpoint("after_import_batch")
                # On SQLite, statements run in this thread; let other tasks have a turn.
                await asyncio.sleep(0)
    await writer.write(ImportBatch(header, buffered, lines))
    return writer.run


async def _finish(ctx: Context, run: TableImport) -> None:
    async with ctx.unit() as unit:
        locked = await _lock_running(unit, run)
        if locked.mode is ImportMode.replacing and not locked.is_dry_run:
            if not locked.rows_created and locked.rows_failed:
                error = {
                    "code": "no_rows",
                    "message": "No row of the file could be imported. The table is unchanged.",
                }
                await _end(unit, locked, ImportStatus.failed, error)
                return
            table = await lock_table(unit, locked.table_id)
            enqueue_row_erasure(unit, table.row_key)
            await unit.db.update(table, row_key=locked.row_key, row_count=locked.rows_created)
        await _end(unit, locked, ImportStatus.completed)


async def _lock_running(unit: Context, run: TableImport) -> TableImport:
    locked = await unit.db.lock(TableImport, run.id)
    if locked is None or locked.status is not ImportStatus.running or locked.rows_read != run.rows_read:
        raise ImportSuperseded
    return locked


async def _fail(ctx: Context, run: TableImport, code: str, message: str) -> None:
    async with ctx.unit() as unit:
        locked = await unit.db.lock(TableImport, run.id)
        if locked is not None and locked.status not in TERMINAL_STATUSES:
            await _end(unit, locked, ImportStatus.failed, {"code": code, "message": message})


async def _end(ctx: Context, run: TableImport, status: ImportStatus, error: JsonObject | None = None) -> None:
    if run.mode is ImportMode.replacing and status is not ImportStatus.completed:
        enqueue_row_erasure(ctx, run.row_key)
    file = await ctx.db.get(File, run.file_id)
    if file is not None:
        await files.remove(ctx, file)
    await ctx.db.update(run, status=status, error=error, completed_at=ctx.now)
    if run.is_dry_run:
        return
    ctx.emit(
        ImportCompleted(
            table_id=run.table_id,
            job_id=run.id,
            status=status,
            mode=run.mode,
            rows_read=run.rows_read,
            rows_created=run.rows_created,
            rows_updated=run.rows_updated,
            rows_failed=run.rows_failed,
        )
    )
