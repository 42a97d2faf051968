from typing import Annotated

from retinue.access.errors import RoleAboveYours
from retinue.kit.context import Context
from retinue.kit.errors import Conflict, VaultSealed
from retinue.kit.http.routing import Routes, loaded
from retinue.kit.lists import ListQuery, Page
from retinue.kit.schemas import Message
from retinue.users import invitations
from retinue.users.errors import EmailTaken, InvitationNotFound
from retinue.users.models import Invitation
from retinue.users.queries import INVITATIONS
from retinue.users.schemas import InvitationOut, Invite, Invited

routes = Routes("/users", tag="users")

InvitationById = Annotated[Invitation, loaded(Invitation, "invitation_id", InvitationNotFound)]


@routes.post(
    "/invite",
    requires="admin:users",
    status=201,
    errors=(RoleAboveYours, EmailTaken, Conflict, VaultSealed),
)
async def invite_user(ctx: Context, body: Invite) -> Invited:
    return Invited.of(await invitations.invite(ctx, body), message="The invitation has been sent.")


@routes.get("/invitations", requires="admin:users")
async def list_invitations(ctx: Context, query: ListQuery) -> Page[InvitationOut]:
    found = await INVITATIONS.page(ctx.db, query)
    return found.shown(lambda invitation: InvitationOut.shown(invitation, ctx.now))


@routes.delete("/invitations/{invitation_id}", requires="admin:users")
async def revoke_invitation(ctx: Context, invitation: InvitationById) -> Message:
    await invitations.revoke(ctx, invitation)
    return Message(message="The invitation has been taken back.")
