"""The refresh token of a browser session: a cookie that no script can read."""

from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from retinue.auth.errors import ForeignOrigin
from retinue.auth.schemas.sign_in import Tokens
from retinue.auth.sessions import REFRESH_TOKEN_SECONDS
from retinue.kit.errors import UnsupportedMediaType
from retinue.kit.http.request import Request
from retinue.kit.settings import Settings

_NAME = "retinue_refresh"
# A browser keeps a `__Host-` cookie only with `Secure` and `Path=/`, and never from another host.
_SECURE_NAME = f"__Host-{_NAME}"
# The first character of the value says whether the cookie outlives the browser; a refresh keeps that choice.
_KEPT, _UNTIL_CLOSED = "k", "s"

Headers = tuple[tuple[str, str], ...]


def require_own_page(request: Request, settings: Settings) -> None:
    """Raise unless a page of this server sent the request, as JSON (CSRF)."""
    media_type = request.header(b"content-type").partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise UnsupportedMediaType("Send the header `Content-Type: application/json`.")
    origin = request.header(b"origin")
    # The host is compared as well: people open the server by names that the base URL does not have.
    hosts = {urlsplit(settings.base_url).netloc.lower(), request.header(b"host").lower()}
    parts = urlsplit(origin)
    if parts.scheme not in {"http", "https"} or parts.netloc.lower() not in hosts - {""}:
        raise ForeignOrigin


def set_cookie(tokens: Tokens, settings: Settings, *, is_kept: bool) -> Headers:
    """Return the header that stores the refresh token."""
    mark, age = (_KEPT, f"; Max-Age={REFRESH_TOKEN_SECONDS}") if is_kept else (_UNTIL_CLOSED, "")
    return (("Set-Cookie", f"{_name(settings)}={mark}.{tokens.refresh_token}{_flags(settings)}{age}"),)


def clear_cookie(settings: Settings) -> Headers:
    return (("Set-Cookie", f"{_name(settings)}={_flags(settings)}; Max-Age=0"),)


def read_cookie(request: Request, settings: Settings) -> tuple[str, bool] | None:
    """Return the refresh token of the cookie and whether the cookie outlives the browser."""
    try:
        cookies = SimpleCookie(request.header(b"cookie"))
    except CookieError:
        return None
    cookie = cookies.get(_name(settings))
    if cookie is None:
        return None
    mark, _, token = cookie.value.partition(".")
    return (token, mark == _KEPT) if token else None


def _is_secure(settings: Settings) -> bool:
    return settings.base_url.startswith("https:")


def _name(settings: Settings) -> str:
    return _SECURE_NAME if _is_secure(settings) else _NAME


def _flags(settings: Settings) -> str:
    secure = "; Secure" if _is_secure(settings) else ""
    return f"; Path=/; HttpOnly; SameSite=Strict{secure}"
