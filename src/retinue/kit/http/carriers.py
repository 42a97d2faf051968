"""Where a request carries an embed key: one reader for all three places, so that no rule knows only one."""

from retinue.kit.errors import Unauthorized
from retinue.kit.http.request import Request

EMBED_KEY_PREFIX = "emb_"


def embed_key_of(request: Request) -> str | None:
    """The key in `Authorization`, `X-API-Key` or `?api_key=`; None for a user's token, and for nothing.

    More than one of them is refused, whatever they carry: which one counts would be anybody's guess.
    """
    headers = request.scope["headers"]
    bearers = [value for name, value in headers if name == b"authorization"]
    keys = [str(value, "latin-1") for name, value in headers if name == b"x-api-key"]
    if b"api_key" in request.query_string:
        keys += [value for name, value in request.query_pairs() if name == "api_key"]
    if len(bearers) + len(keys) > 1:
        raise Unauthorized("invalid_api_key", "Send one credential, in one place.")
    if keys:
        return keys[0].strip()
    if not bearers:
        return None
    scheme, _, rest = str(bearers[0], "latin-1").partition(" ")
    token = rest.strip()
    return token if scheme.lower() == "bearer" and token.startswith(EMBED_KEY_PREFIX) else None
