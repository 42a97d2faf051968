from retinue.kit.schema.base import Schema


class PermissionOut(Schema, kw_only=True):
    key: str
    description: str
    category: str


class PermissionCatalogue(Schema, kw_only=True):
    permissions: list[PermissionOut]


class RoleOut(Schema, kw_only=True):
    role: str
    permissions: list[str]


class RoleUpdated(RoleOut, kw_only=True):
    message: str
