from enum import StrEnum

from retinue.kit.db.models import Record, table


class Role(StrEnum):
    super_admin = "super_admin"
    tenant_admin = "tenant_admin"
    agent_developer = "agent_developer"
    agent_user = "agent_user"
    viewer = "viewer"


@table("role_permissions", prefix="role")
class RolePermissions(Record, kw_only=True):
    """What a role may do, on the whole instance; `id` is the role, `known` the catalogue it was set from."""

    permissions: list[str]
    known: list[str]
