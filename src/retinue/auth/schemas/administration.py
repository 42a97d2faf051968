from typing import Literal

from msgspec import UNSET, UnsetType

from retinue.access.models import Role
from retinue.kit.schema.base import Schema
from retinue.users.models import UserStatus


class RoleChange(Schema, kw_only=True):
    role: Role


class RoleChanged(Schema, kw_only=True):
    id: str
    role: Role
    message: str


class StatusChanged(Schema, kw_only=True):
    id: str
    status: UserStatus
    message: str


class MfaReset(Schema, kw_only=True):
    id: str
    mfa_enabled: Literal[False]
    message: str


class ResetLinkIssued(Schema, kw_only=True):
    """`reset_url` is present only without a mail server: pass it on to the user."""

    id: str
    message: str
    reset_url: str | UnsetType = UNSET
