from typing import Annotated

from msgspec import Meta

from retinue.chat.engine.attached import AttachmentKind
from retinue.kit.schema.base import Schema

MAX_ATTACHMENTS = 10


class AttachmentRef(Schema, kw_only=True):
    """A file of the files API with the purpose `chat`."""

    file_id: Annotated[str, Meta(min_length=1, max_length=64)]


Attachments = Annotated[list[AttachmentRef], Meta(max_length=MAX_ATTACHMENTS)]


class MessageAttachmentOut(Schema, kw_only=True):
    """A file that was sent with a message."""

    file_id: str
    filename: str
    mime_type: str
    size_bytes: int
    kind: AttachmentKind
    pages: int | None
