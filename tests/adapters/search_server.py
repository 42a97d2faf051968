"""Six search engines on loopback: each speaks its documented protocol, checks its key, and fails as told."""

import contextlib
import html
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, quote

import msgspec
import pytest

from retinue.adapters.search import ADDRESSES, EngineAccess, SearchError, find_engine, searcher_for
from retinue.kit.egress import Egress
from retinue.kit.secrets import Secret
from retinue.kit.settings import LOOPBACK
from tests.adapters.answering_server import AnsweringServer, Request
from tests.adapters.llm_replies import Answer
from tests.loopback_server import serve_on_loopback

KEY = "tvly-9f8e7d6c5b4a/+Zz"
CX = "017576662512468239146:omuauf_lfve"


@dataclass(frozen=True)
class Page:
    """A page of the web; `published` is ISO, and `text` may hold markup as engines send it."""

    title: str
    url: str
    text: str
    published: str | None = None


PAGES = (
    Page(
        "Rust <b>release</b>",
        "https://blog.rust-lang.org/1",
        "Rust &amp; <strong>news</strong>",
        "2026-04-15",
    ),
    Page("Wiki", "https://en.wikipedia.org/wiki/Rust", "An encyclopedia entry."),
    Page("Forum", "https://users.rust-lang.org/t/1", "A discussion."),
)


