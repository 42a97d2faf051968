from enum import StrEnum
from typing import Annotated

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Ref, TenantRecord, table
from retinue.kit.json_types import JsonObject


class CredentialType(StrEnum):
    api_key = "api_key"
    oauth2 = "oauth2"
    basic_auth = "basic_auth"
    bearer_token = "bearer_token"  # noqa: S105  the name of a type
    database = "database"
    ssh = "ssh"
    smtp = "smtp"
    custom = "custom"


class IntegrationType(StrEnum):
    tool = "tool"
    agent = "agent"
    workflow = "workflow"
    channel = "channel"
    user = "user"
    role = "role"


class AccessPermission(StrEnum):
    use = "use"
    reveal = "reveal"
    manage = "manage"


@table(
    "credentials",
    prefix="cred",
    indexes=[("tenant_id", "created_at"), ("tenant_id", "type"), ("expires_at",), ("token_expires_at",)],
)
class Credential(TenantRecord, kw_only=True):
    """Named secrets of one type, encrypted; their masked values are stored separately.

    `destinations` are the origins that the secrets may be sent to (ADR 8): those named when the secrets were
    entered, and those added by somebody who knows them. `entered_by` is the one user who entered all of
    them, or empty. `refresh_lease_until` is set while the access token is being renewed, and
    `refresh_failed_at` after a renewal failed.
    """

    # Secrets have a `version` of their own, and the automatic renewal of a token is not an edit.
    __untagged__ = frozenset(
        {
            "updated_at",
            "secrets",
            "masked",
            "is_valid",
            "expiry_announced",
            "token_expires_at",
            "token_renewed_at",
            "refresh_lease_until",
            "refresh_failed_at",
            "last_tested_at",
            "last_used_at",
        }
    )

    name: str
    type: CredentialType
    description: str = ""
    secrets: Sealed
    secret_keys: list[str]
    masked: dict[str, str]
    metadata: JsonObject
    destinations: list[str]
    is_valid: bool = True
    version: int = 1
    expires_at: Instant | None = None
    expiry_announced: str | None = None
    token_expires_at: Instant | None = None
    token_renewed_at: Instant | None = None
    refresh_lease_until: Instant | None = None
    refresh_failed_at: Instant | None = None
    rotated_at: Instant | None = None
    last_tested_at: Instant | None = None
    last_used_at: Instant | None = None
    created_by: str
    entered_by: str

    def is_expired(self, now: Instant) -> bool:
        return self.expires_at is not None and self.expires_at <= now


@table(
    "credential_access",
    prefix="cra",
    unique=[("tenant_id", "credential_id", "integration_type", "integration_id", "permission")],
)
class AccessRule(TenantRecord, kw_only=True):
    """The rights of an integration or a user to a credential; see `access_rules`."""

    credential_id: Annotated[str, Ref(Credential, cascade=True)]
    integration_type: IntegrationType
    integration_id: str
    permission: AccessPermission = AccessPermission.use
    expires_at: Instant | None = None
    granted_by: str
