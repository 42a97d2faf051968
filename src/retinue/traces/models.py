from enum import StrEnum
from typing import ClassVar

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Record, TenantRecord, table
from retinue.kit.json_types import JsonObject


class OtlpEncoding(StrEnum):
    protobuf = "protobuf"
    json = "json"


PROGRESS_COLUMNS = (
    "due_at",
    "failure_count",
    "failing_since",
    "last_error",
    "last_sent_at",
    "sent_spans",
    "dropped_spans",
)


@table("trace_exporters", prefix="tex", indexes=[("tenant_id", "created_at"), ("enabled", "due_at")])
class TraceExporter(TenantRecord, kw_only=True):
    """A receiver of the tenant's traces.

    `header_values` are the headers in full, `headers` masks of them. `due_at` is the time of the next
    attempt, `failing_since` that of the first failure after the last success.
    """

    __untagged__: ClassVar[frozenset[str]] = frozenset({*PROGRESS_COLUMNS, "updated_at"})

    name: str
    endpoint: str
    headers: JsonObject
    header_values: Sealed | None = None
    encoding: OtlpEncoding = OtlpEncoding.protobuf
    include_content: bool = False
    sample: float = 1.0
    enabled: bool = True
    due_at: Instant
    failure_count: int = 0
    failing_since: Instant | None = None
    last_error: str | None = None
    last_sent_at: Instant | None = None
    sent_spans: int = 0
    dropped_spans: int = 0
    created_by: str


@table("instance_trace_export", prefix="txi")
class InstanceTraceExport(Record, kw_only=True):
    """The progress of the exporter that the operator configures; there is one row."""

    due_at: Instant
    failure_count: int = 0
    failing_since: Instant | None = None
    last_error: str | None = None
    last_sent_at: Instant | None = None
    sent_spans: int = 0
    dropped_spans: int = 0
