"""Reads the embed key of a request; the only place that knows all three ways to send it."""

from retinue.kit.errors import Unauthorized
from retinue.kit.http.request import Request

EMBED_KEY_PREFIX = "emb_"


def find_embed_key(request: Request) -> str | None:
    """Return the key in `Authorization`, `X-API-Key` or `?api_key=`; None if there is no embed key.

    More than one credential is refused, because it would be ambiguous.
    """
    headers = request.scope["headers"]
    bearers = [value for name, value in headers if name == b"authorization"]
    keys = [str(value, "latin-1") for name, value in headers if name == b"x-api-key"]
    if b"api_key" in request.query_string:
        keys += [value for name, value in request.query_pairs() if name == "api_key"]
    if len(bearers) + len(keys) > 1:
        raise Unauthorized("invalid_api_key", "The request has several credentials. Send exactly one.")
    if keys:
        return keys[0].strip()
    if not bearers:
        return None
    scheme, _, rest = str(bearers[0], "latin-1").partition(" ")
    token = rest.strip()
    return token if scheme.lower() == "bearer" and token.startswith(EMBED_KEY_PREFIX) else None
