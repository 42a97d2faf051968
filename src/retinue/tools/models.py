from enum import StrEnum
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from retinue.access.models import Role
from retinue.credentials.models import Credential
from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Ref, ServerDefault, TenantRecord, table
from retinue.kit.json_types import JsonObject


class ToolType(StrEnum):
    rest_api = "rest_api"
    function = "function"
    webhook = "webhook"
    database = "database"
    script = "script"
    custom = "custom"


class AuthType(StrEnum):
    none = "none"
    api_key = "api_key"
    oauth2 = "oauth2"
    basic = "basic"
    bearer = "bearer"
    custom = "custom"


class PackagesStatus(StrEnum):
    none = "none"
    resolving = "resolving"
    ready = "ready"
    failed = "failed"


class ExecutionStatus(StrEnum):
    pending = "pending"
    running = "running"
    completed = "completed"
    failed = "failed"
    timeout = "timeout"


FINAL_STATUSES = (ExecutionStatus.completed, ExecutionStatus.failed, ExecutionStatus.timeout)


class ExecutionSource(StrEnum):
    api = "api"
    agent = "agent"
    workflow = "workflow"


class ToolApprovers(msgspec.Struct, frozen=True, kw_only=True):
    user_ids: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    roles: Annotated[tuple[Role, ...], Meta(max_length=10)] = ()


class ApprovalRule(msgspec.Struct, frozen=True, kw_only=True):
    """Who approves the calls that a model makes, and how.

    Without approvers, the user who asked the agent or an administrator decides. `editable_fields` lists the
    input fields that an approver may change; `*` allows all of them.
    """

    approvers: ToolApprovers = ToolApprovers()
    required_approvals: Annotated[int, Meta(ge=1, le=100)] = 1
    allow_self_approval: bool = False
    editable_fields: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    on_timeout: Literal["reject", "approve", "fail"] = "reject"
    expires_in_s: Annotated[int, Meta(ge=60, le=366 * 86_400)] = 72 * 3600


class ToolImage(msgspec.Struct, frozen=True, kw_only=True):
    """An image of a tool's result, stored as models and people see it.

    One that is not shown was left out of the prompt, because the turn had too many.
    """

    file_id: str
    filename: str
    mime_type: str
    size_bytes: int
    is_shown: bool = True


@table(
    "tools",
    prefix="tool",
    unique=[("tenant_id", "slug")],
    indexes=[
        ("tenant_id", "created_at"),
        ("tenant_id", "category"),
        ("tenant_id", "tool_type"),
        ("tenant_id", "credential_id"),
    ],
)
class Tool(TenantRecord, kw_only=True):
    """A call, a query or a piece of code that agents and workflows execute, with its authentication.

    `auth_destination` is the only destination that the secrets of `auth_config` or of the credential are sent
    to: the one `config` named when they were entered (ADR 8). With `requires_approval`, a model's call waits
    for the approvals that `approval` defines.
    """

    __untagged__ = frozenset(
        {
            "updated_at",
            "usage_count",
            "last_used_at",
            "packages_status",
            "packages_error",
            "pinned_packages",
            "held_listing",
        }
    )

    name: str
    slug: str
    description: str = ""
    category: str
    tool_type: ToolType
    config: JsonObject
    auth_type: AuthType
    auth_config: Sealed | None = None
    credential_id: Annotated[str, Ref(Credential)] | None = None
    auth_destination: str = ""
    input_schema: JsonObject | None = None
    output_schema: JsonObject | None = None
    is_enabled: bool = True
    usage_count: int = 0
    last_used_at: Instant | None = None
    packages_status: PackagesStatus = PackagesStatus.none
    packages_error: str | None = None
    pinned_packages: list[str]
    created_by: str
    requires_approval: Annotated[bool, ServerDefault("false")] = False
    approval: ApprovalRule | None = None
    held_listing: JsonObject | None = None
    """The current listing of an MCP server, if it differs from the accepted one; see `mcp_drift`."""


@table(
    "tool_executions",
    prefix="exe",
    time_ordered_ids=True,
    indexes=[
        ("tenant_id", "tool_id", "executed_at"),
        ("tenant_id", "tool_id", "status", "executed_at"),
    ],
)
class ToolExecution(TenantRecord, kw_only=True):
    """One run of a tool. Input, output, error and logs are redacted and truncated.

    `input`, `output` and `error` are JSON texts: they are returned unchanged and never queried.
    """

    tool_id: Annotated[str, Ref(Tool, cascade=True)]
    agent_id: str | None = None
    agent_name: str | None = None
    user_id: str | None = None
    source: ExecutionSource = ExecutionSource.api
    status: ExecutionStatus
    input: str
    output: str | None = None
    error: str | None = None
    logs: str = ""
    attempts: int = 1
    execution_time_ms: int = 0
    executed_at: Instant
    correlation_id: str = ""
    conversation_ids: list[str] | None = None
    """Conversations that the record quotes; see `kit.context.conversation_access` (ADR 21)."""
