from typing import Annotated

from msgspec import Meta

from retinue.kit.schemas import Schema


class PermissionOut(Schema, kw_only=True):
    key: str
    description: str
    category: str


class PermissionCatalogue(Schema, kw_only=True):
    permissions: list[PermissionOut]


class RoleOut(Schema, kw_only=True):
    role: str
    permissions: list[str]


class RoleUpdate(Schema, kw_only=True):
    permissions: Annotated[list[Annotated[str, Meta(max_length=100)]], Meta(max_length=500)]


class RoleUpdated(RoleOut, kw_only=True):
    message: str = "The permissions of the role have been changed."
