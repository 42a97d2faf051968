"""`script`: an operator's or an uploaded file that reads the input and prints the output."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from retinue.adapters.blobs import BlobMissing, Blobs
from retinue.adapters.sandbox import Code
from retinue.files.models import File
from retinue.files.service import blob_key
from retinue.kit.durable_files import create_private_file, make_private_folder
from retinue.tools.config.shapes import ScriptToolConfig, parse_run_config
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors.call import ExecutorCall
from retinue.tools.executors.sandbox import require_packages, require_runtime, run_code

PURPOSE = "tool"

_MAX_SCRIPT_BYTES = 1024 * 1024
_SUFFIXES = (".py", ".js", ".mjs", ".cjs")


async def run(call: ExecutorCall) -> Any:
    config = parse_run_config(call.config, ScriptToolConfig)
    runtime, packages = require_runtime(config.runtime), require_packages(call)
    async with _script_file(call, config.entrypoint) as path:
        return await run_code(call, Code(runtime=runtime, entrypoint=path, packages=packages))


@contextlib.asynccontextmanager
async def _script_file(call: ExecutorCall, entrypoint: str) -> AsyncIterator[Path]:
    if entrypoint.startswith(f"{File.__prefix__}_"):
        async with call.ctx.unit() as unit:
            uploaded = await unit.db.find(File, id=entrypoint, purpose=PURPOSE)
        if uploaded is not None:
            async with _uploaded_copy(call, uploaded) as path:
                yield path
            return
    yield await asyncio.to_thread(_operator_file, call.ctx.settings.data_dir / "scripts", entrypoint)


def _operator_file(folder: Path, entrypoint: str) -> Path:
    """Return a file below the scripts folder, after resolving symbolic links."""
    scripts = folder.resolve()
    try:
        path = (scripts / entrypoint).resolve(strict=True)
    except (OSError, ValueError):
        path = scripts
    if not path.is_relative_to(scripts) or not path.is_file():
        raise ExecutionFailed("not_configured", "config.entrypoint is not a file below the scripts folder.")
    return path


@contextlib.asynccontextmanager
async def _uploaded_copy(call: ExecutorCall, uploaded: File) -> AsyncIterator[Path]:
    """Copy an uploaded file into the data directory while it runs, under a fixed name."""
    tenant_folder = call.ctx.settings.data_dir / "files" / uploaded.tenant_id
    suffix = Path(uploaded.filename).suffix
    content = await _read_upload(call, uploaded)
    make_private_folder(tenant_folder)
    # The dot distinguishes it from files that are stored permanently.
    with tempfile.TemporaryDirectory(dir=tenant_folder, prefix=".") as folder:
        path = Path(folder, f"main{suffix if suffix in _SUFFIXES else ''}")
        await asyncio.to_thread(create_private_file, path, content)
        yield path


async def _read_upload(call: ExecutorCall, uploaded: File) -> bytes:
    if uploaded.size_bytes > _MAX_SCRIPT_BYTES:
        raise ExecutionFailed("not_configured", "The uploaded script is larger than 1 MiB.")
    try:
        pieces = await call.ctx.adapter(Blobs).open(blob_key(uploaded))
    except BlobMissing as missing:
        raise ExecutionFailed("not_configured", missing.message) from None
    return b"".join([piece async for piece in pieces])
