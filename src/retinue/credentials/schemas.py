from enum import StrEnum
from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.credentials.kinds import CredentialKind
from retinue.credentials.models import AccessPermission, Credential, CredentialType, IntegrationType
from retinue.kit.clock import Instant
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import ListQuery, PageQuery
from retinue.kit.schema.base import Name, Schema

Description = Annotated[str, Meta(max_length=1000)]
InstantText = Annotated[str, Meta(max_length=64, description="A date and time such as 2026-11-15T08:30:00Z")]
Id = Annotated[str, Meta(min_length=1, max_length=64)]


class CredentialCreate(Schema, kw_only=True):
    name: Name
    type: CredentialType
    description: Description | None = None
    secrets: JsonObject
    metadata: JsonObject | None = None
    expires_at: InstantText | None = None


class CredentialUpdate(Schema, kw_only=True):
    """`type` cannot change; `secrets` are merged into the stored ones, where null removes a key."""

    name: Name | UnsetType = UNSET
    type: CredentialType | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    secrets: JsonObject | UnsetType = UNSET
    metadata: JsonObject | UnsetType | None = UNSET
    expires_at: InstantText | UnsetType | None = UNSET


class SecretsUpdate(Schema, kw_only=True):
    """With `merge`, secrets are merged and null removes a key; without, they replace the stored ones."""

    secrets: JsonObject
    merge: bool = True


class CredentialTest(Schema, kw_only=True):
    secrets: JsonObject | None = None


class CredentialList(ListQuery, kw_only=True):
    type: CredentialType | None = None


class CredentialSummary(Schema, kw_only=True):
    """`is_valid` is false for an expired credential, regardless of its last test.

    Secrets may be sent only to `destinations`.
    """

    id: str
    name: str
    type: CredentialType
    description: str
    is_valid: bool
    last_tested_at: Instant | None
    last_used_at: Instant | None
    expires_at: Instant | None
    destinations: list[str]
    created_at: Instant
    updated_at: Instant

    @classmethod
    def from_record(cls, credential: Credential, now: Instant) -> Self:
        return cls.of(credential, is_valid=credential.is_valid and not credential.is_expired(now))


class CredentialOut(CredentialSummary, kw_only=True):
    """`masked` has at most the last four characters of each secret."""

    metadata: JsonObject
    secret_keys: list[str]
    masked: dict[str, str]
    version: int
    rotated_at: Instant | None
    created_by: str


class CredentialDeleteQuery(Schema, kw_only=True):
    force: bool = False


class Revealed(Schema, kw_only=True):
    id: str
    type: CredentialType
    secrets: JsonObject
    version: int
    revealed_at: Instant


class FailedTest(Schema, kw_only=True):
    code: str
    message: str


class CredentialTestResult(Schema, kw_only=True):
    success: bool
    is_valid: bool
    message: str
    checked: Literal["connection", "token", "format"]
    latency_ms: int
    tested_at: Instant
    error: FailedTest | None


class SecretKeyOut(Schema, kw_only=True):
    type: str
    required: bool
    secret: bool
    description: str
    default: Any
    choices: list[str]


class CredentialTypeOut(Schema, kw_only=True):
    type: CredentialType
    name: str
    description: str
    testable: bool
    secret_schema: dict[str, SecretKeyOut]

    @classmethod
    def from_record(cls, kind: CredentialKind) -> Self:
        keys = {name: SecretKeyOut.of(key, choices=list(key.choices)) for name, key in kind.keys.items()}
        return cls.of(kind, testable=kind.is_testable, secret_schema=keys)


class AccessGrant(Schema, kw_only=True):
    integration_type: IntegrationType
    integration_id: Id
    permission: AccessPermission = AccessPermission.use
    expires_at: InstantText | None = None


class AccessRuleOut(Schema, kw_only=True):
    id: str
    credential_id: str
    integration_type: IntegrationType
    integration_id: str
    permission: AccessPermission
    expires_at: Instant | None
    granted_by: str
    created_at: Instant


class AuditAction(StrEnum):
    created = "created"
    updated = "updated"
    secrets_updated = "secrets_updated"
    deleted = "deleted"
    revealed = "revealed"
    used = "used"
    tested = "tested"
    refreshed = "refreshed"
    refresh_failed = "refresh_failed"
    access_granted = "access_granted"
    access_revoked = "access_revoked"
    access_denied = "access_denied"
    destination_added = "destination_added"
    expiring = "expiring"
    expired = "expired"


class AuditQuery(PageQuery, kw_only=True):
    action: AuditAction | None = None
    actor_id: Id | None = None
    success: bool | None = None
    from_: InstantText | None = msgspec.field(name="from", default=None)
    to: InstantText | None = None


class GlobalAuditQuery(AuditQuery, kw_only=True):
    credential_id: Id | None = None


class AuditActor(Schema, kw_only=True):
    type: str
    id: str
    name: str | None


class AuditRecord(Schema, kw_only=True):
    """`via` names the tool, agent and execution through which the credential was used."""

    id: str
    credential_id: str
    credential_name: str
    action: str
    actor: AuditActor
    via: JsonObject | None
    success: bool
    reason: str | None
    ip_address: str
    user_agent: str
    correlation_id: str
    metadata: JsonObject
    created_at: Instant
    hash: str
    prev_hash: str
