from enum import StrEnum
from typing import Annotated

import msgspec
import sqlalchemy as sa

from retinue.kit.clock import Instant
from retinue.kit.context.drafts import DraftRecord
from retinue.kit.db.models import Ref, TenantRecord, index_where, table
from retinue.kit.db.word_index import word_index
from retinue.kit.json_types import JsonObject


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
    """The data table that submissions are copied to as rows.

    With an empty `field_mapping`, each field goes to the column of its name; otherwise only mapped fields are
    copied.
    """

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
    """A form. Its slug is unique on the whole instance and never reused."""

    name: str
    slug: str
    description: str = ""
    status: FormStatus = FormStatus.draft
    version: int = 1
    fields: list[JsonObject]
    settings: JsonObject = {}
    branding: JsonObject = {}
    workflow_id: str | None = None
    data_table_config: DataTableConfig | None = None
    published_at: Instant | None = None
    created_by: str


@table("form_drafts", prefix="frd", unique=[("tenant_id", "owner_id")])
class FormDraft(DraftRecord, kw_only=True):
    """Changes of a form that are not in use yet."""

    owner_id: Annotated[str, Ref(Form, cascade=True)]


@table("form_versions", prefix="frv", unique=[("tenant_id", "form_id", "version")])
class FormVersion(TenantRecord, kw_only=True):
    """A version of a form's fields, so that older submissions stay readable."""

    form_id: str
    version: int
    fields: list[JsonObject]
    created_by: str


class SubmittedFile(msgspec.Struct, frozen=True):
    field_id: str
    file_id: str
    filename: str
    size_bytes: int
    mime_type: str


def _partial_indexes(submissions: sa.Table) -> object:
    """Return partial indexes for rows that few queries need, or whose key is assigned later."""
    is_numbered = submissions.c.number.is_not(None)
    return (
        index_where("is_uncounted", "tenant_id", "form_id", "created_at", "id")(submissions),
        index_where("is_signed_in", "tenant_id", "form_id", "submitted_by")(submissions),
        sa.Index(
            "uq_form_submissions_number",
            submissions.c.tenant_id,
            submissions.c.number,
            unique=True,
            sqlite_where=is_numbered,
            postgresql_where=is_numbered,
        ),
    )


@table(
    "form_submissions",
    prefix="sbm",
    time_ordered_ids=True,
    indexes=[
        ("tenant_id", "form_id", "created_at", "id"),
        ("tenant_id", "form_id", "status", "created_at", "id"),
    ],
    extra=_partial_indexes,
)
class Submission(TenantRecord, kw_only=True):
    """The answers of one visitor. After its form is deleted, it is erased in the background.

    `searched` holds the words of its values, each after a blank. `is_uncounted` is true until the job has
    added it to the daily sums and to the search index, which assigns its `number`.
    """

    form_id: str
    form_version: int
    status: SubmissionStatus = SubmissionStatus.received
    data: JsonObject
    metadata: JsonObject
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


@table(
    "form_uploads",
    prefix="fup",
    indexes=[
        ("tenant_id", "form_id", "submission_id"),
        ("tenant_id", "form_id", "created_at"),
        ("expires_at",),
    ],
)
class FormUpload(TenantRecord, kw_only=True):
    """Links an uploaded file, whose id it shares, to a field of a form."""

    form_id: str
    field_id: str
    submission_id: str | None = None
    expires_at: Instant | None = None


@table("form_progress", prefix="fpr", indexes=[("tenant_id", "form_id", "updated_at"), ("updated_at",)])
class Progress(TenantRecord, kw_only=True):
    """Answers not submitted yet; the id is a hash of the form and the visitor's session id."""

    form_id: str
    data: JsonObject
    last_field_id: str | None = None


@table("form_days", prefix="fdy", indexes=[("tenant_id", "form_id", "day")])
class FormDay(TenantRecord, kw_only=True):
    """The sums of one day of a form; the id is `<form>.<day>`.

    `processed` and `archived` count the day's submissions by their current status. `filled` counts answers by
    field, `sources` submissions by origin, and `dropped` visitors by the field at which they left.
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
    """A form filled in by conversation; the id is the only key to it.

    `asked` is the field of the last question, None while only the final confirmation is open
    (`is_confirming`). `prefilled` values wait until their fields are visible. While a model handles a
    message, `turn_id` is the id of its reply, and other messages are refused until `busy_until`.
    """

    form_id: str
    status: FormConversationStatus = FormConversationStatus.active
    answers: JsonObject = {}
    prefilled: JsonObject = {}
    skipped: list[str] = []
    asked: str | None = None
    is_confirming: bool = False
    language: str | None = None
    metadata: JsonObject = {}
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
    """The numbers of a form's submissions in the search index; the id is the form's.

    Numbers begin with the `row_key`; `indexed` is how many were assigned.
    """

    form_id: str
    row_key: int
    indexed: int = 0


submission_words = word_index("submission_words")
