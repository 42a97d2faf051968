"""DuckDuckGo: its page for browsers without scripts, which needs no key and is no API.

The page is read as a browser would read it. Its form can change, and whoever asks often is asked to prove
that he is human; both are said, and neither is worked around.
"""

from retinue.adapters.search.access import EngineAccess
from retinue.adapters.search.duckduckgo_page import read_page
from retinue.adapters.search.errors import SearchError
from retinue.adapters.search.results import Row
from retinue.adapters.search.searcher import Asked
from retinue.adapters.search.wire import Wire

WHEN_DENIED = "It may take this server for a robot; try later, or choose an engine with a key."

_SAFE, _UNSAFE = "1", "-2"
_HEADERS = {"User-Agent": "Mozilla/5.0 (compatible; Retinue)", "Accept": "text/html"}


async def ask(wire: Wire, access: EngineAccess, asked: Asked) -> list[Row]:  # noqa: ARG001  there is no key
    fields = {"q": asked.terms, "b": "", "kl": "wt-wt", "kp": _SAFE if asked.safe_search else _UNSAFE}
    page = read_page(await wire.post_form("/html/", fields, _HEADERS))
    if page.is_challenge:
        message = (
            "DuckDuckGo asks for proof that a human searches. Try later, or choose an engine with a key."
        )
        raise SearchError("rate_limited", message)
    if not page.rows and not page.says_nothing_found:
        raise SearchError("provider_error", "DuckDuckGo answered with a page of an unknown form.")
    return page.rows
