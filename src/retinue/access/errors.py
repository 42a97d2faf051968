from retinue.kit.errors import Conflict, Forbidden, RetinueError


class RoleNotFound(RetinueError):
    """There is no such role."""

    status, code = 404, "role_not_found"


class RoleLocked(Conflict):
    """The permissions of the super administrator role cannot be changed."""

    code = "role_locked"


class RoleAboveYours(Forbidden):
    """You cannot grant a role above your own or change a user who has one."""

    def __init__(self, role: str, your_role: str) -> None:
        super().__init__(role, your_role, reason="role_above_yours", message=type(self).__doc__)


class PermissionAboveYours(Forbidden):
    """You cannot grant a permission that you do not hold, or act for somebody who holds it."""

    def __init__(self, permission: str, your_role: str) -> None:
        super().__init__(permission, your_role, reason="permission_above_yours", message=type(self).__doc__)
