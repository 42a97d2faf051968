"""Files into tables: taken, then read and stored some rows at a time, with the place reached in the file.

What is stored and how far the file was read are one transaction. A worker that is killed leaves both or
neither, and the next one goes on where the last one was.
"""

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from retinue.adapters.blobs import BlobMissing, Blobs
from retinue.adapters.sheets import FORMATS, Cells, SheetError, read
from retinue.files import service as files
from retinue.files.models import File
from retinue.files.service import blob_key
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, InvalidTransition, UnsupportedFileType
from retinue.kit.failpoints import failpoint
from retinue.kit.http.uploads import FormData
from retinue.kit.jobs.declare import Retry, RetryLater, job
from retinue.tables.erasing import erase
from retinue.tables.errors import ImportNotFound, TableBusy, TableNotFound
from retinue.tables.events import ImportCompleted
from retinue.tables.import_batches import BATCH, Batch, BatchWriter, Superseded
from retinue.tables.import_mapping import MappingFault, read_mapping, read_match
from retinue.tables.loaders import fetch_for_writing
from retinue.tables.models import ENDED, DataTable, ImportMode, ImportStatus, TableImport
from retinue.tables.storage import Layout, new_row_key
from retinue.tables.upserting import hold_table, matched_columns

LARGEST_FILE = 100 * 1024 * 1024
_RETRY = Retry((0, 5, 60, 600))
_MIME_TYPES = {"csv": "text/csv", "json": "application/json", "xlsx": "application/octet-stream"}


class ImportToRun(msgspec.Struct):
    import_id: str


async def start(ctx: Context, table: DataTable, form: FormData) -> TableImport:
    """Keep the file and promise to read it; what can be refused before that is."""
    upload = form.file("file")
    format = PurePosixPath(upload.filename.replace("\\", "/")).suffix.lower().removeprefix(".")
    if format not in FORMATS:
        raise UnsupportedFileType(
            f"The name of the file must end in {', '.join(f'.{one}' for one in FORMATS)}."
        )
    mode = _mode(form.fields.get("mode", "append"))
    layout = Layout(table)
    mapping = read_mapping(form.fields.get("mapping"), layout)
    match = read_match(form.fields.get("match"), is_wanted=mode is ImportMode.upsert)
    if match:
        matched_columns(layout, table, match)
    kept = await files.keep(
        ctx, upload, purpose="table_import", filename=upload.filename, mime_type=_MIME_TYPES[format]
    )
    # In the request's own transaction, with the answer that an Idempotency-Key keeps.
    await ctx.unit_of_work.begin()
    held = await fetch_for_writing(ctx, table.id)
    await refuse_second(ctx, held.id)
    await ctx.db.insert(kept)
    run = await ctx.db.insert(
        TableImport(
            table_id=held.id,
            file_id=kept.id,
            filename=kept.filename,
            format=format,
            mode=mode,
            match=match,
            mapping=mapping,
            row_key=new_row_key() if mode is ImportMode.replacing else held.row_key,
            errors=[],
            created_by=ctx.principal.id,
        )
    )
    ctx.defer(run_import, ImportToRun(run.id), dedupe_key=f"import:{run.id}")
    return run


def _mode(given: str) -> ImportMode:
    try:
        return ImportMode(given)
    except ValueError:
        raise Invalid({"mode": f"must be one of {', '.join(ImportMode)}"}) from None


async def refuse_second(ctx: Context, table_id: str) -> None:
    for status in (ImportStatus.pending, ImportStatus.running):
        if await ctx.db.find(TableImport, table_id=table_id, status=status) is not None:
            raise TableBusy


async def fetch(ctx: Context, table: DataTable, import_id: str) -> TableImport:
    found = await ctx.db.get(TableImport, import_id)
    if found is None or found.table_id != table.id:
        raise ImportNotFound
    return found


