from typing import Annotated

from msgspec import UNSET, Meta, Raw, UnsetType

from retinue.incoming.models import IncomingWebhook, ReceivedPayload, ReceivedStatus, VerificationType
from retinue.kit.lists import ListQuery, PageQuery
from retinue.kit.schema.base import Name, Schema
from retinue.kit.schema.messages import PatternMessage

Slug = Annotated[
    str,
    Meta(pattern=r"^[a-z0-9][a-z0-9-]{2,62}$(?!\n)", max_length=63),
    PatternMessage("must be 3 to 63 lower-case letters, digits or hyphens, and begin with a letter or digit"),
]
HeaderName = Annotated[
    str,
    Meta(pattern=r"^[A-Za-z0-9_-]{1,100}$(?!\n)", max_length=100),
    PatternMessage("must be the name of a header: letters, digits, hyphens or underscores"),
]
Description = Annotated[str, Meta(max_length=2000)]
WorkflowId = Annotated[str, Meta(min_length=1, max_length=64)]
VerificationSecret = Annotated[str, Meta(min_length=1, max_length=500)]


class Verification(Schema, kw_only=True):
    """How requests are verified; `header` applies to `hmac_sha256` and `token`, other types have fixed ones.

    An update without `secret` keeps the stored one if the type stays the same.
    """

    type: VerificationType
    header: HeaderName | None = None
    secret: VerificationSecret | None = None


class IncomingWebhookCreate(Schema, kw_only=True):
    """Without a `slug`, the URL gets 16 random characters."""

    name: Name
    slug: Slug | None = None
    description: Description | None = None
    workflow_id: WorkflowId | None = None
    active: bool = True
    verification: Verification | None = None
    dedupe_header: HeaderName | None = None


class IncomingWebhookUpdate(Schema, kw_only=True):
    name: Name | UnsetType = UNSET
    slug: Slug | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    workflow_id: WorkflowId | UnsetType | None = UNSET
    active: bool | UnsetType = UNSET
    verification: Verification | UnsetType | None = UNSET
    dedupe_header: HeaderName | UnsetType | None = UNSET


class VerificationOut(Schema, kw_only=True):
    """The verification without its secret."""

    type: VerificationType
    header: str | None
    has_secret: bool


class IncomingWebhookOut(Schema, kw_only=True):
    id: str
    name: str
    slug: str
    url: str
    description: str | None
    workflow_id: str | None
    active: bool
    verification: VerificationOut
    dedupe_header: str | None
    event_count: int
    last_received_at: str | None
    created_at: str
    updated_at: str

    @classmethod
    def from_record(cls, hook: IncomingWebhook, base_url: str) -> "IncomingWebhookOut":
        verification = VerificationOut(
            type=hook.verification_type,
            header=hook.verification_header,
            has_secret=hook.secret is not None,
        )
        return cls.of(hook, url=f"{base_url.rstrip('/')}/webhooks/in/{hook.slug}", verification=verification)


class IncomingWebhookList(ListQuery, kw_only=True):
    active: bool | None = None
    workflow_id: WorkflowId | None = None


class ReceivedList(PageQuery, kw_only=True):
    status: ReceivedStatus | None = None


class ReceivedOut(Schema, kw_only=True):
    """Lists omit payloads of more than 64 KiB and set `is_payload_omitted`.

    An event of this tenant that its own webhook delivered here may quote a conversation. Callers who may not
    read that one get no payload, and `redacted`.
    """

    id: str
    incoming_webhook_id: str
    payload: Raw
    payload_bytes: int
    is_payload_omitted: bool
    headers: dict[str, str]
    query: dict[str, str]
    content_type: str | None
    source_ip: str
    status: ReceivedStatus
    duplicate_of: str | None
    replay_of: str | None
    workflow_id: str | None
    workflow_execution_id: str | None
    event_id: str
    correlation_id: str
    error: str | None
    created_at: str
    redacted: bool | UnsetType = UNSET

    @classmethod
    def from_record(
        cls, received: ReceivedPayload, large: str | None = None, *, is_readable: bool
    ) -> "ReceivedOut":
        text = received.payload if received.payload is not None else large
        is_omitted = text is None and received.duplicate_of is None
        return cls.of(
            received,
            payload=Raw((text or "null").encode() if is_readable else b"null"),
            is_payload_omitted=is_omitted,
            redacted=UNSET if is_readable else True,
        )


class Replayed(Schema, kw_only=True):
    """The replayed payload, with an id of its own."""

    id: str
    replay_of: str
    event_id: str
    status: ReceivedStatus


class Receipt(Schema, kw_only=True):
    """A duplicate returns the ids of the first delivery; `challenge` answers Slack's URL verification."""

    received: bool = True
    id: str
    event_id: str
    duplicate: bool = False
    workflow_execution_id: str | None = None
    challenge: str | UnsetType = UNSET
