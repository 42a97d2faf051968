from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from retinue.access.models import Role
from retinue.kit.lists import ListQuery, Slice
from retinue.kit.schemas import Email, Name, Schema
from retinue.users.addresses import kept_form
from retinue.users.models import Invitation, User, UserStatus


class Address(Schema, kw_only=True):
    """A mail address, in the one form in which addresses are kept and compared."""

    email: Email

    def __post_init__(self) -> None:
        self.email = kept_form(self.email)


class UserOut(Schema, kw_only=True):
    id: str
    email: str
    first_name: str
    last_name: str
    role: Role
    tenant_id: str
    email_verified: bool
    mfa_enabled: bool
    status: UserStatus
    last_login_at: str | None
    created_at: str
    updated_at: str


class UserPage(Schema, kw_only=True):
    users: list[UserOut]
    total: int
    page: int
    per_page: int

    @classmethod
    def shown(cls, found: Slice[User]) -> "UserPage":
        return cls.of(found, users=[UserOut.of(user) for user in found.items])


class UserList(ListQuery, kw_only=True):
    role: Role | None = None
    status: UserStatus | None = None
    tenant_id: Annotated[str, Meta(max_length=64)] | None = None


class ProfileOut(UserOut, kw_only=True):
    avatar_url: str | None
    timezone: str
    language: str


class ProfileUpdate(Schema, kw_only=True):
    first_name: Name | UnsetType = UNSET
    last_name: Name | UnsetType = UNSET
    timezone: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET
    language: Annotated[str, Meta(max_length=64)] | UnsetType = UNSET


class ProfileUpdated(Schema, kw_only=True):
    id: str
    first_name: str
    last_name: str
    timezone: str
    language: str
    updated_at: str


class AvatarChanged(Schema, kw_only=True):
    avatar_url: str
    message: str


class Invite(Address, kw_only=True):
    role: Role


class Invited(Schema, kw_only=True):
    id: str
    email: str
    role: Role
    expires_at: str
    message: str


class InvitationOut(Schema, kw_only=True):
    id: str
    email: str
    role: Role
    status: str
    invited_by: str
    expires_at: str
    created_at: str

    @classmethod
    def shown(cls, invitation: Invitation, now: str) -> "InvitationOut":
        status = "pending" if invitation.expires_at > now else "expired"
        return cls.of(invitation, status="accepted" if invitation.accepted_at else status)
