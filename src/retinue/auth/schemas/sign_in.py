from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from retinue.auth.password_rules import password_problem
from retinue.kit.schema.base import Schema
from retinue.kit.schema.messages import FieldRule
from retinue.users.schemas import Address

# Longer than any password that can be set: a long wrong password answers 401, only a huge one 422.
Password = Annotated[str, Meta(min_length=1, max_length=1024)]
NewPassword = Annotated[str, Meta(min_length=1, max_length=1024), FieldRule(password_problem)]


class Credentials(Address, kw_only=True):
    session: Literal["cookie"] | UnsetType = UNSET
    remember: bool = False
    # Any text: an invalid address is answered like an unknown one.
    email: Annotated[str, Meta(min_length=1, max_length=254)]
    password: Password


class Tokens(Schema, kw_only=True):
    access_token: str
    refresh_token: str | UnsetType = UNSET
    token_type: str = "Bearer"  # noqa: S105  a scheme
    expires_in: int


class SignedInUser(Schema, kw_only=True):
    id: str
    email: str
    role: str


class SignedIn(Tokens, kw_only=True):
    user: SignedInUser


class MfaRequired(Schema, kw_only=True):
    mfa_required: bool = True
    mfa_token: str
    message: str = "Enter the code of your authenticator."


class RefreshRequest(Schema, kw_only=True):
    refresh_token: Annotated[str, Meta(min_length=1, max_length=1024)] | UnsetType = UNSET
    session: Literal["cookie"] | UnsetType = UNSET
