from typing import Annotated

from msgspec import UNSET

from retinue.access.errors import PermissionAboveYours, RoleAboveYours
from retinue.kit.context import Context
from retinue.kit.errors import Conflict, VaultSealed
from retinue.kit.http.routing import Routes, path_loader
from retinue.kit.lists import ListQuery, Page
from retinue.kit.schema.base import MessageReply
from retinue.users import invitations
from retinue.users.errors import EmailTaken, InvitationNotFound
from retinue.users.invitations import IssuedInvitation
from retinue.users.models import Invitation
from retinue.users.queries import INVITATIONS
from retinue.users.schemas import InvitationOut, Invite, Invited

routes = Routes("/users", tag="users")

InvitationById = Annotated[Invitation, path_loader(Invitation, "invitation_id", InvitationNotFound)]


@routes.post(
    "/invite",
    requires="admin:users",
    status=201,
    errors=(RoleAboveYours, PermissionAboveYours, EmailTaken, Conflict, VaultSealed),
)
async def invite_user(ctx: Context, body: Invite) -> Invited:
    """Invite a mail address to join the tenant with a role.

    The link is mailed and works for seven days. An instance without a mail server mails nothing and returns
    the link as `invite_url`. An address that has an account answers 409 `email_taken`.
    """
    return _render_invitation(await invitations.invite(ctx, body))


@routes.get("/invitations", requires="admin:users")
async def list_invitations(ctx: Context, query: ListQuery) -> Page[InvitationOut]:
    """List the tenant's invitations, newest first by default, including accepted and expired ones."""
    page = await INVITATIONS.page(ctx.db, query)
    return page.to_page(lambda invitation: InvitationOut.from_record(invitation, ctx.now))


@routes.post(
    "/invitations/{invitation_id}/resend",
    requires="admin:users",
    # Separate transactions find the account and notify its owner.
    calls_out=True,
    errors=(RoleAboveYours, PermissionAboveYours, EmailTaken, Conflict, VaultSealed),
)
async def resend_invitation(ctx: Context, invitation: InvitationById) -> Invited:
    """Create a new link for an invitation, valid for seven days, and mail it.

    The previous link stops working. An accepted invitation answers 409.
    """
    return _render_invitation(await invitations.resend(ctx, invitation))


@routes.delete("/invitations/{invitation_id}", requires="admin:users")
async def revoke_invitation(ctx: Context, invitation: InvitationById) -> MessageReply:
    """Delete an invitation; its link stops working. An account that already registered with it stays."""
    await invitations.revoke(ctx, invitation)
    return MessageReply(message="The invitation has been revoked.")


def _render_invitation(issued: IssuedInvitation) -> Invited:
    message = "The invitation has been sent."
    if issued.is_link_shown:
        message = "No mail server is set up, so nothing was mailed. Give invite_url to the invited person."
    link = issued.link if issued.is_link_shown else UNSET
    return Invited.of(issued.invitation, message=message, invite_url=link)
