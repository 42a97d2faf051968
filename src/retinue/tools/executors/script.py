"""`script`: a file of the operator's or an uploaded one, which reads the input and prints the output."""

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
from retinue.tools.calls import Call
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors.configs import ScriptConfig, read_config
from retinue.tools.executors.sandboxed import packages_of, run_code, runtime_of

PURPOSE = "tool"

_LARGEST = 1024 * 1024
_SUFFIXES = (".py", ".js", ".mjs", ".cjs")


async def run(call: Call) -> Any:
    config = read_config(call.config, ScriptConfig)
    runtime, packages = runtime_of(config.runtime), packages_of(call)
    async with _file(call, config.entrypoint) as path:
        return await run_code(call, Code(runtime=runtime, entrypoint=path, packages=packages))


@contextlib.asynccontextmanager
async def _file(call: Call, entrypoint: str) -> AsyncIterator[Path]:
    if entrypoint.startswith(f"{File.__prefix__}_"):
        async with call.ctx.unit() as unit:
            uploaded = await unit.db.find(File, id=entrypoint, purpose=PURPOSE)
        if uploaded is not None:
            async with _copied(call, uploaded) as path:
                yield path
            return
    yield await asyncio.to_thread(_below, call.ctx.settings.data_dir / "scripts", entrypoint)


def _below(folder: Path, entrypoint: str) -> Path:
    """A file of the operator's; where links lead counts, not where they lie."""
    scripts = folder.resolve()
    try:
        path = (scripts / entrypoint).resolve(strict=True)
    except (OSError, ValueError):
        path = scripts
    if not path.is_relative_to(scripts) or not path.is_file():
        raise ExecutionFailed("not_configured", "config.entrypoint names no file below the scripts folder.")
    return path


@contextlib.asynccontextmanager
async def _copied(call: Call, uploaded: File) -> AsyncIterator[Path]:
    """An uploaded file for as long as it runs, among the files of the data dir and under a name of ours."""
    home = call.ctx.settings.data_dir / "files" / uploaded.tenant_id
    suffix = Path(uploaded.filename).suffix
    content = await _content(call, uploaded)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    # The dot keeps it apart from what is stored there for good.
    with tempfile.TemporaryDirectory(dir=home, prefix=".") as folder:
        path = Path(folder, f"main{suffix if suffix in _SUFFIXES else ''}")
        await asyncio.to_thread(path.write_bytes, content)
        yield path


async def _content(call: Call, uploaded: File) -> bytes:
    if uploaded.size_bytes > _LARGEST:
        raise ExecutionFailed("not_configured", "The uploaded script is larger than 1 MiB.")
    try:
        pieces = await call.ctx.adapter(Blobs).open(blob_key(uploaded))
    except BlobMissing as missing:
        raise ExecutionFailed("not_configured", missing.message) from None
    return b"".join([piece async for piece in pieces])
