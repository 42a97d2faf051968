from enum import StrEnum

from retinue.kit.clock import Instant
from retinue.kit.db.models import TenantRecord, table


class Purpose(StrEnum):
    """The use of a file; it decides size limit, accepted types and lifetime."""

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
    """The metadata of stored bytes; the bytes are in the blob store under tenant and id.

    A file with `expires_at` is deleted then, unless something has claimed it or uses it.
    """

    filename: str
    mime_type: str
    size_bytes: int
    sha256: str
    purpose: str
    created_by: str = ""
    expires_at: Instant | None = None
