"""Content of attached files, read when a prompt is built or a model is called.

Images are not kept between the rounds of a turn or in suspended turns: the conversation only names them.
"""

import asyncio
import base64
from collections.abc import Iterable

import msgspec

from retinue.adapters.images import MAX_MODEL_IMAGE_BYTES
from retinue.adapters.llm import ChatRequest, ContentPart, ImageData, ModelMessage, TextContent
from retinue.chat.engine.attached import PAGE_SEPARATOR, Attachment
from retinue.files.local_copies import read_start
from retinue.kit.context import Context

MAX_STORED_CHARACTERS = 2_000_000
_MAX_BYTES_PER_CHARACTER = 4
_IMAGE_GONE = TextContent("(This image was deleted.)")
_IMAGE_UNSEEN = TextContent("(This model cannot see images.)")


async def load_texts(ctx: Context, attachments: Iterable[Attachment]) -> dict[str, str]:
    """Return the texts of documents by derived file, as far as prompts show them, unless deleted."""
    lengths: dict[str, int] = {}
    for attachment in attachments:
        if attachment.is_converted and not attachment.is_image:
            longest = max(lengths.get(attachment.derived_file_id, 0), attachment.shown_characters)
            lengths[attachment.derived_file_id] = longest
    texts: dict[str, str] = {}
    for file_id, length in lengths.items():
        content = await read_start(ctx, file_id, length * _MAX_BYTES_PER_CHARACTER)
        if content is not None:
            texts[file_id] = content.decode(errors="ignore")
    return texts


async def load_page(ctx: Context, attachment: Attachment, number: int) -> tuple[str, int] | None:
    """Return the text of a page and the number of pages; None if the file or the page does not exist."""
    max_bytes = MAX_STORED_CHARACTERS * _MAX_BYTES_PER_CHARACTER
    content = await read_start(ctx, attachment.derived_file_id, max_bytes)
    if content is None:
        return None
    pages = (await asyncio.to_thread(content.decode, errors="ignore")).split(PAGE_SEPARATOR)
    return (pages[number - 1], len(pages)) if 1 <= number <= len(pages) else None


def has_images(request: ChatRequest) -> bool:
    return any(
        isinstance(message.content, tuple) and any(isinstance(part, ImageData) for part in message.content)
        for message in request.messages
    )


def without_images(request: ChatRequest) -> ChatRequest:
    """Return the request for a model that cannot see."""
    messages = tuple(
        _replaced(message, dict.fromkeys(_images_of(message), _IMAGE_UNSEEN)) for message in request.messages
    )
    return msgspec.structs.replace(request, messages=messages)


async def with_images(ctx: Context, request: ChatRequest) -> ChatRequest:
    """Return the request with the content of its stored images."""
    loaded: dict[ContentPart, ContentPart] = {}
    for message in request.messages:
        for part in _images_of(message):
            if part not in loaded:
                loaded[part] = await _load_image(ctx, part)
    messages = tuple(_replaced(message, loaded) for message in request.messages)
    return msgspec.structs.replace(request, messages=messages)


async def _load_image(ctx: Context, image: ImageData) -> ContentPart:
    if image.base64:
        return image
    content = await read_start(ctx, image.file_id, MAX_MODEL_IMAGE_BYTES)
    if content is None:
        return _IMAGE_GONE
    encoded = await asyncio.to_thread(base64.b64encode, content)
    return ImageData(image.mime_type, encoded.decode())


def _images_of(message: ModelMessage) -> list[ImageData]:
    if isinstance(message.content, str):
        return []
    return [part for part in message.content if isinstance(part, ImageData)]


def _replaced(message: ModelMessage, replacements: dict[ContentPart, ContentPart]) -> ModelMessage:
    if isinstance(message.content, str) or not replacements:
        return message
    content = tuple(replacements.get(part, part) for part in message.content)
    return msgspec.structs.replace(message, content=content)
