"""Images in the results of tools that agents call: models see them as files, never as base64 text.

A tool gives an image as content of MCP, or names a file by `{"$image": {"file_id": "file_1"}}`. It is decoded
and written anew in a confined process, like a picture that a person attaches.
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from retinue.adapters import images
from retinue.adapters.blobs import BlobMissing
from retinue.adapters.images import ImageReaderUnavailable, ImageTooLarge, UnreadableImage
from retinue.adapters.sandbox.reader_places import ReadersBusy
from retinue.files import service as files
from retinue.files.local_copies import temporary_copy, temporary_file
from retinue.files.queries import find_visible
from retinue.kit.errors import UnsupportedFileType
from retinue.tools.executors.call import ExecutorCall
from retinue.tools.models import ToolImage

MAX_RESULT_IMAGES = 4
PURPOSE = "attachment"
IMAGE_KEY = "$image"
_KEPT_SECONDS = 24 * 3600
_MAX_DEPTH = 16
_TOO_MANY = f"Only the first {MAX_RESULT_IMAGES} images of a result are shown."
_NO_FILE = "There is no such file."


async def store_images(call: ExecutorCall, output: object) -> list[ToolImage]:
    """Return the images of a result as stored files; `left_out` in the output says which ones are not."""
    references = list(_references(output))
    found: list[ToolImage] = []
    for block in call.image_blocks:
        async with temporary_file(call.ctx, _in_one_piece(block.content)) as path:
            await _add(call, found, block.shown, path)
    for reference in references:
        await _add_file(call, found, reference)
    return found


async def _add_file(call: ExecutorCall, tool_images: list[ToolImage], reference: dict[str, object]) -> None:
    named = reference[IMAGE_KEY]
    file_id = named.get("file_id") if isinstance(named, dict) else None
    # A tool may name any file, so it must be one that the person may read who asked.
    may_read = isinstance(file_id, str) and bool(call.ctx.principal.owner_id)
    file = await find_visible(call.ctx.detached(), str(file_id)) if may_read else None
    if file is None:
        reference["left_out"] = _NO_FILE
        return
    try:
        async with temporary_copy(call.ctx, file) as path:
            await _add(call, tool_images, reference, path)
    except BlobMissing:
        reference["left_out"] = _NO_FILE


async def _add(
    call: ExecutorCall, tool_images: list[ToolImage], shown: dict[str, object], path: Path
) -> None:
    """Convert and store one image, or say in the output why not."""
    if len(tool_images) >= MAX_RESULT_IMAGES:
        shown["left_out"] = _TOO_MANY
        return
    try:
        image = await images.model_image(path, call.ctx.requester)
    except (
        ImageTooLarge,
        UnreadableImage,
        UnsupportedFileType,
        ImageReaderUnavailable,
        ReadersBusy,
    ) as error:
        shown["left_out"] = error.message
        return
    extension = image.mime_type.partition("/")[2]
    file = await files.store_content(
        call.ctx.detached(),
        image.content,
        purpose=PURPOSE,
        filename=f"{call.tool.slug}-{len(tool_images) + 1}.{extension}",
        mime_type=image.mime_type,
        kept_s=_KEPT_SECONDS,
    )
    if not call.ctx.principal.owner_id:
        # Visitors of a site share its key, so a file for one of them belongs to nobody.
        file.created_by = ""
    async with call.ctx.unit() as unit:
        await unit.db.insert(file)
    tool_images.append(
        ToolImage(
            file_id=file.id, filename=file.filename, mime_type=file.mime_type, size_bytes=file.size_bytes
        )
    )
    shown.setdefault(IMAGE_KEY, {"file_id": file.id})


def _references(value: object, levels: int = _MAX_DEPTH) -> Iterator[dict[str, object]]:
    """Yield the objects that name an image, in the order in which they stand in the output."""
    if isinstance(value, dict):
        if IMAGE_KEY in value:
            yield value
            return
        value = list(value.values())
    if isinstance(value, list) and levels > 0:
        for one in value:
            yield from _references(one, levels - 1)


async def _in_one_piece(content: bytes) -> AsyncIterator[bytes]:
    yield content
