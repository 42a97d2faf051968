from retinue.auth import sessions, sign_in
from retinue.auth.errors import AccountInactive, EmailNotVerified, InvalidCredentials, InvalidRefreshToken
from retinue.auth.schemas.sign_in import Credentials, MfaRequired, RefreshRequest, SignedIn, Tokens
from retinue.kit.context import Context
from retinue.kit.http.routing import PUBLIC, SIGNED_IN, Routes
from retinue.kit.schemas import Message
from retinue.users.queries import fetch_self
from retinue.users.schemas import UserOut

routes = Routes("/auth", tag="auth")


@routes.post(
    "/login",
    requires=PUBLIC,
    idempotent=False,
    errors=(InvalidCredentials, AccountInactive, EmailNotVerified),
)
async def login(ctx: Context, body: Credentials) -> SignedIn | MfaRequired:
    return await sign_in.login(ctx, body)


@routes.post("/refresh", requires=PUBLIC, idempotent=False, errors=(InvalidRefreshToken,))
async def refresh_tokens(ctx: Context, body: RefreshRequest) -> Tokens:
    return await sessions.refresh(ctx, body.refresh_token)


@routes.post("/logout", requires=SIGNED_IN, idempotent=False)
async def logout(ctx: Context) -> Message:
    await sessions.end(ctx, ctx.principal.session_id)
    return Message(message="You are signed out.")


@routes.get("/me", requires=SIGNED_IN)
async def get_me(ctx: Context) -> UserOut:
    return UserOut.of(await fetch_self(ctx))
