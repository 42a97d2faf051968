from typing import Annotated, Literal

from msgspec import Meta

from retinue.access.models import Role
from retinue.auth.schemas.sign_in import NewPassword, Password
from retinue.kit.schema.base import Name, Schema
from retinue.users.schemas import Address

LinkToken = Annotated[str, Meta(min_length=1, max_length=256)]


class Registration(Address, kw_only=True):
    password: NewPassword
    first_name: Name
    last_name: Name
    invite_token: LinkToken | None = None


class Registered(Schema, kw_only=True):
    id: str
    email: str
    first_name: str
    last_name: str
    role: str
    email_verified: bool
    message: str


class LinkCheck(Schema, kw_only=True):
    purpose: Literal["setup", "reset_password"]
    token: LinkToken


class InvitationToken(Schema, kw_only=True):
    invite_token: LinkToken


class InvitationDetails(Schema, kw_only=True):
    """An open invitation, for the person who holds its link."""

    email: str
    role: Role
    organization: str
    invited_by: str | None
    expires_at: str


class EmailVerification(Schema, kw_only=True):
    token: LinkToken


class PasswordReset(Schema, kw_only=True):
    token: LinkToken
    new_password: NewPassword


class PasswordChange(Schema, kw_only=True):
    current_password: Password
    new_password: NewPassword
