from enum import StrEnum

from retinue.kit.clock import Instant
from retinue.kit.db.models import TenantRecord, table


class Purpose(StrEnum):
    """What a file is for, which decides its largest size, what may be in it and how long it is kept."""

    form = "form"
    knowledge = "knowledge"
    avatar = "avatar"
    tool = "tool"
    chat = "chat"


@table(
    "files",
    prefix="file",
    unique=[("id",)],
    indexes=[("tenant_id", "purpose", "created_at"), ("tenant_id", "created_at"), ("expires_at",)],
)
class File(TenantRecord, kw_only=True):
    """What is known of stored bytes; the bytes themselves are in the blob store under tenant and id.

    One with `expires_at` waits for someone to claim it, and is removed after that if nobody uses it.
    """

    filename: str
    mime_type: str
    size_bytes: int
    sha256: str
    purpose: str
    created_by: str = ""
    expires_at: Instant | None = None
