from retinue.kit.events.declare import Event, event


@event("access.role_permissions_changed", subject="role", audited=True, listed=False)
class RolePermissionsChanged(Event, kw_only=True):
    """The permissions of a role were changed, for every tenant."""

    role: str
    granted: list[str]
    withdrawn: list[str]
