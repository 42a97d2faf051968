"""Objects and calls of users and invitations for the contract tests."""

from collections.abc import Collection

from retinue.access.models import Role
from retinue.kit.ids import new_id
from retinue.users.models import AccessRequest, Invitation, User
from tests.client import Api
from tests.contract.knowledge import FAR, Call, DomainContract, Scene, World
from tests.factories.uploads import upload_avatar


async def _make(world: World) -> dict[str, str]:
    invitation = Invitation(
        email=f"{world.name}@example.com".lower(),
        role=Role.viewer,
        token_hash=new_id("hash"),
        invited_by=world.owner.id,
        expires_at=FAR,
    )
    return {"user_id": world.member.id, "invitation_id": (await world.ctx.db.insert(invitation)).id}


async def _upload(person: Api, wanted: Collection[str]) -> dict[str, str]:
    return {"avatar_id": await upload_avatar(person)} if "avatar_id" in wanted else {}


CONTRACT = DomainContract(
    records=(User, Invitation, AccessRequest), make=_make, upload=_upload, shared={"avatar_id"}
)


@CONTRACT.writes("users.first_name users.timezone users.updated_at")
async def update_profile(scene: Scene) -> Call:
    return Call(scene.me, {"first_name": "Augusta", "timezone": "Europe/London"})


@CONTRACT.writes(access_requests=1)
async def request_access(scene: Scene) -> Call:
    viewer = await scene.people.signed_in(Role.viewer)
    return Call(viewer, {"permission": "workflows:execute", "note": "Nightly report"})


@CONTRACT.writes(invitations=1)
async def invite_user(scene: Scene) -> Call:
    return Call(scene.me, {"email": "guest@example.com", "role": "viewer"})


@CONTRACT.writes("users.role users.updated_at")
async def change_user_role(scene: Scene) -> Call:
    return Call(scene.admin, {"role": "agent_user"}, {"user_id": scene.user.id})
