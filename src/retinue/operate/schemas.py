from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from retinue.kit.lists import PageQuery
from retinue.kit.schema.base import Schema

_STORED_STATES = {"waiting": "ready", "running": "running", "failed": "dead"}
_STATUSES = {stored: shown for shown, stored in _STORED_STATES.items()}


class CheckStatus(StrEnum):
    ok = "ok"
    warn = "warn"
    fail = "fail"


class CheckOut(Schema, kw_only=True):
    name: str
    status: CheckStatus
    detail: str


class QueueOut(Schema, kw_only=True):
    name: str
    waiting: int
    scheduled: int
    running: int
    failed: int
    oldest_waiting_s: float | None


class MailOut(Schema, kw_only=True):
    transport: str
    waiting: int
    oldest_at: str | None


class StorageOut(Schema, kw_only=True):
    free_bytes: int
    total_bytes: int
    files: str


class LastBackupOut(Schema, kw_only=True):
    created_at: str
    file: str
    bytes: int


class VersionsOut(Schema, kw_only=True):
    retinue: str
    commit: str | None
    python: str
    database: str


class OperateOut(Schema, kw_only=True):
    """The whole instance at a glance, for those who run it."""

    checks: list[CheckOut]
    queues: list[QueueOut]
    mail: MailOut
    storage: StorageOut
    last_backup: LastBackupOut | None
    versions: VersionsOut


class QueuedJobStatus(StrEnum):
    waiting = "waiting"
    running = "running"
    failed = "failed"

    @classmethod
    def of_state(cls, state: str) -> "QueuedJobStatus":
        return cls(_STATUSES[state])


class QueuedJobList(PageQuery, kw_only=True):
    status: QueuedJobStatus | None = None
    queue: Annotated[str, Meta(max_length=100)] | None = None
    kind: Annotated[str, Meta(max_length=100)] | None = None
    tenant_id: Annotated[str, Meta(max_length=64)] | None = None
    sort: str | None = None

    @property
    def state(self) -> str | None:
        return None if self.status is None else _STORED_STATES[self.status]


class QueuedJobOut(Schema, kw_only=True):
    id: str
    tenant_id: str | None
    kind: str
    queue: str
    status: QueuedJobStatus
    attempts: int
    due_at: str
    last_error: str | None
    correlation_id: str
    created_at: str


class WaitingMailList(PageQuery, kw_only=True):
    tenant_id: Annotated[str, Meta(max_length=64)] | None = None


class WaitingMailOut(Schema, kw_only=True):
    id: str
    tenant_id: str
    to: str | None
    subject: str | None
    created_at: str
    job_id: str | None
    status: QueuedJobStatus | None
    attempts: int
    next_attempt_at: str | None
    last_error: str | None
