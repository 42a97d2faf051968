from enum import StrEnum
from typing import Annotated

from retinue.access.models import Role
from retinue.kit.clock import Instant
from retinue.kit.db.models import Ref, ServerDefault, TenantRecord, index_where, table


class UserStatus(StrEnum):
    active = "active"
    inactive = "inactive"


@table(
    "users",
    prefix="usr",
    unique=[("email",), ("id",)],
    indexes=[("tenant_id", "created_at"), ("tenant_id", "role")],
    extra=index_where("is_pending", "tenant_id"),
    identity_columns=("role", "status", "is_pending", "is_vouched_for", "email_verified"),
)
class User(TenantRecord, kw_only=True):
    """A person who signs in. The normalized address is unique on the whole instance.

    `is_vouched_for`: an administrator invited, created or approved the account, or gave it a role.

    `is_pending`: it registered where accounts need approval, and nobody has approved it yet.
    """

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
    is_pending: Annotated[bool, ServerDefault("false")] = False
    is_vouched_for: Annotated[bool, ServerDefault("false")] = False

    @property
    def display_name(self) -> str:
        return " ".join(f"{self.first_name} {self.last_name}".split()) or self.email


@table("access_requests", prefix="arq", unique=[("tenant_id", "user_id", "permission")])
class AccessRequest(TenantRecord, kw_only=True):
    """A user's request for a permission, one row for each permission; asking again renews `asked_at`."""

    user_id: Annotated[str, Ref(User, cascade=True)]
    permission: str
    note: str = ""
    asked_at: Instant


@table("invitations", prefix="inv", unique=[("token_hash",), ("tenant_id", "email")])
class Invitation(TenantRecord, kw_only=True):
    """A place in a tenant for someone without an account. Only the hash of the token is stored.

    `proves_address` is set if the link was only mailed: its holder can read that mailbox.
    """

    email: str
    role: Role
    token_hash: str
    invited_by: str
    expires_at: Instant
    accepted_at: Instant | None = None
    proves_address: Annotated[bool, ServerDefault("false")] = False
