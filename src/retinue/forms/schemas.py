from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.forms.models import (
    DataTableConfig,
    Form,
    FormStatus,
    FormVersion,
    Submission,
    SubmissionStatus,
    SubmittedFile,
)
from retinue.kit.clock import Instant
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import ListQuery, PageQuery
from retinue.kit.schema.base import Name, Schema
from retinue.kit.schema.drafts import DraftState

Description = Annotated[str, Meta(max_length=2000)]
SoftReference = Annotated[str, Meta(max_length=64)]
When = Annotated[str, Meta(max_length=64, description="A date, or a date and time, such as 2026-11-15")]
Search = Annotated[str, Meta(max_length=200)]


class TableConfigIn(Schema, kw_only=True):
    table_id: SoftReference
    auto_save: bool = False
    field_mapping: dict[str, Annotated[str, Meta(max_length=64)]] = {}


class FormCreate(Schema, kw_only=True):
    """A field needs only a `type`; a missing id is derived from its label."""

    name: Name
    fields: list[JsonObject]
    description: Description | None = None
    settings: JsonObject | None = None
    workflow_id: SoftReference | None = None
    data_table_config: TableConfigIn | None = None
    branding: JsonObject | None = None


class FormUpdate(Schema, kw_only=True):
    name: Name | UnsetType = UNSET
    fields: list[JsonObject] | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    settings: JsonObject | UnsetType | None = UNSET
    workflow_id: SoftReference | UnsetType | None = UNSET
    data_table_config: TableConfigIn | UnsetType | None = UNSET
    branding: JsonObject | UnsetType | None = UNSET


class FormDraftUpdate(Schema, kw_only=True):
    content: FormUpdate


class FormDraftContent(Schema, kw_only=True):
    name: str
    description: str
    fields: list[JsonObject]
    settings: JsonObject
    branding: JsonObject
    workflow_id: str | None
    data_table_config: DataTableConfig | None


class FormDraftOut(DraftState, kw_only=True):
    form_id: str
    content: FormDraftContent


class FormQuery(Schema, kw_only=True):
    """`include=answer_counts` adds how often each field was answered."""

    include: Literal["answer_counts"] | None = None


class FormList(ListQuery, kw_only=True):
    status: FormStatus | None = None


class FormIdentity(Schema, kw_only=True):
    """The fields with which a form begins, in a list and on its own."""

    id: str
    name: str
    slug: str
    description: str
    status: FormStatus
    version: int


class FormSummary(FormIdentity, kw_only=True):
    field_count: int
    submission_count: int
    workflow_id: str | None
    created_at: Instant
    updated_at: Instant
    published_at: Instant | None


class FormStats(Schema, kw_only=True):
    """`conversion_rate` is submissions per 100 views."""

    submissions: int
    views: int
    conversion_rate: float


class FormOut(FormIdentity, kw_only=True):
    fields: list[JsonObject]
    field_count: int
    settings: JsonObject
    workflow_id: str | None
    data_table_config: DataTableConfig | None
    branding: JsonObject
    stats: FormStats
    answer_counts: dict[str, int] | UnsetType = UNSET
    public_url: str
    created_at: Instant
    updated_at: Instant
    published_at: Instant | None


class FormState(Schema, kw_only=True):
    id: str
    status: FormStatus
    slug: str
    published_at: Instant | None
    updated_at: Instant


class FormCopy(Schema, kw_only=True):
    id: str
    name: str
    slug: str
    status: FormStatus
    field_count: int
    created_at: Instant

    @classmethod
    def from_record(cls, form: Form) -> Self:
        return cls.of(form, field_count=len(form.fields))


class FormVersionOut(Schema, kw_only=True):
    version: int
    fields: list[JsonObject]
    created_by: str
    created_at: Instant

    @classmethod
    def from_record(cls, version: FormVersion) -> Self:
        return cls.of(version)


class Submit(Schema, kw_only=True):
    """`data` is by field id; all errors are returned together as `details.errors`."""

    data: Any = None
    metadata: Any = None
    session_id: Any = None
    token: Any = None
    proof: Any = None


class Submitted(Schema, kw_only=True):
    submission_id: str
    form_id: str
    status: SubmissionStatus
    workflow_execution_id: str | None
    created_at: Instant


class SubmitAnswer(Schema, kw_only=True):
    data: Submitted
    message: str


class PubliclySubmitted(Schema, kw_only=True):
    submission_id: str
    status: SubmissionStatus
    redirect_url: str | UnsetType = UNSET


class PublicAnswer(Schema, kw_only=True):
    data: PubliclySubmitted
    message: str


class SubmissionFilter(Schema, kw_only=True):
    status: SubmissionStatus | None = None
    after: When | None = None
    before: When | None = None
    search: Search | None = None


