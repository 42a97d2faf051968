"""DuckDuckGo's HTML page for browsers without scripts, which needs no key but is not an API.

The page is parsed like in a browser. Its layout may change, and frequent callers are asked to prove that they
are human; both are reported, and neither is worked around.
"""

from retinue.adapters.search.client import SearchClient
from retinue.adapters.search.duckduckgo_page import parse_page
from retinue.adapters.search.engine_access import EngineAccess
from retinue.adapters.search.errors import SearchError
from retinue.adapters.search.results import EngineResult
from retinue.adapters.search.searcher import SearchRequest

ACCESS_DENIED_HINT = "It may consider this server a robot. Try again later, or choose an engine with a key."

_SAFE, _UNSAFE = "1", "-2"
_HEADERS = {"User-Agent": "Mozilla/5.0 (compatible; Retinue)", "Accept": "text/html"}


async def ask(client: SearchClient, access: EngineAccess, request: SearchRequest) -> list[EngineResult]:  # noqa: ARG001  no key
    fields = {"q": request.terms, "b": "", "kl": "wt-wt", "kp": _SAFE if request.safe_search else _UNSAFE}
    page = parse_page(await client.post_form("/html/", fields, _HEADERS))
    if page.is_challenge:
        message = "DuckDuckGo asks for proof of being human. Try again later, or choose an engine with a key."
        raise SearchError("rate_limited", message)
    if not page.rows and not page.says_nothing_found:
        raise SearchError("provider_error", "DuckDuckGo returned a page in an unknown format.")
    return page.rows
