from enum import StrEnum
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from retinue.kit.json_types import JsonObject
from retinue.kit.lists import ListQuery, PageQuery
from retinue.kit.schema.base import Name, Schema
from retinue.kit.schema.derived import fields_of, in_changes
from retinue.kit.schema.messages import PatternMessage
from retinue.tools.categories import Category
from retinue.tools.config.endpoint_approval import count_guarded
from retinue.tools.mcp_servers.differences import ListingDiff
from retinue.tools.models import (
    ApprovalRule,
    AuthType,
    ExecutionSource,
    ExecutionStatus,
    PackagesStatus,
    Tool,
    ToolExecution,
    ToolType,
)

# Models are offered the tool under its slug and accept no longer names.
Slug = Annotated[
    str,
    Meta(max_length=64, pattern=r"^[a-z0-9][a-z0-9_-]*$(?!\n)"),
    PatternMessage(
        "must be lower-case letters, digits, hyphens or underscores, and begin with a letter or digit"
    ),
]
Description = Annotated[str, Meta(max_length=10_000)]


class ToolCreate(Schema, kw_only=True):
    name: Name
    slug: Slug | None = None
    description: Description | None = None
    category: Category
    tool_type: ToolType
    config: JsonObject
    auth_type: AuthType
    auth_config: JsonObject | None = None
    input_schema: JsonObject | None = None
    output_schema: JsonObject | None = None
    is_enabled: bool = True
    requires_approval: bool = False
    approval: ApprovalRule | None = None


@fields_of(ToolCreate, in_changes)
class ToolUpdate(Schema, kw_only=True):
    name: Name | UnsetType = UNSET
    slug: Slug | UnsetType = UNSET


class ToolSummary(Schema, kw_only=True):
    id: str
    name: str
    slug: str
    description: str
    category: str
    tool_type: ToolType
    auth_type: AuthType
    is_enabled: bool
    requires_approval: bool
    usage_count: int
    last_used_at: str | None
    created_at: str


class ToolListed(ToolSummary, kw_only=True):
    """A tool in the list, with what somebody may have to look at."""

    packages_status: PackagesStatus
    has_held_changes: bool
    guarded_count: int
    last_status: ExecutionStatus | None

    @classmethod
    def from_record(cls, tool: Tool, last_status: ExecutionStatus | None) -> "ToolListed":
        return cls.of(
            tool,
            has_held_changes=tool.held_listing is not None,
            guarded_count=count_guarded(tool.config),
            last_status=last_status,
        )


class ToolMade(ToolSummary, kw_only=True):
    """A tool without its configuration."""

    credential_id: str | None
    input_schema: JsonObject | None
    output_schema: JsonObject | None
    packages_status: PackagesStatus
    packages_error: str | None
    pinned_packages: list[str]
    approval: ApprovalRule | None
    created_by: str
    updated_at: str


class ToolOut(ToolMade, kw_only=True):
    config: JsonObject


class ToolList(ListQuery, kw_only=True):
    category: Category | None = None
    tool_type: ToolType | None = None
    is_enabled: bool | None = None
    needs_look: bool | None = None


class CategoryOut(Schema, kw_only=True):
    slug: str
    name: str
    description: str
    icon: str
    tool_count: int


class ToolTrial(Schema, kw_only=True):
    """A tool as it would be created, and the input to run it with."""

    tool_type: ToolType
    config: JsonObject
    auth_type: AuthType = AuthType.none
    auth_config: JsonObject | None = None
    input_schema: JsonObject | None = None
    input: JsonObject = {}


class Execute(Schema, kw_only=True):
    input: JsonObject = {}


class ToolExecuteQuery(msgspec.Struct, kw_only=True):
    is_async: bool = msgspec.field(name="async", default=False)


class ExecutionError(Schema, kw_only=True):
    """Why a run failed."""

    code: str
    message: str
    details: Raw | UnsetType = UNSET


class Executed(Schema, kw_only=True):
    """`output` is present if the run completed, `error` if it did not."""

    execution_id: str
    status: ExecutionStatus
    output: Raw | UnsetType = UNSET
    error: ExecutionError | UnsetType = UNSET
    execution_time_ms: int
    executed_at: str
    logs: str
    attempts: int
    correlation_id: str


class Accepted(Schema, kw_only=True):
    execution_id: str
    status: Literal["pending"] = "pending"


class FinalStatus(StrEnum):
    completed = "completed"
    failed = "failed"
    timeout = "timeout"


class ToolExecutionList(PageQuery, kw_only=True):
    status: FinalStatus | None = None
    after: str | None = None
    before: str | None = None


