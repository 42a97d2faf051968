from enum import StrEnum

from retinue.kit.db.models import Record, table


class Role(StrEnum):
    super_admin = "super_admin"
    tenant_admin = "tenant_admin"
    agent_developer = "agent_developer"
    agent_user = "agent_user"
    viewer = "viewer"


@table("role_permissions", prefix="role", is_configuration=True, identity_columns=("permissions",))
class RolePermissions(Record, kw_only=True):
    """The permissions of a role (`id`) on the whole instance; `known` is the catalogue it was synced with."""

    permissions: list[str]
    known: list[str]
