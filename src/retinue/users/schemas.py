from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, UnsetType

from retinue.access.models import Role
from retinue.kit.lists import ListQuery, Slice
from retinue.kit.schema.base import Email, Name, Schema
from retinue.users.email_addresses import normalize_email
from retinue.users.models import Invitation, User, UserStatus

MAX_NAMES = 100
MAX_FOUND_NAMES = 20
MIN_SEARCH_LENGTH = 2

NamedKind = Literal["user", "service_account", "embed_key"]


class Address(Schema, kw_only=True):
    """An email address, normalized for storage and comparison."""

    email: Email

    def __post_init__(self) -> None:
        self.email = normalize_email(self.email)


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
    is_pending: bool
    last_login_at: str | None
    created_at: str
    updated_at: str


class UserPage(Schema, kw_only=True):
    users: list[UserOut]
    total: int
    page: int
    per_page: int

    @classmethod
    def from_record(cls, page: Slice[User]) -> "UserPage":
        return cls.of(page, users=[UserOut.of(user) for user in page.items])


class UserList(ListQuery, kw_only=True):
    role: Role | None = None
    status: UserStatus | None = None
    is_pending: bool | None = None
    tenant_id: Annotated[str, Meta(max_length=64)] | None = None


def _public_name(user: User) -> str:
    """Return the name; an account without one is shown by the part of its address before the `@`."""
    return f"{user.first_name} {user.last_name}".strip() or user.email.partition("@")[0]


class AdministratorOut(Schema, kw_only=True):
    id: str
    name: str
    role: Role

    @classmethod
    def from_record(cls, user: User) -> "AdministratorOut":
        return cls.of(user, name=_public_name(user))


class NameQuery(Schema, kw_only=True):
    ids: Annotated[str, Meta(max_length=MAX_NAMES * 65)] = ""
    search: Annotated[str, Meta(min_length=MIN_SEARCH_LENGTH, max_length=100)] | None = None


class NameOut(Schema, kw_only=True):
    id: str
    name: str
    kind: NamedKind

    @classmethod
    def from_record(cls, record: Any, kind: NamedKind) -> "NameOut":
        """Return the name of a user, or of another record with a `name`."""
        name = _public_name(record) if isinstance(record, User) else record.name
        return cls(id=record.id, name=name, kind=kind)


class AccessRequestCreate(Schema, kw_only=True):
    permission: Annotated[str, Meta(min_length=1, max_length=100)]
    note: Annotated[str, Meta(max_length=500)] = ""


class AccessRequestOut(Schema, kw_only=True):
    id: str
    permission: str
    note: str
    asked_at: str


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
    """`invite_url` is present only without a mail server: pass it on to the invited person."""

    id: str
    email: str
    role: Role
    expires_at: str
    message: str
    invite_url: str | UnsetType = UNSET


class InvitationOut(Schema, kw_only=True):
    id: str
    email: str
    role: Role
    status: str
    invited_by: str
    expires_at: str
    created_at: str

    @classmethod
    def from_record(cls, invitation: Invitation, now: str) -> "InvitationOut":
        status = "pending" if invitation.expires_at > now else "expired"
        return cls.of(invitation, status="accepted" if invitation.accepted_at else status)