async def cancel(ctx: Context, table: DataTable, import_id: str) -> TableImport:
    """Rows that were added or changed so far stay; what a `replace` has read so far goes."""
    await fetch(ctx, table, import_id)
    run = await ctx.db.lock(TableImport, import_id)
    if run is None:
        raise ImportNotFound
    if run.status in ENDED:
        raise InvalidTransition(run.status, ImportStatus.cancelled, [])
    await _end(ctx, run, ImportStatus.cancelled)
    return run


@job(queue="imports", retry=_RETRY, timeout_s=3600, transactional=False, at_once=2)
async def run_import(ctx: Context, payload: ImportToRun) -> None:
    run = await _begin(ctx, payload.import_id)
    if run is None:
        return
    try:
        async with _on_disk(ctx, run) as path:
            run = await _read_all(ctx, run, path)
        await _finish(ctx, run)
    except Superseded:
        return
    except (SheetError, MappingFault, BlobMissing) as error:
        await _fail(ctx, run, error.code, error.message)
    except TableNotFound:
        return
    except RetryLater:
        raise
    except Exception:
        if ctx.caller.attempt >= len(_RETRY.delays):
            await _fail(ctx, run, "internal_error", "The import failed on our side.")
        raise


async def _begin(ctx: Context, import_id: str) -> TableImport | None:
    async with ctx.unit() as unit:
        run = await unit.db.lock(TableImport, import_id)
        if run is None or run.status in ENDED:
            return None
        if run.status is ImportStatus.pending:
            await unit.db.update(run, status=ImportStatus.running, started_at=unit.now)
        return run


@contextlib.asynccontextmanager
async def _on_disk(ctx: Context, run: TableImport) -> AsyncIterator[Path]:
    """A copy for the process that reads it, which sees nothing else; what a crash leaves is swept."""
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


async def _read_all(ctx: Context, run: TableImport, path: Path) -> TableImport:
    """Store every row that is left; the import as it is then."""
    writer = BatchWriter(ctx, run)
    header: list[str] | None = None
    gathered: list[Cells] = []
    rows = read(path, run.format, skip=run.rows_read)
    async with contextlib.aclosing(rows):  # type: ignore[type-var]
        async for some in rows:
            header = some.header
            gathered += some.rows
            while len(gathered) >= BATCH:
                await writer.write(Batch(header, gathered[:BATCH]))
                gathered = gathered[BATCH:]
                failpoint("after_import_batch")
                # On SQLite the statements run here, and others are waiting for their turn.
                await asyncio.sleep(0)
    await writer.write(Batch(header, gathered))
    return writer.run


async def _finish(ctx: Context, run: TableImport) -> None:
    async with ctx.unit() as unit:
        held = await _held(unit, run)
        if held.mode is ImportMode.replacing:
            if not held.rows_created and held.rows_failed:
                error = {
                    "code": "no_rows",
                    "message": "No row of the file could be taken; the table is as it was.",
                }
                await _end(unit, held, ImportStatus.failed, error)
                return
            table = await hold_table(unit, held.table_id)
            erase(unit, table.row_key)
            await unit.db.update(table, row_key=held.row_key, row_count=held.rows_created)
        await _end(unit, held, ImportStatus.completed)


async def _held(unit: Context, run: TableImport) -> TableImport:
    held = await unit.db.lock(TableImport, run.id)
    if held is None or held.status is not ImportStatus.running or held.rows_read != run.rows_read:
        raise Superseded
    return held


async def _fail(ctx: Context, run: TableImport, code: str, message: str) -> None:
    async with ctx.unit() as unit:
        held = await unit.db.lock(TableImport, run.id)
        if held is not None and held.status not in ENDED:
            await _end(unit, held, ImportStatus.failed, {"code": code, "message": message})


async def _end(
    ctx: Context, run: TableImport, status: ImportStatus, error: dict[str, Any] | None = None
) -> None:
    if run.mode is ImportMode.replacing and status is not ImportStatus.completed:
        erase(ctx, run.row_key)
    file = await ctx.db.get(File, run.file_id)
    if file is not None:
        await files.remove(ctx, file)
    await ctx.db.update(run, status=status, error=error, completed_at=ctx.now)
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
