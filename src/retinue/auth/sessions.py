"""Sessions: one row per sign-in, with a chain of refresh tokens of which only the last is valid."""

import msgspec
import sqlalchemy as sa

from retinue.auth.errors import InvalidRefreshToken
from retinue.auth.events import LoggedIn, LoggedOut, OtherSessionsEnded, RefreshTokenReused
from retinue.auth.models import MfaChallenge, RefreshToken, Session
from retinue.auth.schemas.sign_in import Tokens
from retinue.auth.setup_state import close_setup, ends_setup
from retinue.kit.clock import parse_instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.ids import hash_token, new_token
from retinue.kit.lists import MAX_PER_PAGE, PageQuery, Slice
from retinue.users.models import User, UserStatus

ACCESS_TOKEN_SECONDS = 15 * 60
REFRESH_TOKEN_SECONDS = 7 * 24 * 3600
_REUSE_GRACE_SECONDS = 10

_tokens, _sessions, _challenges = RefreshToken.__table__, Session.__table__, MfaChallenge.__table__
_SPEND = Statement(
    sa.update(_tokens)
    .where(_tokens.c.id == sa.bindparam("token_id"), _tokens.c.spent_at.is_(None))
    .values(spent_at=sa.bindparam("now"))
)
_LATEST_GENERATION = Statement(
    sa.select(sa.func.max(_tokens.c.generation)).where(_tokens.c.session_id == sa.bindparam("session_id"))
)
_END_OTHERS = Statement(
    sa.delete(_sessions).where(
        _sessions.c.user_id == sa.bindparam("user_id"), _sessions.c.id != sa.bindparam("kept")
    )
)
_END_CHALLENGES = Statement(sa.delete(_challenges).where(_challenges.c.user_id == sa.bindparam("user_id")))
_is_open = sa.and_(
    _sessions.c.user_id == sa.bindparam("user_id"), _sessions.c.expires_at > sa.bindparam("now")
)
_COUNT_OPEN = Statement(sa.select(sa.func.count()).select_from(_sessions).where(_is_open))
_PAGE_OF_OPEN: Statement[Session] = record_statement(
    Session,
    sa.select(_sessions)
    .where(_is_open)
    .order_by(_sessions.c.last_used_at.desc(), _sessions.c.id)
    .limit(sa.bindparam("row_limit", type_=sa.BigInteger()))
    .offset(sa.bindparam("row_offset", type_=sa.BigInteger())),
)


async def start_session(
    ctx: Context, user: User, *, second_factor: bool = False, counts_for_step_up: bool = True
) -> Tokens:
    """Sign the user in and make the user the actor. The context is bound to the user's tenant."""
    ctx.caller = msgspec.structs.replace(ctx.caller, actor={"type": "user", "id": user.id})
    session = await ctx.db.insert(
        Session(
            user_id=user.id,
            expires_at=ctx.clock.ahead(REFRESH_TOKEN_SECONDS),
            last_used_at=ctx.now,
            second_factor_at=ctx.now if second_factor and counts_for_step_up else None,
            ip_address=ctx.caller.ip_address,
            user_agent=ctx.caller.user_agent,
        )
    )
    if ends_setup(user):
        await close_setup(ctx)
    await ctx.db.update(user, last_login_at=ctx.now)
    ctx.emit(LoggedIn(user_id=user.id, session_id=session.id, second_factor=second_factor))
    return await _issue_tokens(ctx, session, generation=1)


async def _issue_tokens(ctx: Context, session: Session, generation: int) -> Tokens:
    refresh = "rft_" + new_token()
    await ctx.db.insert(
        RefreshToken(session_id=session.id, token_hash=hash_token(refresh), generation=generation)
    )
    access = ctx.instance.tokens.issue(
        "access", session.user_id, ctx.tenant_id, session.id, ACCESS_TOKEN_SECONDS
    )
    return Tokens(access_token=access, refresh_token=refresh, expires_in=ACCESS_TOKEN_SECONDS)


async def refresh(ctx: Context, token: str) -> Tokens:
    """Exchange a valid token for a new pair.

    A spent one ends the session, unless it was replaced just now.
    """
    record = await ctx.system("the token alone says whose it is").find(
        RefreshToken, token_hash=hash_token(token)
    )
    if record is None:
        raise InvalidRefreshToken
    ctx.bind_tenant(record.tenant_id)
    session = await ctx.db.lock(Session, record.session_id)
    if session is None or session.expires_at <= ctx.now:
        raise InvalidRefreshToken
    if not await ctx.db.execute(_SPEND, token_id=record.id, now=ctx.now):
        await _end_if_reused(ctx, session, record)
        raise InvalidRefreshToken
    user = await ctx.db.get(User, session.user_id)
    if user is None or user.status is not UserStatus.active:
        raise InvalidRefreshToken
    await ctx.db.update(session, expires_at=ctx.clock.ahead(REFRESH_TOKEN_SECONDS), last_used_at=ctx.now)
    return await _issue_tokens(ctx, session, record.generation + 1)


async def _end_if_reused(ctx: Context, session: Session, token: RefreshToken) -> None:
    spent = await ctx.db.get(RefreshToken, token.id)
    if spent is None or spent.spent_at is None:  # deleted with its user in the meantime
        return
    newest = await ctx.db.scalar(_LATEST_GENERATION, session_id=session.id)
    age = (parse_instant(ctx.now) - parse_instant(spent.spent_at)).total_seconds()
    if spent.generation == newest - 1 and age <= _REUSE_GRACE_SECONDS:
        return
    await ctx.rollback()
    async with ctx.unit() as unit:
        await unit.db.delete(session)
        unit.emit(RefreshTokenReused(user_id=session.user_id, session_id=session.id))


async def page_of(ctx: Context, user_id: str, query: PageQuery) -> Slice[Session]:
    """Return the user's sessions that have not expired, the last used one first."""
    per_page = min(query.per_page, MAX_PER_PAGE)
    owner = {"user_id": user_id, "now": ctx.now}
    total = int(await ctx.db.scalar(_COUNT_OPEN, **owner))
    page = await ctx.db.rows(
        _PAGE_OF_OPEN, row_limit=per_page, row_offset=(query.page - 1) * per_page, **owner
    )
    return Slice(page, total, query.page, per_page)


async def find_own(ctx: Context, session_id: str) -> Session | None:
    return await ctx.db.find(Session, id=session_id, user_id=ctx.principal.id)


async def end_session(ctx: Context, session_id: str) -> None:
    session = await ctx.db.get(Session, session_id)
    if session is not None:
        await ctx.db.delete(session)
        ctx.emit(LoggedOut(user_id=session.user_id, session_id=session.id))


async def end_others(ctx: Context) -> int:
    """End all other sessions of the caller; return how many."""
    user_id, kept = ctx.principal.id, ctx.principal.session_id
    ended = int(await ctx.db.execute(_END_OTHERS, user_id=user_id, kept=kept))
    if ended:
        ctx.emit(OtherSessionsEnded(user_id=user_id, count=ended))
    return ended


async def end_all(ctx: Context, user: User, *, except_for: str = "") -> None:
    """End all sessions of the user, optionally except one, and all unfinished sign-ins."""
    await ctx.db.execute(_END_OTHERS, user_id=user.id, kept=except_for)
    await ctx.db.execute(_END_CHALLENGES, user_id=user.id)
