import msgspec
from msgspec import UNSET

from retinue.auth import session_cookies, sessions, sign_in
from retinue.auth.errors import (
    AccountInactive,
    EmailNotVerified,
    ForeignOrigin,
    InvalidCredentials,
    InvalidRefreshToken,
)
from retinue.auth.schemas.sign_in import Credentials, MfaRequired, RefreshRequest, SignedIn, Tokens
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.http.replies import Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import ACCOUNT, PUBLIC, Routes
from retinue.kit.schema.base import MessageReply
from retinue.users.queries import fetch_self
from retinue.users.schemas import UserOut

routes = Routes("/auth", tag="auth")

# These routes and `POST /auth/mfa/verify` handle browser sessions. `refuses_form_label` prevents login CSRF:
# another site can post a form without a preflight.


@routes.post(
    "/login",
    requires=PUBLIC,
    idempotent=False,
    refuses_form_label=True,
    errors=(InvalidCredentials, AccountInactive, EmailNotVerified, ForeignOrigin),
)
async def login(ctx: Context, body: Credentials, request: Request) -> Reply[SignedIn | MfaRequired]:
    """Sign in with mail address and password.

    The answer holds tokens or, if MFA is enabled, an `mfa_token` for `POST /auth/mfa/verify`. With
    `"session": "cookie"` the refresh token is a cookie instead, for pages of this server.

    Wrong credentials answer 401, a deactivated account 403. After five failures for one account from one
    network address within 15 minutes: 429.
    """
    if body.session == "cookie":
        session_cookies.require_own_page(request, ctx.settings)
    answer = await sign_in.login(ctx, body)
    if body.session is UNSET or isinstance(answer, MfaRequired):
        return Reply(answer)
    cookie = session_cookies.set_cookie(answer, ctx.settings, is_kept=body.remember)
    return Reply(msgspec.structs.replace(answer, refresh_token=UNSET), headers=cookie)


@routes.post(
    "/refresh",
    requires=PUBLIC,
    idempotent=False,
    refuses_form_label=True,
    errors=(InvalidRefreshToken, ForeignOrigin),
)
async def refresh_tokens(ctx: Context, body: RefreshRequest, request: Request) -> Reply[Tokens]:
    """Exchange a refresh token for a new pair of tokens.

    Without `refresh_token` in the body, the cookie of a cookie session is used and replaced.

    A refresh token works once. Using a spent one again ends the session, except within ten seconds of its
    replacement, when it is only refused.
    """
    if body.refresh_token is not UNSET:
        return Reply(await sessions.refresh(ctx, body.refresh_token))
    cookie = session_cookies.read_cookie(request, ctx.settings)
    if cookie is None:
        raise Invalid({"refresh_token": "is required"})
    session_cookies.require_own_page(request, ctx.settings)
    token, is_kept = cookie
    # A refusal leaves the cookie as it is: another tab may have replaced it a moment ago.
    tokens = await sessions.refresh(ctx, token)
    replaced = session_cookies.set_cookie(tokens, ctx.settings, is_kept=is_kept)
    return Reply(msgspec.structs.replace(tokens, refresh_token=UNSET), headers=replaced)


# Free: a user who has reached a rate limit must still be able to sign out.
@routes.post(
    "/logout",
    requires=ACCOUNT,
    cost="free",
    idempotent=False,
    refuses_form_label=True,
    errors=(ForeignOrigin,),
)
async def logout(ctx: Context, request: Request) -> Reply[MessageReply]:
    """End the current session. Its access and refresh tokens stop working at once.

    The cookie of a cookie session is removed.
    """
    headers: session_cookies.Headers = ()
    if session_cookies.read_cookie(request, ctx.settings) is not None:
        session_cookies.require_own_page(request, ctx.settings)
        headers = session_cookies.clear_cookie(ctx.settings)
    await sessions.end_session(ctx, ctx.principal.session_id)
    return Reply(MessageReply(message="You are signed out."), headers=headers)


@routes.get("/me", requires=ACCOUNT)
async def get_me(ctx: Context) -> UserOut:
    """Return the caller's own account."""
    return UserOut.of(await fetch_self(ctx))
