from retinue.kit.errors import RetinueError


class TenantNotFound(RetinueError):
    """There is no such tenant."""

    status, code = 404, "tenant_not_found"