class SearchServer(AnsweringServer):
    """Answers every engine's requests with the same pages; `faults` come before."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: tuple[Page, ...] = PAGES

    def answer(self, request: Request) -> Answer:
        company = _COMPANIES.get((request.method, request.path), _nobody)
        return company(request, self.pages)


def as_json(body: Any, status: int = 200) -> Answer:
    return Answer(status, msgspec.json.encode(body))


def as_page(body: str, status: int = 200) -> Answer:
    return Answer(status, body.encode(), {"Content-Type": "text/html; charset=UTF-8"})


def _brave(request: Request, pages: tuple[Page, ...]) -> Answer:
    if request.headers.get("x-subscription-token") != KEY:
        error = {
            "id": "5d832250",
            "code": "SUBSCRIPTION_TOKEN_INVALID",
            "detail": "The provided subscription token is invalid.",
            "status": 422,
            "meta": {"component": "authentication"},
        }
        return as_json({"type": "ErrorResponse", "error": error, "time": 1663072993}, 422)
    query = request.query
    assert len(query["q"][0]) <= 400
    assert query["safesearch"][0] in {"off", "moderate", "strict"}
    assert 1 <= int(query["count"][0]) <= 20
    if not pages:
        return as_json({"type": "search", "query": {"original": query["q"][0]}})
    results = [
        {
            "title": page.title,
            "url": page.url,
            "is_source_local": False,
            "description": page.text,
            **({"page_age": f"{page.published}T08:30:00", "age": "April 15, 2026"} if page.published else {}),
            "language": "en",
            "family_friendly": True,
            "type": "search_result",
            "subtype": "generic",
            "meta_url": {"scheme": "https", "hostname": "example.com"},
        }
        for page in pages[: int(query["count"][0])]
    ]
    web = {"type": "search", "results": results, "family_friendly": True}
    return as_json({"type": "search", "query": {"original": query["q"][0]}, "mixed": {}, "web": web})


def _google(request: Request, pages: tuple[Page, ...]) -> Answer:
    query = request.query
    if query["key"] != [KEY]:
        message = "API key not valid. Please pass a valid API key."
        error = {
            "code": 400,
            "message": message,
            "errors": [{"message": message, "domain": "global", "reason": "badRequest"}],
            "status": "INVALID_ARGUMENT",
            "details": [{"reason": "API_KEY_INVALID", "domain": "googleapis.com"}],
        }
        return as_json({"error": error}, 400)
    assert query["cx"] == [CX]
    assert query["safe"][0] in {"active", "off"}
    start, number = int(query["start"][0]), int(query["num"][0])
    assert 1 <= number <= 10
    items = [
        {
            "kind": "customsearch#result",
            "title": page.title,
            "htmlTitle": page.title,
            "link": page.url,
            "displayLink": "example.com",
            "snippet": page.text,
            **(
                {"pagemap": {"metatags": [{"article:published_time": f"{page.published}T10:30:00+02:00"}]}}
                if page.published
                else {}
            ),
        }
        for page in pages[start - 1 :][:number]
    ]
    information = {"searchTime": 0.2, "totalResults": str(len(pages))}
    return as_json(
        {
            "kind": "customsearch#search",
            "queries": {"request": [{"count": number, "startIndex": start, "cx": CX}]},
            "searchInformation": information,
            **({"items": items} if items else {}),
        }
    )


def _searxng(request: Request, pages: tuple[Page, ...]) -> Answer:
    if request.query["format"] != ["json"]:
        return as_page("<html>Results</html>")
    assert request.query["safesearch"][0] in {"0", "1", "2"}
    results = [
        {
            "url": page.url,
            "title": page.title,
            "content": page.text,
            "publishedDate": f"{page.published}T08:30:00" if page.published else None,
            "thumbnail": None,
            "engine": "brave",
            "template": "default.html",
            "parsed_url": ["https", "example.com", "/", "", "", ""],
            "engines": ["brave", "startpage"],
            "positions": [1, 1],
            "score": 4.0,
            "category": "general",
        }
        for page in pages
    ]
    return as_json(
        {
            "query": request.query["q"][0],
            "number_of_results": 0,
            "results": results,
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [],
            "unresponsive_engines": [],
        }
    )


def _tavily(request: Request, pages: tuple[Page, ...]) -> Answer:
    if request.headers.get("authorization") != f"Bearer {KEY}":
        return as_json({"detail": {"error": "Unauthorized: missing or invalid API key."}}, 401)
    asked = request.json
    assert 0 <= asked["max_results"] <= 20
    assert "safe_search" not in asked, "only the enterprise plan has it"
    results = [
        {
            "url": page.url,
            "title": page.title,
            "content": page.text,
            "score": 0.9,
            "raw_content": None,
            **({"published_date": "Wed, 15 Apr 2026 08:30:00 GMT"} if page.published else {}),
        }
        for page in pages[: asked["max_results"]]
    ]
    more = {"follow_up_questions": None, "answer": None, "images": [], "response_time": 1.1}
    return as_json({"query": asked["query"], "results": results, **more})


def _serper(request: Request, pages: tuple[Page, ...]) -> Answer:
    if request.headers["x-api-key"] != KEY:
        return as_json({"message": "Unauthorized.", "statusCode": 403}, 403)
    asked = request.json
    organic = [
        {
            "title": page.title,
            "link": page.url,
            "snippet": page.text,
            **({"date": "Apr 15, 2026"} if page.published else {"date": "3 days ago"}),
            "position": position,
        }
        for position, page in enumerate(pages[: asked["num"]], start=1)
    ]
    parameters = {"q": asked["q"], "type": "search", "num": asked["num"], "engine": "google"}
    return as_json({"searchParameters": parameters, "organic": organic, "credits": 1})


def _duckduckgo(request: Request, pages: tuple[Page, ...]) -> Answer:
    assert parse_qs(request.body.decode(), keep_blank_values=True)["b"] == [""]
    results = "".join(_result_block(page) for page in pages)
    empty = "" if pages else '<div class="no-results">No results found.</div>'
    return as_page(
        '<!DOCTYPE html><html><body><form id="search_form" action="/html/" method="post">'
        '<input name="q" type="text"></form><div id="links" class="results">'
        f"{_ADVERTISEMENTS}{results}{empty}"
        '<div class="nav-link"><form action="/html/" method="post"><input type="submit" value="Next" />'
        "</form></div></div></body></html>"
    )


def _result_block(page: Page) -> str:
    link = f"//duckduckgo.com/l/?uddg={quote(page.url, safe='')}&amp;rut=0f1e2d"
    return (
        '<div class="result results_links results_links_deep web-result ">'
        '<div class="links_main links_deep result__body"><h2 class="result__title">'
        f'<a rel="nofollow" class="result__a" href="{link}">{page.title}</a></h2>'
        f'<div class="result__extras"><a class="result__url" href="{link}">{html.escape(page.url)}</a></div>'
        f'<a class="result__snippet" href="{link}">{page.text}</a><div class="clear"></div></div></div>'
    )


def _tavily_or_serper(request: Request, pages: tuple[Page, ...]) -> Answer:
    """Both have the same path, each at a host of its own."""
    return _serper(request, pages) if "x-api-key" in request.headers else _tavily(request, pages)


def _nobody(_request: Request, _pages: tuple[Page, ...]) -> Answer:
    return as_page("<html>Not found</html>", 404)


_COMPANIES = {
    ("GET", "/res/v1/web/search"): _brave,
    ("GET", "/customsearch/v1"): _google,
    ("GET", "/search"): _searxng,
    ("GET", "/searx/search"): _searxng,
    ("POST", "/html/"): _duckduckgo,
    ("POST", "/search"): _tavily_or_serper,
}


def _advertisement(classes: str, link: str) -> str:
    return (
        f'<div class="result results_links results_links_deep {classes}"><h2 class="result__title">'
        f'<a rel="nofollow" class="result__a" href="{link}">Buy</a></h2>'
        f'<a class="result__snippet" href="{link}">Cheap.</a></div>'
    )


# Told from results by their class, and where that is missing by where they lead.
_ADVERTISEMENTS = _advertisement(
    "result--ad ", "//duckduckgo.com/l/?uddg=https%3A%2F%2Fshop.example%2F"
) + _advertisement("web-result ", "https://duckduckgo.com/y.js?ad_domain=shop.example")
CHALLENGE = as_page(
    '<!DOCTYPE html><html><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js?sv=html">'
    '<div class="anomaly-modal__mask"><div class="anomaly-modal__modal">'
    '<div class="anomaly-modal__title">Unfortunately, bots use DuckDuckGo too.</div>'
    "</div></div></form></body></html>",
    status=202,
)


@contextlib.asynccontextmanager
async def search_server() -> AsyncIterator[SearchServer]:
    engines = SearchServer()
    async with serve_on_loopback(engines.serve) as engines.port:
        yield engines


class Searching:
    """Searches with one engine after the other, whose companies all live on the test's server."""

    def __init__(self, server: SearchServer, egress: Egress) -> None:
        self.server = server
        self.egress = egress

    def access(self, key: str = KEY) -> EngineAccess:
        return EngineAccess(key=Secret(key), engine_id=CX, base_url=self.server.url)

    async def search(
        self, engine: str, query: str = "rust", *, access: EngineAccess | None = None, **more: Any
    ) -> Any:
        timeout_s = more.pop("timeout_s", 5)
        chosen = find_engine(engine)
        assert chosen is not None
        searcher = searcher_for(self.egress, chosen, access or self.access(), timeout_s=timeout_s)
        return await searcher.search(query, **{"max_results": 5, "safe_search": True, **more})

    async def failure(self, engine: str, **more: Any) -> SearchError:
        with pytest.raises(SearchError) as caught:
            await self.search(engine, **more)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
        return caught.value


@contextlib.asynccontextmanager
async def searching(monkeypatch: Any) -> AsyncIterator[Searching]:
    async with search_server() as server, Egress(LOOPBACK) as egress:
        for name in ADDRESSES:
            monkeypatch.setitem(ADDRESSES, name, server.url)
        yield Searching(server, egress)
