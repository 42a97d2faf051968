from typing import Annotated

from retinue.chat.engine.attached import AttachmentKind
from retinue.chat.models import Conversation
from retinue.files.models import File
from retinue.kit.db.models import Ref, ServerDefault, TenantRecord, table


@table(
    "conversation_files",
    prefix="cvf",
    unique=[("tenant_id", "message_id", "file_id")],
    indexes=[("tenant_id", "conversation_id"), ("tenant_id", "file_id")],
)
class ConversationFile(TenantRecord, kw_only=True):
    """A file that a message has attached, which lives as long as its conversation."""

    conversation_id: Annotated[str, Ref(Conversation, cascade=True)]
    message_id: str
    file_id: str


@table(
    "file_derivatives",
    prefix="fdv",
    unique=[("tenant_id", "file_id")],
    indexes=[("tenant_id", "derived_file_id"), ("tenant_id", "content_key")],
)
class FileDerivative(TenantRecord, kw_only=True):
    """A file as models get it, made once: an image without metadata, or the text of a document.

    Files with the same `content_key` are converted alike; empty for files of earlier versions.
    """

    file_id: Annotated[str, Ref(File, cascade=True)]
    derived_file_id: str
    kind: AttachmentKind
    mime_type: str
    size_bytes: int
    pages: int | None = None
    characters: int = 0
    content_key: Annotated[str, ServerDefault("''")] = ""
