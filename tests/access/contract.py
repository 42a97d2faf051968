"""Objects and calls of roles for the contract tests."""

from retinue.access.models import Role, RolePermissions
from tests.contract.knowledge import Call, DomainContract, Scene

CONTRACT = DomainContract(records=(RolePermissions,), values={"role": [role.value for role in Role]})


@CONTRACT.writes("role_permissions.permissions role_permissions.updated_at")
async def set_role_permissions(scene: Scene) -> Call:
    return Call(scene.admin, {"permissions": ["agents:read"]}, {"role": "viewer"})