class RecordedError(Schema, kw_only=True):
    """Why a recorded run failed; `message` is null if redacted."""

    code: str
    message: str | None
    details: Raw | UnsetType = UNSET


class ExecutionOut(Schema, kw_only=True):
    """`redacted` is true if input, output, logs and the error message are left out.

    They are left out for callers who may not read the conversation in which the tool ran.
    """

    id: str
    tool_id: str
    agent_id: str | None
    agent_name: str | None
    user_id: str | None
    source: ExecutionSource
    status: ExecutionStatus
    input: Raw
    output: Raw | None
    error: RecordedError | None
    logs: str | None
    attempts: int
    execution_time_ms: int
    executed_at: str
    correlation_id: str
    redacted: bool | UnsetType = UNSET

    @classmethod
    def from_record(cls, execution: ToolExecution) -> "ExecutionOut":
        output, error = execution.output, execution.error
        return cls.of(
            execution,
            input=Raw(execution.input),
            output=None if output is None else Raw(output),
            error=None if error is None else msgspec.json.decode(error, type=RecordedError),
            redacted=UNSET,
        )

    @classmethod
    def shown_redacted(cls, execution: ToolExecution) -> "ExecutionOut":
        error = execution.error and msgspec.json.decode(execution.error, type=RecordedError)
        return cls.of(
            execution,
            input=Raw("null"),
            output=None,
            error=RecordedError(code=error.code, message=None) if error else None,
            logs=None,
            redacted=True,
        )


class Period(StrEnum):
    day = "24h"
    week = "7d"
    month = "30d"
    quarter = "90d"


class ToolStatsQuery(msgspec.Struct, kw_only=True):
    period: Period = Period.week


class DayOfExecutions(Schema, kw_only=True):
    date: str
    executions: int
    failures: int


class AgentExecutions(Schema, kw_only=True):
    agent_id: str
    agent_name: str | None
    executions: int


class ToolStats(Schema, kw_only=True):
    tool_id: str
    period: Period
    total_executions: int
    successful: int
    failed: int
    success_rate: float
    avg_execution_time_ms: int
    p95_execution_time_ms: int
    p99_execution_time_ms: int
    daily_breakdown: list[DayOfExecutions]
    top_agents: list[AgentExecutions]


class ImportOpenApi(Schema, kw_only=True):
    """`document` is the OpenAPI document as an object, or as JSON or YAML text; or `url` is where it is."""

    # Not decoded here: a large one is read by another process.
    document: Annotated[Raw, Meta(extra_json_schema={"type": ["object", "string"]})] | UnsetType = UNSET
    url: Annotated[str, Meta(min_length=1, max_length=2_000)] | None = None
    name: Name | None = None
    category: Category = Category.custom
    base_url: str | None = None
    auth_type: AuthType | None = None
    auth_config: JsonObject | None = None
    operations: list[str] | None = None


class ImportQuery(msgspec.Struct, kw_only=True):
    dry_run: bool = False


class EndpointFound(Schema, kw_only=True):
    name: str
    method: str
    path: str
    summary: str
    input_schema: JsonObject


class PartSkipped(Schema, kw_only=True):
    what: str
    why: str


class ToolImported(ToolMade, kw_only=True):
    endpoints: list[EndpointFound]
    skipped: list[PartSkipped]


class ImportPreview(Schema, kw_only=True):
    name: str
    slug: str
    description: str
    category: Category
    tool_type: ToolType
    auth_type: AuthType
    auth_config: JsonObject
    config: JsonObject
    input_schema: JsonObject | None
    endpoints: list[EndpointFound]
    skipped: list[PartSkipped]


class ImportMcp(Schema, kw_only=True):
    """`tools` names the functions to import; without it all are."""

    server_url: Annotated[str, Meta(min_length=1, max_length=2048)]
    name: Name | None = None
    category: Category = Category.custom
    auth_type: AuthType = AuthType.none
    auth_config: JsonObject | None = None
    tools: Annotated[list[str], Meta(min_length=1, max_length=1000)] | None = None


class McpImported(ToolMade, kw_only=True):
    functions: list[str]
    skipped: list[PartSkipped]


class McpImportPreview(Schema, kw_only=True):
    name: str
    slug: str
    category: Category
    tool_type: ToolType
    auth_type: AuthType
    config: JsonObject
    functions: list[str]
    skipped: list[PartSkipped]


class RefreshTool(Schema, kw_only=True):
    accept: bool | Annotated[list[str], Meta(min_length=1, max_length=1000)] = False


class RefreshStatus(StrEnum):
    unchanged = "unchanged"
    held = "held"
    accepted = "accepted"


class ToolRefreshed(Schema, kw_only=True):
    tool_id: str
    diff: ListingDiff
    status: RefreshStatus