class SubmissionList(PageQuery, kw_only=True):
    status: SubmissionStatus | None = None
    after: When | None = None
    before: When | None = None
    search: Search | None = None
    sort: Literal["created_at", "-created_at"] = "-created_at"


class SubmissionExportQuery(SubmissionFilter, kw_only=True):
    format: Literal["csv", "json", "xlsx"] = "csv"


class SubmissionUpdate(Schema, kw_only=True):
    status: SubmissionStatus | UnsetType = UNSET
    notes: Annotated[str, Meta(max_length=10_000)] | UnsetType | None = UNSET


class FormExecutionOut(Schema, kw_only=True):
    """`redacted` is true if `output` was removed: it quotes a conversation the caller may not read."""

    id: str
    status: str
    output: Any
    redacted: bool | UnsetType = UNSET


class SubmissionOut(Schema, kw_only=True):
    id: str
    form_id: str
    form_name: str
    form_version: int
    status: SubmissionStatus
    data: JsonObject
    metadata: JsonObject
    files: list[SubmittedFile]
    notes: str | None
    submitted_by: str | None
    workflow_execution_id: str | None
    workflow_execution: FormExecutionOut | None
    data_table_row_id: str | None
    data_table_error: str | None
    created_at: Instant
    updated_at: Instant
    processed_at: Instant | None

    @classmethod
    def from_record(
        cls, submission: Submission, form: Form, execution: FormExecutionOut | None = None
    ) -> Self:
        return cls.of(
            submission,
            form_name=form.name,
            submitted_by=submission.submitted_by or None,
            workflow_execution=execution,
        )


class SubmissionPagination(msgspec.Struct):
    page: int
    per_page: int
    total: int
    total_pages: int
    total_is_exact: bool = True
    """Always true: every submission is counted."""


class SubmissionPage(msgspec.Struct):
    data: list[SubmissionOut]
    pagination: SubmissionPagination


class OptionsQuery(Schema, kw_only=True):
    search: Search | None = None
    limit: Annotated[int, Meta(ge=1, le=1000)] = 100


class PublicQuery(Schema, kw_only=True):
    """With `preview`, no view is counted."""

    preview: str | None = None


class PublicForm(Schema, kw_only=True):
    name: str
    slug: str
    description: str
    fields: list[JsonObject]
    branding: JsonObject
    settings: JsonObject
    token: str | UnsetType = UNSET
    """Send it with the answers; present if the form has a minimum time or a proof of work."""


class Option(Schema, kw_only=True):
    value: Any
    label: str


class FormPreviewRequest(Schema, kw_only=True):
    """A form that need not be saved, and answers to try."""

    fields: list[JsonObject]
    name: Annotated[str, Meta(max_length=100)] = ""
    description: Description | None = None
    settings: JsonObject | None = None
    branding: JsonObject | None = None
    data: JsonObject | UnsetType = UNSET


class AnswerProblem(Schema, kw_only=True):
    field: str
    message: str


class FormPreview(Schema, kw_only=True):
    """`errors` is there if answers were sent."""

    form: PublicForm
    options: dict[str, list[Option]]
    errors: list[AnswerProblem] | UnsetType = UNSET


class Uploaded(Schema, kw_only=True):
    file_id: str
    filename: str
    size_bytes: int
    mime_type: str


class Embedding(Schema, kw_only=True):
    script_embed: str
    iframe_embed: str


class ProgressSave(Schema, kw_only=True):
    data: JsonObject = {}
    last_field_id: Annotated[str, Meta(max_length=64)] | None = None


class ProgressSaved(Schema, kw_only=True):
    session_id: str
    resume_url: str
    saved_at: Instant


class ProgressOut(Schema, kw_only=True):
    session_id: str
    data: JsonObject
    last_field_id: str | None
    saved_at: Instant


class AnalyticsQuery(Schema, kw_only=True):
    """A period, or a range of days; without either, all days."""

    period: Literal["24h", "7d", "30d", "90d", "all"] | None = None
    from_: When | None = msgspec.field(name="from", default=None)
    to: When | None = None


class DayCount(Schema, kw_only=True):
    date: str
    count: int


class SourceCount(Schema, kw_only=True):
    source: str
    count: int


class DropOff(Schema, kw_only=True):
    field_id: str
    drop_off_rate: float


class Analytics(Schema, kw_only=True):
    """All rates are percentages."""

    total_submissions: int
    total_views: int
    total_starts: int
    conversion_rate: float
    avg_completion_time_seconds: float | None
    submissions_by_day: list[DayCount]
    top_sources: list[SourceCount]
    field_completion_rates: dict[str, float]
    drop_off_fields: list[DropOff]


class FormPrompt(Schema, kw_only=True):
    """A description of the form to generate."""

    prompt: Annotated[str, Meta(min_length=1, max_length=8000)]
    model: Annotated[str, Meta(max_length=200)] | None = None
