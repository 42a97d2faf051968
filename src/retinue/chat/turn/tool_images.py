"""Images in the results of calls: they live as long as their conversation, and the newest are repeated."""

from collections.abc import Iterable, Sequence

import msgspec

from retinue.chat.attachment_models import (
    ConversationFile,
)
from retinue.chat.engine.parts import CalledTool
from retinue.chat.models import (
    Message,
)
from retinue.kit.context import Context
from retinue.tools.models import ToolImage

MAX_REPEATED_IMAGE_BYTES = 10 * 1024 * 1024


async def keep_images(
    unit: Context,
    conversation_id: str,
    message_id: str,
    calls: Iterable[CalledTool],
    earlier: Iterable[CalledTool] = (),
) -> None:
    """Keep the images of a reply with its conversation; those of `earlier` calls are kept already."""
    known = {image.file_id for image in _images_of(earlier)}
    for image in _images_of(calls):
        if image.file_id not in known:
            known.add(image.file_id)
            await unit.db.insert_at_commit(
                ConversationFile(
                    conversation_id=conversation_id, message_id=message_id, file_id=image.file_id
                )
            )


def _images_of(calls: Iterable[CalledTool]) -> list[ToolImage]:
    return [image for call in calls for image in call.images]


def choose_shown(oldest_first: Sequence[Message]) -> frozenset[str]:
    """Return the replies whose images are repeated; those of the newest one always are.

    Past a limit, old ones are left out down to half of it, so that requests begin alike for many turns.
    """
    shown: list[Message] = []
    for message in oldest_first:
        if not _image_bytes(message):
            continue
        shown.append(message)
        if sum(map(_image_bytes, shown)) > MAX_REPEATED_IMAGE_BYTES:
            while len(shown) > 1 and sum(map(_image_bytes, shown)) > MAX_REPEATED_IMAGE_BYTES / 2:
                shown.pop(0)
    return frozenset(message.id for message in shown)


def _image_bytes(message: Message) -> int:
    calls = () if message.details is None else message.details.tool_calls
    return sum(image.size_bytes for image in _images_of(calls) if image.is_shown)


def without_images(images: Iterable[ToolImage]) -> tuple[ToolImage, ...]:
    return tuple(msgspec.structs.replace(image, is_shown=False) for image in images)
