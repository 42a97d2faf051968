"""Objects and calls of approvals for the contract tests."""

from retinue.access.models import Role
from retinue.approvals.models import Approval, ApprovalResponse
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.approvals import some_approval, some_link


async def _make(world: World) -> dict[str, str]:
    approval = await some_approval(world.ctx, world.member.id, world.owner.id, title=world.name)
    return {"approval_id": approval.id, "token": await some_link(world.ctx, approval, world.owner)}


CONTRACT = DomainContract(records=(Approval, ApprovalResponse), make=_make, shared={"token"})


_RESOLVED = "approvals.status approvals.resolved_at approvals.resolved_by approvals.updated_at"


async def _create_pending(scene: Scene) -> str:
    """Return an approval that the scene's user can decide."""
    async with scene.people.context(scene.user.tenant_id) as ctx:
        asker = await scene.people.user(Role.viewer)
        return (await some_approval(ctx, asker.id, scene.user.id)).id


@CONTRACT.writes(f"{_RESOLVED} approvals.approvals_received", approval_responses=1)
async def approve(scene: Scene) -> Call:
    return Call(scene.me, {"comment": "Fine"}, {"approval_id": await _create_pending(scene)})


@CONTRACT.writes(_RESOLVED, approval_responses=1)
async def reject(scene: Scene) -> Call:
    return Call(scene.me, {"comment": "No"}, {"approval_id": await _create_pending(scene)})


@CONTRACT.writes(_RESOLVED)
async def cancel_approval(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        asked = await some_approval(ctx, scene.user.id)
    return Call(scene.me, {"comment": "Never mind"}, {"approval_id": asked.id})
