from enum import StrEnum
from typing import Annotated, Any

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.db.models import Ref, TenantRecord, index_where, table
from retinue.kit.db.word_index import word_index


class FormStatus(StrEnum):
    draft = "draft"
    published = "published"
    archived = "archived"


class SubmissionStatus(StrEnum):
    received = "received"
    processed = "processed"
    archived = "archived"


class FormConversationStatus(StrEnum):
    active = "active"
    completed = "completed"
    abandoned = "abandoned"
    cancelled = "cancelled"


class DataTableConfig(msgspec.Struct, kw_only=True):
    """Where submissions go as rows; a field that is not mapped goes to the column of its own name."""

    table_id: str
    auto_save: bool = False
    field_mapping: dict[str, str] = {}


@table(
    "forms",
    prefix="frm",
    unique=[("slug",)],
    indexes=[("tenant_id", "created_at"), ("tenant_id", "status", "created_at")],
)
class Form(TenantRecord, kw_only=True):
    """What is asked for; the slug is one of a kind in the whole instance, and is never given twice."""

    name: str
    slug: str
    description: str = ""
    status: FormStatus = FormStatus.draft
    version: int = 1
    fields: list[dict[str, Any]]
    settings: dict[str, Any] = {}
    branding: dict[str, Any] = {}
    workflow_id: str | None = None
    data_table_config: DataTableConfig | None = None
    published_at: Instant | None = None
    created_by: str


@table("form_versions", prefix="frv", unique=[("tenant_id", "form_id", "version")])
class FormVersion(TenantRecord, kw_only=True):
    """The fields as they were: what a submission was made with stays readable."""

    form_id: str
    version: int
    fields: list[dict[str, Any]]
    created_by: str


class SubmittedFile(msgspec.Struct, frozen=True):
    field_id: str
    file_id: str
    filename: str
    size_bytes: int
    mime_type: str


def _few_rows(made: sa.Table) -> object:
    """Indexes over the rows that few questions are about, or that are written to them later."""
    is_numbered = made.c.number.is_not(None)
    return (
        index_where("is_uncounted", "tenant_id", "form_id", "created_at", "id")(made),
        index_where("is_signed_in", "tenant_id", "form_id", "submitted_by")(made),
        sa.Index(
            "uq_form_submissions_number",
            made.c.tenant_id,
            made.c.number,
            unique=True,
            sqlite_where=is_numbered,
            postgresql_where=is_numbered,
        ),
    )


@table(
    "form_submissions",
    prefix="sbm",
    led_by_time=True,
    indexes=[
        ("tenant_id", "form_id", "created_at", "id"),
        ("tenant_id", "form_id", "status", "created_at", "id"),
    ],
    extra=_few_rows,
)
class Submission(TenantRecord, kw_only=True):
    """What was answered once; it outlives its form by the moments that erasing it takes.

    `searched` is the words of its values, with a blank before each. It is `is_uncounted` until the sums of
    its day and the index of words know of it, where it then has a `number`.
    """

    form_id: str
    form_version: int
    status: SubmissionStatus = SubmissionStatus.received
    data: dict[str, Any]
    metadata: dict[str, Any]
    files: list[SubmittedFile] = []
    source: str
    searched: str
    submitted_by: str = ""
    is_signed_in: bool = False
    took_ms: int | None = None
    workflow_execution_id: str | None = None
    data_table_row_id: str | None = None
    data_table_error: str | None = None
    notes: str | None = None
    is_uncounted: bool = True
    number: int | None = None
    processed_at: Instant | None = None


@table("form_uploads", prefix="fup", indexes=[("tenant_id", "form_id", "submission_id"), ("expires_at",)])
class FormUpload(TenantRecord, kw_only=True):
    """Whose file an upload is: it has the file's id, and belongs to one field of one form."""

    form_id: str
    field_id: str
    submission_id: str | None = None
    expires_at: Instant | None = None


@table("form_progress", prefix="fpr", indexes=[("tenant_id", "form_id", "updated_at"), ("updated_at",)])
class Progress(TenantRecord, kw_only=True):
    """Answers that were not sent yet; the id is a hash of the form and of what only the visitor knows."""

    form_id: str
    data: dict[str, Any]
    last_field_id: str | None = None


@table("form_days", prefix="fdy", indexes=[("tenant_id", "form_id", "day")])
class FormDay(TenantRecord, kw_only=True):
    """What a day of a form adds up to; the id is `<form>.<day>`.

    `processed` and `archived` are how many of its submissions are that now. `filled` counts answers by field,
    `sources` submissions by where they came from, and `dropped` visitors by the field at which they left.
    """

    form_id: str
    day: str
    views: int = 0
    starts: int = 0
    submissions: int = 0
    processed: int = 0
    archived: int = 0
    timed: int = 0
    took_ms: int = 0
    filled: dict[str, int] = {}
    sources: dict[str, int] = {}
    dropped: dict[str, int] = {}


@table(
    "form_conversations",
    prefix="fcv",
    indexes=[("tenant_id", "form_id", "created_at"), ("status", "updated_at"), ("closed_at",)],
)
class FormConversation(TenantRecord, kw_only=True):
    """A form that is filled in by talking; the id is the only key to it.

    `asked` is the field of the last question, None while nothing is asked but whether all is right
    (`is_confirming`). `prefilled` is known from the start and waits until its fields are shown. While a model
    thinks about a message, `turn_id` names that message and nobody else is heard before `busy_until`.
    """

    form_id: str
    status: FormConversationStatus = FormConversationStatus.active
    answers: dict[str, Any] = {}
    prefilled: dict[str, Any] = {}
    skipped: list[str] = []
    asked: str | None = None
    is_confirming: bool = False
    language: str | None = None
    metadata: dict[str, Any] = {}
    message_count: int = 0
    said_characters: int = 0
    turn_id: str | None = None
    busy_until: Instant | None = None
    submission_id: str | None = None
    closed_at: Instant | None = None


@table("form_conversation_messages", prefix="fcm", unique=[("tenant_id", "conversation_id", "position")])
class FormMessage(TenantRecord, kw_only=True):
    conversation_id: Annotated[str, Ref(FormConversation, cascade=True)]
    position: int
    role: str
    content: str
    field_id: str | None = None


@table("form_search", prefix="fsx", unique=[("row_key",)])
class SearchIndex(TenantRecord, kw_only=True):
    """Which numbers the submissions of a form have in the index of words; the id is the form's.

    The numbers begin with the `row_key`, and `indexed` is how many were given.
    """

    form_id: str
    row_key: int
    indexed: int = 0


submission_words = word_index("submission_words")
