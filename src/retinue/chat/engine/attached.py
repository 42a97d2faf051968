"""Attached files in prompts: images as they are, documents and recordings as fenced text (ADR 30).

A message is sent again in later turns exactly as it was sent at first, so everything here depends only on
what is stored with the message.
"""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec

from retinue.adapters.llm import ContentPart, ImageData, ModelMessage, TextContent
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.parts import TRUNCATED_WARNING_PREFIX

MAX_DOCUMENT_CHARACTERS = 60_000
MAX_MESSAGE_DOCUMENT_CHARACTERS = 120_000
READ_ATTACHMENT = "read_attachment"
PAGE_SEPARATOR = "\n\f"
"""Stands between the pages of a stored text; the texts themselves have no form feeds."""

_MAX_LABEL_LENGTH = 80
_UNUSUAL = re.compile(r"[^\w .,()+-]")


class AttachmentKind(StrEnum):
    image = "image"
    document = "document"
    audio = "audio"


class Attachment(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A file that a message has attached, stored with the message.

    `derived_file_id` is what models get of it, once converted: an image without metadata, or a text.
    `characters` is the length of that text, and `shown_characters` how much of it the prompt holds.
    """

    file_id: str
    filename: str
    mime_type: str
    size_bytes: int
    kind: AttachmentKind
    pages: int | None = None
    derived_file_id: str = ""
    derived_mime_type: str = ""
    derived_bytes: int = 0
    characters: int = 0
    shown_characters: int = 0

    @property
    def is_image(self) -> bool:
        return self.kind is AttachmentKind.image

    @property
    def is_converted(self) -> bool:
        return bool(self.derived_file_id)

    @property
    def is_truncated(self) -> bool:
        return self.shown_characters < self.characters


def with_shares(attachments: Sequence[Attachment]) -> tuple[Attachment, ...]:
    """Return the attachments of one message, each with the part of its text that the prompt has room for."""
    left, shared = MAX_MESSAGE_DOCUMENT_CHARACTERS, []
    for attachment in attachments:
        shown = min(attachment.characters, MAX_DOCUMENT_CHARACTERS, left)
        left -= shown
        shared.append(msgspec.structs.replace(attachment, shown_characters=shown))
    return tuple(shared)


def truncation_warnings(attachments: Sequence[Attachment]) -> tuple[str, ...]:
    return tuple(
        f"{TRUNCATED_WARNING_PREFIX}{attachment.filename}"
        for attachment in attachments
        if attachment.is_truncated
    )


def user_message(text: str, parts: Sequence[ContentPart]) -> ModelMessage:
    """Return a message of the user with its attachments behind it."""
    return ModelMessage(role="user", content=(TextContent(text), *parts) if parts else text)


def attachment_parts(
    attachments: Sequence[Attachment], texts: Mapping[str, str], fence: PromptFence
) -> tuple[ContentPart, ...]:
    """Return the attachments as the model gets them; `texts` holds those of documents by derived file."""
    parts: list[ContentPart] = []
    for attachment in attachments:
        if attachment.is_image and attachment.is_converted:
            parts.append(TextContent(f"(Attached image: {_label(attachment)})"))
            parts.append(
                ImageData(attachment.derived_mime_type, base64="", file_id=attachment.derived_file_id)
            )
        elif attachment.derived_file_id in texts:
            parts.append(TextContent(_fenced(attachment, texts[attachment.derived_file_id], fence)))
        else:
            parts.append(left_out(attachment))
    return tuple(parts)


def left_out(attachment: Attachment) -> TextContent:
    """Return the line that stands for an attachment that is gone, or no longer repeated."""
    where = "" if attachment.is_image else f"; {READ_ATTACHMENT} may still read it"
    return TextContent(f"(Attached {attachment.kind}: {_label(attachment)}, left out here{where}.)")


def _fenced(attachment: Attachment, text: str, fence: PromptFence) -> str:
    shown = text[: attachment.shown_characters].replace(PAGE_SEPARATOR, "\n\n")
    heading = f"Attached {attachment.kind}: {_label(attachment)}\n{fence.note}\n{fence.around(shown)}"
    if not attachment.is_truncated:
        return heading
    return (
        f"{heading}\n(Cut off after {attachment.shown_characters} of {attachment.characters} characters; "
        f"{READ_ATTACHMENT} reads any page.)"
    )


def _label(attachment: Attachment) -> str:
    """Return name and id on one line; a file's name may say anything."""
    name = _UNUSUAL.sub("_", attachment.filename)[:_MAX_LABEL_LENGTH]
    return f"{name}, file_id {attachment.file_id}"
