from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import TenantRecord, table
from retinue.kit.json_types import JsonObject


@table("audit_streams", prefix="aus", indexes=[("tenant_id", "created_at"), ("enabled", "due_at")])
class AuditStream(TenantRecord, kw_only=True):
    """A receiver of the tenant's audit rows; `cursor` is the last row that it accepted.

    `header_values` are the headers in full, `headers` masks of them. `due_at` is the time of the next
    attempt.
    """

    name: str
    url: str
    headers: JsonObject
    header_values: Sealed | None = None
    secret: Sealed
    enabled: bool = True
    cursor: int = 0
    due_at: Instant
    failure_count: int = 0
    last_error: str | None = None
    last_sent_at: Instant | None = None
    created_by: str
