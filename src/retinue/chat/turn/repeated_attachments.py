"""Attachments of earlier messages: repeated in each request until they are too many."""

from collections.abc import Iterable, Sequence

import msgspec

from retinue.adapters.llm import ContentPart
from retinue.chat.engine.attached import Attachment, attachment_parts, left_out
from retinue.chat.engine.attachment_content import load_texts
from retinue.chat.engine.fence import PromptFence
from retinue.chat.models import Message
from retinue.kit.context import Context

MAX_REPEATED_CHARACTERS = 180_000
MAX_REPEATED_IMAGE_BYTES = 10 * 1024 * 1024


class RepeatedAttachments(msgspec.Struct, frozen=True):
    """The attachments of a history by message, and the documents that the model may read further in."""

    parts: dict[str, tuple[ContentPart, ...]] = {}
    documents: tuple[Attachment, ...] = ()


async def load_repeated(
    ctx: Context, oldest_first: Sequence[Message], fence: PromptFence, left_out_up_to: int = 0
) -> RepeatedAttachments:
    """Return the attachments of these messages; a history without any costs nothing.

    Those of messages up to the position `left_out_up_to` are no longer repeated.
    """
    attaching = [message for message in oldest_first if message.attachments]
    if not attaching:
        return RepeatedAttachments()
    repeated = _choose_repeated([one for one in attaching if one.position > left_out_up_to])
    texts = await load_texts(ctx, _attachments_of(repeated))
    kept = {message.id for message in repeated}
    parts = {
        message.id: attachment_parts(message.attachments or (), texts, fence)
        if message.id in kept
        else tuple(map(left_out, message.attachments or ()))
        for message in attaching
    }
    is_all_shown = len(kept) == len(attaching)
    return RepeatedAttachments(
        parts, readable_documents(_attachments_of(attaching), is_all_shown=is_all_shown)
    )


def readable_documents(
    attachments: Iterable[Attachment], *, is_all_shown: bool = True
) -> tuple[Attachment, ...]:
    """Return the documents if the prompt does not hold all of their text."""
    documents = tuple(attachment for attachment in attachments if not attachment.is_image)
    needs_reading = not is_all_shown or any(document.is_truncated for document in documents)
    return documents if needs_reading else ()


def _choose_repeated(attaching: Sequence[Message]) -> list[Message]:
    """Return the messages whose attachments are repeated; the newest ones always are.

    Past a limit, old ones are left out down to half of it, so that requests begin alike for many turns.
    """
    repeated: list[Message] = []
    for message in attaching:
        repeated.append(message)
        if _fill_level(repeated) > 1:
            while len(repeated) > 1 and _fill_level(repeated) > 1 / 2:
                repeated.pop(0)
    return repeated


def _fill_level(messages: Sequence[Message]) -> float:
    characters = sum(attachment.shown_characters for attachment in _attachments_of(messages))
    image_bytes = sum(
        attachment.derived_bytes for attachment in _attachments_of(messages) if attachment.is_image
    )
    return max(characters / MAX_REPEATED_CHARACTERS, image_bytes / MAX_REPEATED_IMAGE_BYTES)


def _attachments_of(messages: Iterable[Message]) -> list[Attachment]:
    return [attachment for message in messages for attachment in message.attachments or ()]
