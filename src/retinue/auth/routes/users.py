from msgspec import UNSET

from retinue.access.errors import PermissionAboveYours, RoleAboveYours
from retinue.auth import administration
from retinue.auth.errors import SessionNotFound
from retinue.auth.schemas.administration import (
    MfaReset,
    ResetLinkIssued,
    RoleChange,
    RoleChanged,
    StatusChanged,
)
from retinue.auth.schemas.sessions import SessionOut
from retinue.kit.context import Context
from retinue.kit.errors import Conflict, RateLimited
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page, PageQuery
from retinue.kit.schema.base import MessageReply
from retinue.users.errors import CannotModifySelf, LastSuperAdmin
from retinue.users.loaders import UserById
from retinue.users.schemas import UserOut

routes = Routes(tag="users")

_REFUSAL_ERRORS = (RoleAboveYours, PermissionAboveYours, CannotModifySelf)
_REMOVAL_ERRORS = (*_REFUSAL_ERRORS, LastSuperAdmin)


@routes.put("/users/{user_id}/role", requires="admin:users", errors=_REMOVAL_ERRORS)
async def change_user_role(ctx: Context, user: UserById, body: RoleChange) -> RoleChanged:
    """Give a user another role, effective from their next request.

    This also approves an account that waits for approval. The caller's own role and that of the last super
    administrator cannot be changed (409), nor users above the caller's role (403).
    """
    changed = await administration.change_role(ctx, user, body.role)
    return RoleChanged.of(changed, message="The role has been changed.")


@routes.post("/users/{user_id}/approve", requires="admin:users", errors=_REFUSAL_ERRORS)
async def approve_user(ctx: Context, user: UserById) -> UserOut:
    """Approve an account that registered by itself and waits for approval.

    Approving it again changes nothing.
    """
    return UserOut.of(await administration.approve(ctx, user))


@routes.delete("/users/{user_id}", requires="admin:users", errors=_REMOVAL_ERRORS)
async def delete_user(ctx: Context, user: UserById) -> MessageReply:
    """Delete a user permanently, with sessions, authenticators and picture.

    Everything the user created stays with the tenant. The caller's own account and the last super
    administrator cannot be deleted (409).
    """
    await administration.delete(ctx, user)
    return MessageReply(message="The user has been deleted.")


@routes.post("/users/{user_id}/deactivate", requires="admin:users", errors=_REMOVAL_ERRORS)
async def deactivate_user(ctx: Context, user: UserById) -> StatusChanged:
    """Keep a user from signing in and end their sessions.

    The caller's own account and the last super administrator cannot be deactivated (409).
    """
    changed = await administration.deactivate(ctx, user)
    return StatusChanged.of(changed, message="The user has been deactivated.")


@routes.post("/users/{user_id}/reactivate", requires="admin:users", errors=_REFUSAL_ERRORS)
async def reactivate_user(ctx: Context, user: UserById) -> StatusChanged:
    """Let a deactivated user sign in again."""
    changed = await administration.reactivate(ctx, user)
    return StatusChanged.of(changed, message="The user has been reactivated.")


@routes.post("/api/v1/users/{user_id}/mfa/reset", requires="admin:users", errors=_REFUSAL_ERRORS)
async def reset_user_mfa(ctx: Context, user: UserById) -> MfaReset:
    """Remove the second factor of another user who has lost it.

    Authenticators, recovery codes and sessions of the user are deleted. Without a second factor, nothing
    changes.
    """
    changed = await administration.reset_mfa(ctx, user)
    return MfaReset.of(changed, message="The second factor of the user has been removed.")


@routes.get(
    "/users/{user_id}/sessions", requires="admin:users", errors=(RoleAboveYours, PermissionAboveYours)
)
async def list_user_sessions(ctx: Context, user: UserById, query: PageQuery) -> Page[SessionOut]:
    """List the sessions of a user that have not ended, the last used one first.

    Those of users above the caller's role are refused with 403.
    """
    current = ctx.principal.session_id
    page = await administration.page_of_sessions(ctx, user, query)
    return page.to_page(lambda session: SessionOut.of(session, is_current=session.id == current))


@routes.delete(
    "/users/{user_id}/sessions/{session_id}",
    requires="admin:users",
    errors=(RoleAboveYours, PermissionAboveYours, SessionNotFound),
)
async def revoke_user_session(ctx: Context, user: UserById, session_id: str) -> MessageReply:
    """End one session of a user; its tokens stop working at once."""
    await administration.revoke_session(ctx, user, session_id)
    return MessageReply(message="The session was ended.")


@routes.post(
    "/users/{user_id}/reset-link",
    requires="admin:users",
    idempotent=False,
    errors=(*_REFUSAL_ERRORS, Conflict, RateLimited),
)
async def issue_reset_link(ctx: Context, user: UserById) -> ResetLinkIssued:
    """Mail a user a link to choose a new password, valid for one hour and one use.

    An earlier link stops working; the password stays until the link is used. An instance without a mail
    server mails nothing and returns the link as `reset_url`. A deactivated account answers 409, and more than
    ten links an hour 429.
    """
    link = await administration.issue_reset_link(ctx, user)
    message = "The link has been sent."
    if link is not None:
        message = "No mail server is set up, so nothing was mailed. Give reset_url to the user."
    return ResetLinkIssued(id=user.id, message=message, reset_url=link or UNSET)
