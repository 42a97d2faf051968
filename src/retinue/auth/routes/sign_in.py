from retinue.auth import sessions, sign_in
from retinue.auth.errors import AccountInactive, EmailNotVerified, InvalidCredentials, InvalidRefreshToken
from retinue.auth.schemas.sign_in import Credentials, MfaRequired, RefreshRequest, SignedIn, Tokens
from retinue.kit.context import Context
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
    errors=(InvalidCredentials, AccountInactive, EmailNotVerified),
)
async def login(ctx: Context, body: Credentials) -> SignedIn | MfaRequired:
    """Sign in with mail address and password.

    The answer holds tokens or, if MFA is enabled, an `mfa_token` for `POST /auth/mfa/verify`.

    Wrong credentials answer 401, a deactivated account 403. After five failures for one account from one
    network address within 15 minutes: 429.
    """
    return await sign_in.login(ctx, body)


@routes.post(
    "/refresh", requires=PUBLIC, idempotent=False, refuses_form_label=True, errors=(InvalidRefreshToken,)
)
async def refresh_tokens(ctx: Context, body: RefreshRequest) -> Tokens:
    """Exchange a refresh token for a new pair of tokens.

    A refresh token works once. Using a spent one again ends the session, except within ten seconds of its
    replacement, when it is only refused.
    """
    return await sessions.refresh(ctx, body.refresh_token)


# Free: a user who has reached a rate limit must still be able to sign out.
@routes.post("/logout", requires=ACCOUNT, cost="free", idempotent=False, refuses_form_label=True)
async def logout(ctx: Context) -> MessageReply:
    """End the current session. Its access and refresh tokens stop working at once."""
    await sessions.end_session(ctx, ctx.principal.session_id)
    return MessageReply(message="You are signed out.")


@routes.get("/me", requires=ACCOUNT)
async def get_me(ctx: Context) -> UserOut:
    """Return the caller's own account."""
    return UserOut.of(await fetch_self(ctx))
