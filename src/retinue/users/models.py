from enum import StrEnum

from retinue.access.models import Role
from retinue.kit.clock import Instant
from retinue.kit.db.models import TenantRecord, table


class UserStatus(StrEnum):
    active = "active"
    inactive = "inactive"


@table(
    "users",
    prefix="usr",
    unique=[("email",), ("id",)],
    indexes=[("tenant_id", "created_at"), ("tenant_id", "role")],
)
class User(TenantRecord, kw_only=True):
    """A person who signs in; the address is unique on the whole instance and kept in lower case."""

    email: str
    password_hash: str
    first_name: str = ""
    last_name: str = ""
    role: Role = Role.agent_user
    status: UserStatus = UserStatus.active
    email_verified: bool = False
    mfa_enabled: bool = False
    timezone: str = "UTC"
    language: str = "en"
    avatar_file_id: str | None = None
    last_login_at: Instant | None = None


@table("invitations", prefix="inv", unique=[("token_hash",), ("tenant_id", "email")])
class Invitation(TenantRecord, kw_only=True):
    """A place in a tenant for someone who has no account yet; the token is known by its hash only."""

    email: str
    role: Role
    token_hash: str
    invited_by: str
    expires_at: Instant
    accepted_at: Instant | None = None
