from enum import StrEnum
from typing import Annotated, Any

from retinue.kit.clock import Instant
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import Ref, TenantRecord, table


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
    """Secrets of one kind under a name; what may be shown of them is stored beside the sealed values.

    `destinations` are the origins the secrets may be sent to: those known when the secrets were entered,
    and those that someone who knows them added. `entered_by` is who knows them: the one person who entered
    all of them, or nobody. `refresh_lease_until` is set while someone renews the access token, and
    `refresh_failed_at` since that did not work.
    """

    name: str
    type: CredentialType
    description: str = ""
    secrets: Sealed
    secret_keys: list[str]
    masked: dict[str, str]
    metadata: dict[str, Any]
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
    """What an integration or a person may do with a credential, as `access_rules` explains it."""

    credential_id: Annotated[str, Ref(Credential, cascade=True)]
    integration_type: IntegrationType
    integration_id: str
    permission: AccessPermission = AccessPermission.use
    expires_at: Instant | None = None
    granted_by: str
