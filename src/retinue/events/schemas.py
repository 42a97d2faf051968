from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType, field

from retinue.events.models import ActionType
from retinue.kit.lists import PageQuery
from retinue.kit.schemas import Schema

_WEEK_S = 7 * 24 * 3600

TypeName = Annotated[str, Meta(min_length=1, max_length=200)]
# A custom name in the form of the catalogue's own.
EventName = Annotated[str, Meta(max_length=200, pattern=r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)+$(?!\n)")]
Id = Annotated[str, Meta(max_length=64)]


class EventTypeOut(Schema, kw_only=True):
    """`schema` is the JSON Schema of the event's `data`."""

    name: str
    category: str
    description: str
    schema: dict[str, Any]
    example: dict[str, Any]
    version: int


class EventTypes(Schema, kw_only=True):
    event_types: list[EventTypeOut]


class Categories(Schema, kw_only=True):
    categories: list[str]


class EventLogQuery(PageQuery, kw_only=True):
    """`from` and `to` are moments in ISO 8601."""

    event_type: Annotated[str, Meta(max_length=200)] | None = None
    category: Literal["agent", "workflow", "form", "approval", "data_table", "system"] | None = None
    correlation_id: Annotated[str, Meta(max_length=64)] | None = None
    from_: str | None = field(default=None, name="from")
    to: str | None = None


class EventSource(Schema, kw_only=True):
    """What it happened to."""

    type: str
    id: str


class EventActor(Schema, kw_only=True):
    """Whose doing it was."""

    type: str
    id: str


class EventOut(Schema, kw_only=True):
    id: str
    type: str
    category: str
    correlation_id: str
    data: dict[str, Any]
    source: EventSource
    actor: EventActor
    test: bool
    created_at: str


class EventPage(Schema, kw_only=True):
    """`total` is counted up to 1,000; `total_is_exact` says whether there are more."""

    data: list[EventOut]
    total: int
    total_is_exact: bool
    page: int
    per_page: int


class Trace(Schema, kw_only=True):
    """Oldest first; of a longer chain the first 1,000."""

    correlation_id: str
    data: list[EventOut]
    total: int


class EventTest(Schema, kw_only=True):
    """With `strict`, `data` must have the form that the catalogue declares for this type."""

    event_type: EventName
    data: dict[str, Any] = {}
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
    action_config: dict[str, Any]
    filters: dict[str, Any] | None = None
    active: bool = True


class SubscriptionUpdate(Schema, kw_only=True):
    event_type: TypeName | UnsetType = UNSET
    action_type: ActionType | UnsetType = UNSET
    action_config: dict[str, Any] | UnsetType = UNSET
    filters: dict[str, Any] | UnsetType | None = UNSET
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
    action_config: dict[str, Any]
    filters: dict[str, Any]
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
    """What became of the subscriptions that start one workflow."""

    workflow_id: str
    active: bool
    updated: int
    subscription_ids: list[str]
    message: str


class SigningSecretOut(Schema, kw_only=True):
    """What the tenant's messages to addresses of its own are signed with."""

    secret: str
    previous_secret_expires_at: str | None
    created_at: str
    updated_at: str


class SigningSecretRotate(Schema, kw_only=True):
    """For so many seconds messages carry a signature with the secret before as well."""

    grace_seconds: Annotated[int, Meta(ge=0, le=_WEEK_S)] = 86_400


class SigningSecretRotated(Schema, kw_only=True):
    secret: str
    previous_secret_expires_at: str
