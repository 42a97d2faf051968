from typing import Annotated

from retinue.auth import sessions
from retinue.auth.errors import SessionNotFound
from retinue.auth.models import Session
from retinue.auth.schemas.sessions import SessionOut
from retinue.kit.context import Context
from retinue.kit.http.routing import SIGNED_IN, Loaded, Routes
from retinue.kit.lists import Page, PageQuery
from retinue.kit.schemas import Message

routes = Routes("/auth/sessions", tag="auth")

OwnSession = Annotated[Session, Loaded("session_id", sessions.find_own, SessionNotFound)]


@routes.get("", requires=SIGNED_IN)
async def list_sessions(ctx: Context, query: PageQuery) -> Page[SessionOut]:
    current = ctx.principal.session_id
    found = await sessions.page_of_own(ctx, query)
    return found.shown(lambda session: SessionOut.of(session, is_current=session.id == current))


@routes.post("/revoke-others", requires=SIGNED_IN, idempotent=False)
async def revoke_other_sessions(ctx: Context) -> Message:
    ended = await sessions.end_others(ctx)
    return Message(message=f"{ended} other sessions were ended.")


@routes.delete("/{session_id}", requires=SIGNED_IN)
async def revoke_session(ctx: Context, session: OwnSession) -> Message:
    await sessions.end(ctx, session.id)
    return Message(message="The session was ended.")
