from retinue.kit.clock import Instant
from retinue.kit.db.models import TenantRecord, table


@table("files", prefix="file", unique=[("id",)], indexes=[("tenant_id", "purpose", "created_at")])
class File(TenantRecord, kw_only=True):
    """What is known of stored bytes; the bytes themselves are in the blob store under tenant and id."""

    filename: str
    mime_type: str
    size_bytes: int
    sha256: str
    purpose: str
    created_by: str = ""
    expires_at: Instant | None = None
