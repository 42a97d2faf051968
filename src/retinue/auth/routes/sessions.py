from typing import Annotated

from retinue.auth import sessions
from retinue.auth.errors import SessionNotFound
from retinue.auth.models import Session
from retinue.auth.schemas.sessions import SessionOut
from retinue.kit.context import Context
from retinue.kit.http.routing import ACCOUNT, PathLoader, Routes
from retinue.kit.lists import Page, PageQuery
from retinue.kit.schema.base import MessageReply

routes = Routes("/auth/sessions", tag="auth")

OwnSession = Annotated[Session, PathLoader("session_id", sessions.find_own, SessionNotFound)]


@routes.get("", requires=ACCOUNT)
async def list_sessions(ctx: Context, query: PageQuery) -> Page[SessionOut]:
    """List the caller's sessions that have not ended, the last used one first."""
    current = ctx.principal.session_id
    page = await sessions.page_of(ctx, ctx.principal.id, query)
    return page.to_page(lambda session: SessionOut.of(session, is_current=session.id == current))


@routes.post("/revoke-others", requires=ACCOUNT, idempotent=False)
async def revoke_other_sessions(ctx: Context) -> MessageReply:
    """End all sessions of the caller except the current one."""
    ended = await sessions.end_others(ctx)
    return MessageReply(message=f"{ended} other sessions were ended.")


@routes.delete("/{session_id}", requires=ACCOUNT)
async def revoke_session(ctx: Context, session: OwnSession) -> MessageReply:
    """End one of the caller's sessions; its tokens stop working at once. It may be the current one."""
    await sessions.end_session(ctx, session.id)
    return MessageReply(message="The session was ended.")
