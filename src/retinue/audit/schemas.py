from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.kit.clock import Instant
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import PageQuery, Pagination
from retinue.kit.schema.base import Name, Schema
from retinue.kit.schema.headers import HeaderName, HeaderValue

When = Annotated[str, Meta(max_length=64, description="A date and time such as 2026-11-15T08:30:00Z")]
Filter = Annotated[str, Meta(min_length=1, max_length=128)]


class AuditList(PageQuery, kw_only=True):
    """Newest first; oldest first with `after`."""

    action: Filter | None = None
    actor_id: Filter | None = None
    subject_id: Filter | None = None
    success: bool | None = None
    correlation_id: Filter | None = None
    from_: When | None = msgspec.field(name="from", default=None)
    to: When | None = None
    after: Annotated[int, Meta(ge=0)] | None = None


class AuditEntryOut(Schema, kw_only=True):
    """One row of the chain: its `hash` covers the row and the hash before it."""

    id: str
    sequence: int
    action: str
    actor: JsonObject
    subject_id: str
    success: bool
    reason: str | None
    ip_address: str
    user_agent: str
    correlation_id: str
    metadata: JsonObject
    created_at: Instant
    previous_hash: str
    hash: str


class AuditHeadOut(Schema, kw_only=True):
    """The end of the chain."""

    sequence: int
    hash: str


class AuditPage(Schema, kw_only=True):
    data: list[AuditEntryOut]
    pagination: Pagination
    head: AuditHeadOut


class BrokenRow(Schema, kw_only=True):
    """The first row that does not fit; `id` is empty if it is missing."""

    sequence: int
    id: str
    reason: str


class AuditVerdict(Schema, kw_only=True):
    intact: bool
    checked: int
    head: AuditHeadOut
    broken: BrokenRow | None


class AuditExportQuery(Schema, kw_only=True):
    format: Literal["jsonl", "csv"] = "jsonl"
    from_: When | None = msgspec.field(name="from", default=None)
    to: When | None = None


class AuditKey(Schema, kw_only=True):
    """A public key in the form of a JSON Web Key."""

    kid: str
    kty: Literal["OKP"] = "OKP"
    crv: Literal["Ed25519"] = "Ed25519"
    x: str


class AuditKeys(Schema, kw_only=True):
    keys: list[AuditKey]


class AuditStreamConfig(Schema, kw_only=True):
    url: Annotated[str, Meta(min_length=1, max_length=2_000)]
    headers: dict[HeaderName, HeaderValue] = {}


class AuditStreamCreate(Schema, kw_only=True):
    name: Name
    type: Literal["webhook"]
    config: AuditStreamConfig
    start: Literal["now", "beginning"] = "now"
    enabled: bool = True


class AuditStreamUpdate(Schema, kw_only=True):
    """Headers belong to the server that they were given for: a new address needs them again."""

    name: Name | UnsetType = UNSET
    config: AuditStreamConfig | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET


class AuditStreamOut(Schema, kw_only=True):
    id: str
    name: str
    type: Literal["webhook"] = "webhook"
    config: AuditStreamConfig
    enabled: bool
    cursor: int
    lag: int
    last_error: str | None
    last_sent_at: Instant | None
    created_at: Instant
    updated_at: Instant


class NewAuditStream(AuditStreamOut, kw_only=True):
    secret: str


class AuditStreamTest(Schema, kw_only=True):
    success: bool
    message: str
