"""How the routes of approvals are called so that they succeed, and what that may change."""

from retinue.access.models import Role
from tests.contract.writing import Call, Scene, writes
from tests.factories.approvals import some_approval

_RESOLVED = "approvals.status approvals.resolved_at approvals.resolved_by approvals.updated_at"


async def _pending(scene: Scene) -> str:
    """One that the scene's user decides."""
    async with scene.people.context(scene.user.tenant_id) as ctx:
        asker = await scene.people.user(Role.viewer)
        return (await some_approval(ctx, asker.id, scene.user.id)).id


@writes(f"{_RESOLVED} approvals.approvals_received", approval_responses=1)
async def approve(scene: Scene) -> Call:
    return Call(scene.me, {"comment": "Fine"}, {"approval_id": await _pending(scene)})


@writes(_RESOLVED, approval_responses=1)
async def reject(scene: Scene) -> Call:
    return Call(scene.me, {"comment": "No"}, {"approval_id": await _pending(scene)})


@writes(_RESOLVED)
async def cancel_approval(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        asked = await some_approval(ctx, scene.user.id)
    return Call(scene.me, {"comment": "Never mind"}, {"approval_id": asked.id})
