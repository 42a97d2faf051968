"""The pages that our mails link to. They are static, so that they cannot reflect anything of a request."""

from functools import cache
from importlib import resources

from retinue.kit.context import Context
from retinue.kit.http.account_links import find_console_page
from retinue.kit.http.replies import Reply, WebDocument
from retinue.kit.http.routing import PUBLIC, Routes
from retinue.kit.schema.base import Schema

routes = Routes("", tag="pages")

_POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"


@routes.get("/verify-email", requires=PUBLIC, cost="free")
async def get_verify_email_page(ctx: Context) -> Reply[WebDocument]:  # noqa: ARG001  every handler takes it
    """Return the page that the link in a verification mail opens."""
    return _page("verify-email.html")


@routes.get("/reset-password", requires=PUBLIC, cost="free")
async def get_reset_password_page(ctx: Context) -> Reply[WebDocument]:  # noqa: ARG001  every handler takes it
    """Return the page that the link in a password reset mail opens."""
    return _page("reset-password.html")


class RegisterQuery(Schema, kw_only=True):
    invite_token: str | None = None


@routes.get("/register", requires=PUBLIC, cost="free", other_status=302)
async def get_register_page(ctx: Context, query: RegisterQuery) -> Reply[WebDocument]:
    """Return the page on which people create an account.

    With an invitation, browsers are redirected to the console's screen for it, where the console is built.
    """
    token = query.invite_token
    screen = find_console_page(ctx, "register", invite_token=token) if token else None
    if screen is None:
        return _page("register.html")
    headers = (("Location", screen), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"))
    return Reply(WebDocument(b""), status=302, headers=headers)


@routes.get("/forgot-password", requires=PUBLIC, cost="free")
async def get_forgot_password_page(ctx: Context) -> Reply[WebDocument]:  # noqa: ARG001  every handler takes it
    """Return the page on which people ask for a link to reset their password."""
    return _page("forgot-password.html")


@routes.get("/account/account.js", requires=PUBLIC, cost="free")
async def get_account_script(ctx: Context) -> WebDocument:  # noqa: ARG001  every handler takes it
    """Return the script of the pages for registration, verification and passwords."""
    return WebDocument(_content("account.js"), "text/javascript; charset=utf-8", _POLICY)


def _page(name: str) -> Reply[WebDocument]:
    # A browser would cache the page under its full URL, which contains the token.
    return Reply(WebDocument(_content(name), policy=_POLICY), headers=(("Cache-Control", "no-store"),))


@cache
def _content(name: str) -> bytes:
    return resources.files("retinue.auth").joinpath("pages", "assets", name).read_bytes()
