from enum import StrEnum

from retinue.kit.clock import Instant
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import Schema


class NeedKind(StrEnum):
    delivery = "delivery"
    run = "run"
    channel = "channel"
    api_key = "api_key"
    credential = "credential"
    document = "document"
    budget = "budget"
    approval = "approval"
    subscription = "subscription"
    audit_stream = "audit_stream"
    trace_exporter = "trace_exporter"
    model = "model"
    vault = "vault"
    worker = "worker"
    account = "account"
    administrator = "administrator"


class NeedSeverity(StrEnum):
    bad = "bad"
    warn = "warn"


class NeedAction(StrEnum):
    decide = "decide"
    inspect = "inspect"
    open_run = "open_run"
    replace_secret = "replace"  # noqa: S105  an action
    raise_limit = "raise_limit"
    reindex = "reindex"
    approve = "approve"
    deactivate = "deactivate"
    set_price = "set_price"


class NeedObject(Schema, kw_only=True):
    type: str
    id: str
    name: str


class Need(Schema, kw_only=True):
    """Something that waits for a person, with its one cause; clients put `params` into their own words."""

    kind: NeedKind
    severity: NeedSeverity
    title_code: str
    params: JsonObject
    object: NeedObject
    since: Instant
    action: NeedAction


class HomeHour(Schema, kw_only=True):
    hour: int
    chats: int
    tokens: int
    cost_usd: float
    p95_first_token_ms: int | None


class TodayBudget(Schema, kw_only=True):
    id: str
    period: str
    limit_usd: float | None
    limit_tokens: int | None
    spent: float


class Today(Schema, kw_only=True):
    chats: int
    failed_chats: int
    tokens: int
    cached_tokens: int
    cost_usd: float
    unpriced_models: list[str]
    budget: TodayBudget | None
    p95_first_token_ms: int | None
    series: list[HomeHour]


class ComparedDay(Schema, kw_only=True):
    """The same weekday a week ago, until the same hour."""

    day: str
    chats: int
    tokens: int
    cost_usd: float


class Checklist(Schema, kw_only=True):
    """Null where the caller may not see it."""

    model: bool | None
    agent: bool | None
    knowledge: bool | None
    colleague: bool | None
    embed: bool | None
    budget: bool | None


class HomeCounts(Schema, kw_only=True):
    approvals: int | None
    unread: int


class Home(Schema, kw_only=True):
    needs: list[Need]
    sees_all_needs: bool
    today: Today | None
    compared_with: ComparedDay | None
    checklist: Checklist
    counts: HomeCounts
