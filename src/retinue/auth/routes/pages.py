"""The addresses that our mails link to: they lead to the console, or say how to go on without it by the API.

Nothing that is answered reflects the request, except that a redirect carries the token on.
"""

from functools import cache
from importlib import resources

from retinue.kit.context import Context
from retinue.kit.http.account_links import find_console_page
from retinue.kit.http.replies import Reply, WebDocument
from retinue.kit.http.routing import PUBLIC, Routes
from retinue.kit.schema.base import Schema

routes = Routes("", tag="pages")

_POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
# A browser would cache the page under its full URL, which contains the token.
_NOT_KEPT = (("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer"))
_WITHOUT_CONSOLE = """\
This page is part of the console, which is not built on this server. {task} by the API{with_token}:

  curl {base}/auth/{page} -H 'Content-Type: application/json' \\
    -d '{body}'

In a checkout, `make console` builds it; a released package carries it.
"""


class LinkQuery(Schema, kw_only=True):
    token: str | None = None


@routes.get("/verify-email", requires=PUBLIC, cost="free", status=302)
async def get_verify_email_page(ctx: Context, query: LinkQuery) -> Reply[WebDocument]:
    """Lead from a verification mail to the console's page, which confirms the address."""
    return _console_page(ctx, "verify-email", "Confirm your address", '{"token": "…"}', query.token)


@routes.get("/reset-password", requires=PUBLIC, cost="free", status=302)
async def get_reset_password_page(ctx: Context, query: LinkQuery) -> Reply[WebDocument]:
    """Lead from a password reset mail to the console's page, on which people choose a new password."""
    body = '{"token": "…", "new_password": "…"}'
    return _console_page(ctx, "reset-password", "Choose a new password", body, query.token)


@routes.get("/forgot-password", requires=PUBLIC, cost="free", status=302)
async def get_forgot_password_page(ctx: Context) -> Reply[WebDocument]:
    """Lead to the console's page on which people ask for a link to reset their password."""
    return _console_page(ctx, "forgot-password", "Ask for a link to reset your password", '{"email": "…"}')


class RegisterQuery(Schema, kw_only=True):
    invite_token: str | None = None


@routes.get("/register", requires=PUBLIC, cost="free", other_status=302)
async def get_register_page(ctx: Context, query: RegisterQuery) -> Reply[WebDocument]:
    """Return the page on which people create an account.

    With an invitation, browsers are redirected to the console's screen for it, where the console is built.
    """
    token = query.invite_token
    screen = find_console_page(ctx, "register", invite_token=token) if token else None
    if screen is not None:
        return _redirect(screen)
    return Reply(WebDocument(_content("register.html"), policy=_POLICY), headers=_NOT_KEPT)


@routes.get("/account/account.js", requires=PUBLIC, cost="free")
async def get_account_script(ctx: Context) -> WebDocument:  # noqa: ARG001  every handler takes it
    """Return the script of the page for registration."""
    return WebDocument(_content("account.js"), "text/javascript; charset=utf-8", _POLICY)


def _console_page(
    ctx: Context, page: str, task: str, body: str, token: str | None = None
) -> Reply[WebDocument]:
    """Redirect to the console's page; without the console, say how to go on by the route of the same name."""
    screen = find_console_page(ctx, page, token=token)
    if screen is not None:
        return _redirect(screen)
    with_token = ", with the token of your link" if "token" in body else ""
    text = _WITHOUT_CONSOLE.format(
        task=task, with_token=with_token, base=ctx.settings.base_url, page=page, body=body
    )
    return Reply(WebDocument(text.encode(), "text/plain; charset=utf-8"), status=503, headers=_NOT_KEPT)


def _redirect(screen: str) -> Reply[WebDocument]:
    return Reply(WebDocument(b""), status=302, headers=(("Location", screen), *_NOT_KEPT))


@cache
def _content(name: str) -> bytes:
    return resources.files("retinue.auth").joinpath("pages", "assets", name).read_bytes()
