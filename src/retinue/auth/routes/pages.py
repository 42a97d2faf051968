"""The pages that our mails link to: static, so that nothing of a request can come back in them."""

from functools import cache
from importlib import resources

from retinue.kit.context import Context
from retinue.kit.http.replies import Document, Reply
from retinue.kit.http.routing import PUBLIC, Routes

routes = Routes("", tag="pages")

_POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"


@routes.get("/verify-email", requires=PUBLIC, cost="free")
async def get_verify_email_page(ctx: Context) -> Reply[Document]:  # noqa: ARG001  every handler takes it
    return _page("verify-email.html")


@routes.get("/reset-password", requires=PUBLIC, cost="free")
async def get_reset_password_page(ctx: Context) -> Reply[Document]:  # noqa: ARG001  every handler takes it
    return _page("reset-password.html")


@routes.get("/register", requires=PUBLIC, cost="free")
async def get_register_page(ctx: Context) -> Reply[Document]:  # noqa: ARG001  every handler takes it
    return _page("register.html")


@routes.get("/forgot-password", requires=PUBLIC, cost="free")
async def get_forgot_password_page(ctx: Context) -> Reply[Document]:  # noqa: ARG001  every handler takes it
    return _page("forgot-password.html")


@routes.get("/account/account.js", requires=PUBLIC, cost="free")
async def get_account_script(ctx: Context) -> Document:  # noqa: ARG001  every handler takes it
    return Document(_content("account.js"), "text/javascript; charset=utf-8", _POLICY)


def _page(name: str) -> Reply[Document]:
    # A browser would keep the page under its whole address, and the token is part of it.
    return Reply(Document(_content(name), policy=_POLICY), headers=(("Cache-Control", "no-store"),))


@cache
def _content(name: str) -> bytes:
    return resources.files("retinue.auth").joinpath("pages", "assets", name).read_bytes()
