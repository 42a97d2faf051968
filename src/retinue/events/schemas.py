from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from retinue.events.models import ActionType
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import PageQuery
from retinue.kit.schema.base import Schema
from retinue.kit.schema.messages import PatternMessage

_WEEK_S = 7 * 24 * 3600

TypeName = Annotated[str, Meta(min_length=1, max_length=200)]
# Custom names follow the form of those in the catalogue.
EventName = Annotated[
    str,
    Meta(max_length=200, pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$(?!\n)"),
    PatternMessage("must be a name such as order.received: lower-case words with dots between them"),
]
Id = Annotated[str, Meta(max_length=64)]


class EventTypeOut(Schema, kw_only=True):
    """`schema` is the JSON Schema of the event's `data`."""

    name: str
    category: str
    description: str
    schema: JsonObject
    example: JsonObject
    version: int


class EventTypes(Schema, kw_only=True):
    event_types: list[EventTypeOut]


class Categories(Schema, kw_only=True):
    categories: list[str]


EventType = Annotated[str, Meta(max_length=200)]
Category = Literal["agent", "workflow", "form", "approval", "data_table", "system"]
CorrelationId = Annotated[str, Meta(max_length=64)]
SearchText = Annotated[str, Meta(max_length=100)]


class EventLogQuery(PageQuery, kw_only=True):
    """`from` and `to` are instants in ISO 8601."""

    event_type: EventType | None = None
    category: Category | None = None
    correlation_id: CorrelationId | None = None
    search: SearchText | None = None
    from_: str | None = field(default=None, name="from")
    to: str | None = None


class EventStreamQuery(msgspec.Struct, kw_only=True):
    """Which events of the log are streamed."""

    event_type: EventType | None = None
    category: Category | None = None
    correlation_id: CorrelationId | None = None
    search: SearchText | None = None


class EventSource(Schema, kw_only=True):
    """The object that the event is about."""

    type: str
    id: str


class EventActor(Schema, kw_only=True):
    """Who or what caused the event."""

    type: str
    id: str


class EventOut(Schema, kw_only=True):
    """`redacted` is true if `data` omits conversation content that the caller may not read."""

    id: str
    type: str
    category: str
    correlation_id: str
    data: JsonObject
    source: EventSource
    actor: EventActor
    test: bool
    redacted: bool | UnsetType = UNSET
    created_at: str


class EventPage(Schema, kw_only=True):
    data: list[EventOut]
    total: int
    total_is_exact: bool = True
    """Always true: every entry is counted."""
    page: int
    per_page: int


class Trace(Schema, kw_only=True):
    """Events with one correlation id, oldest first, at most 1,000; `total` counts all of them."""

    correlation_id: str
    data: list[EventOut]
    total: int


class EventTest(Schema, kw_only=True):
    """With `strict`, `data` must match the schema of the type in the catalogue."""

    event_type: EventName
    data: JsonObject = {}
    strict: bool = False


class Matched(Schema, kw_only=True):
    subscriptions: int
    webhooks: int


class EventTested(Schema, kw_only=True):
    event: EventOut
    matched: Matched


class SubscriptionCreate(Schema, kw_only=True):
    """`event_type` is a name, or a pattern such as `form.*`."""

    event_type: TypeName
    action_type: ActionType
    action_config: JsonObject
    filters: JsonObject | None = None
    active: bool = True


class SubscriptionUpdate(Schema, kw_only=True):
    event_type: TypeName | UnsetType = UNSET
    action_type: ActionType | UnsetType = UNSET
    action_config: JsonObject | UnsetType = UNSET
    filters: JsonObject | UnsetType | None = UNSET
    active: bool | UnsetType = UNSET


class SubscriptionList(PageQuery, kw_only=True):
    event_type: Annotated[str, Meta(max_length=200)] | None = None
    action_type: ActionType | None = None
    active: bool | None = None
    workflow_id: Id | None = None
    sort: str | None = None


class SubscriptionOut(Schema, kw_only=True):
    id: str
    event_type: str
    action_type: ActionType
    action_config: JsonObject
    filters: JsonObject
    active: bool
    workflow_id: str | None
    trigger_count: int
    failure_count: int
    last_triggered_at: str | None
    last_error: str | None
    created_by: str
    created_at: str
    updated_at: str


class Switched(Schema, kw_only=True):
    """The subscriptions that start one workflow, and how many of them changed."""

    workflow_id: str
    active: bool
    updated: int
    subscription_ids: list[str]
    message: str


class SigningSecretOut(Schema, kw_only=True):
    """The secret that signs the tenant's messages to a `url` or `callback_url`."""

    secret: str
    previous_secret_expires_at: str | None
    created_at: str
    updated_at: str


class SigningSecretRotate(Schema, kw_only=True):
    """`grace_seconds` is how long messages are also signed with the previous secret."""

    grace_seconds: Annotated[int, Meta(ge=0, le=_WEEK_S)] = 86_400


class SigningSecretRotation(Schema, kw_only=True):
    secret: str
    previous_secret_expires_at: str
