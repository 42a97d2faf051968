import msgspec
from msgspec import UNSET

from retinue.auth import session_cookies, setup, setup_state
from retinue.auth.errors import ForeignOrigin, InvalidToken, SetupClosed
from retinue.auth.schemas.setup import InstanceSetupRequest, SetupState
from retinue.auth.schemas.sign_in import SignedIn
from retinue.kit.context import Context
from retinue.kit.errors import VaultSealed
from retinue.kit.http.replies import Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, Routes
from retinue.users.errors import EmailTaken

routes = Routes("/auth/setup", tag="auth")


@routes.get("", requires=PUBLIC)
async def get_setup(ctx: Context) -> SetupState:
    """Return whether this instance still waits for its first administrator, and whether it sends mails."""
    return SetupState(open=await setup_state.is_open(ctx), sends_mail=ctx.settings.smtp_url is not None)


@routes.post(
    "",
    requires=PUBLIC,
    idempotent=False,
    refuses_form_label=True,
    errors=(InvalidToken, SetupClosed, EmailTaken, ForeignOrigin, VaultSealed),
)
async def set_up_instance(ctx: Context, body: InstanceSetupRequest, request: Request) -> Reply[SignedIn]:
    """Create the first administrator with the link that the server printed at its start, and sign in.

    It works once, and only until a super administrator signs in; afterwards: 409 `setup_closed`. With
    `"session": "cookie"` the refresh token is a cookie, as for `POST /auth/login`. After ten attempts from
    one network address within 15 minutes: 429.
    """
    if body.session == "cookie":
        session_cookies.require_own_page(request, ctx.settings)
    signed_in = await setup.set_up(ctx, body)
    if body.session is UNSET:
        return Reply(signed_in)
    cookie = session_cookies.set_cookie(signed_in, ctx.settings, is_kept=body.remember)
    return Reply(msgspec.structs.replace(signed_in, refresh_token=UNSET), headers=cookie)
