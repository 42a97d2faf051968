"""Search engines: what each is asked, and what of its answer is passed on."""

from urllib.parse import parse_qs

import pytest

from retinue.adapters.search import (
    ADDRESSES,
    ENGINES,
    EngineAccess,
    SearchError,
    SearchResult,
    find_engine,
    parse_domain,
    searcher_for,
)
from retinue.adapters.search.results import parse_published_at
from retinue.kit.egress import EgressRefused
from retinue.kit.secrets import Secret
from tests.adapters.search_server import CHALLENGE, CX, KEY, Page, as_json, as_page, searching

EVERY = pytest.mark.parametrize("engine", sorted(ENGINES))
PUBLISHED = {
    "brave": "2026-04-15T08:30:00.000000Z",
    "duckduckgo": None,
    "google_pse": "2026-04-15T08:30:00.000000Z",
    "searxng": "2026-04-15T08:30:00.000000Z",
    "serper": "2026-04-15T00:00:00.000000Z",
    "tavily": "2026-04-15T08:30:00.000000Z",
}


@pytest.fixture
async def web(monkeypatch):
    async with searching(monkeypatch) as made:
        yield made


def terms(request) -> str:
    """The words that an engine was sent."""
    if request.method == "GET":
        return request.query["q"][0]
    if request.headers["content-type"] == "application/json":
        return request.json.get("q") or request.json["query"]
    return parse_qs(request.body.decode())["q"][0]


@EVERY
async def test_every_engine_finds_the_same_pages_as_plain_text(web, engine) -> None:
    assert await web.search(engine) == [
        SearchResult("Rust release", "https://blog.rust-lang.org/1", "Rust & news", PUBLISHED[engine]),
        SearchResult("Wiki", "https://en.wikipedia.org/wiki/Rust", "An encyclopedia entry."),
        SearchResult("Forum", "https://users.rust-lang.org/t/1", "A discussion."),
    ]


@EVERY
async def test_every_engine_may_find_nothing(web, engine) -> None:
    web.server.pages = ()
    assert await web.search(engine) == []


@EVERY
async def test_no_engine_gives_more_than_was_asked_for(web, engine) -> None:
    web.server.pages = tuple(Page(f"Page {n}", f"https://example.com/{n}", "Text") for n in range(40))
    for most in (1, 20):
        found = await web.search(engine, max_results=most)
        assert [page.url for page in found] == [f"https://example.com/{n}" for n in range(most)]


async def test_google_is_asked_for_ten_results_at_a_time(web) -> None:
    web.server.pages = tuple(Page(f"Page {n}", f"https://example.com/{n}", "Text") for n in range(13))
    assert len(await web.search("google_pse", max_results=20)) == 13
    asked = [(request.query["start"], request.query["num"]) for request in web.server.requests]
    assert asked == [(["1"], ["10"]), (["11"], ["10"])]


@pytest.mark.parametrize(
    ("engine", "headers", "query"),
    [
        ("brave", {"x-subscription-token": KEY}, {}),
        ("tavily", {"authorization": f"Bearer {KEY}"}, {}),
        ("serper", {"x-api-key": KEY}, {}),
        ("google_pse", {}, {"key": [KEY], "cx": [CX]}),
        ("searxng", {"authorization": f"Bearer {KEY}"}, {}),
    ],
)
async def test_a_key_is_sent_where_the_engine_looks_for_it(web, engine, headers, query) -> None:
    await web.search(engine)
    assert headers.items() <= web.server.last.headers.items()
    assert query.items() <= web.server.last.query.items()


async def test_duckduckgo_is_never_sent_a_key(web) -> None:
    await web.search("duckduckgo")
    assert KEY not in str(web.server.last.headers) + web.server.last.body.decode()


async def test_a_searxng_behind_a_login_gets_it(web) -> None:
    access = EngineAccess(key=Secret("p4ss-word"), username="ada", base_url=f"{web.server.url}/searx/")
    await web.search("searxng", access=access)
    assert web.server.last.path == "/searx/search"
    assert web.server.last.headers["authorization"] == "Basic YWRhOnA0c3Mtd29yZA=="


async def test_a_searxng_without_a_login_is_asked_without_one(web) -> None:
    await web.search("searxng", access=EngineAccess(base_url=web.server.url))
    assert "authorization" not in web.server.last.headers


@pytest.mark.parametrize(
    ("engine", "name", "safe", "unsafe"),
    [
        ("brave", "safesearch", "strict", "off"),
        ("google_pse", "safe", "active", "off"),
        ("searxng", "safesearch", "2", "0"),
        ("duckduckgo", "kp", "1", "-2"),
    ],
)
async def test_safe_search_is_asked_for_in_the_words_of_the_engine(web, engine, name, safe, unsafe) -> None:
    for wanted, said in ((True, safe), (False, unsafe)):
        await web.search(engine, safe_search=wanted)
        request = web.server.last
        sent = request.query if request.method == "GET" else parse_qs(request.body.decode())
        assert sent[name] == [said]


def test_keys_of_known_engines_go_to_their_companies_over_https() -> None:
    assert {name: ENGINES[name].address("http://evil.example") for name in ADDRESSES} == {
        "brave": "https://api.search.brave.com",
        "duckduckgo": "https://html.duckduckgo.com",
        "google_pse": "https://www.googleapis.com",
        "serper": "https://google.serper.dev",
        "tavily": "https://api.tavily.com",
    }


def test_google_is_another_name_of_its_engine() -> None:
    assert find_engine("google") is ENGINES["google_pse"]
    assert find_engine("altavista") is None


@pytest.mark.parametrize("engine", ["brave", "google_pse", "searxng", "serper", "tavily"])
def test_an_engine_without_what_it_needs_cannot_be_asked(web, engine) -> None:
    with pytest.raises(SearchError) as caught:
        searcher_for(web.egress, ENGINES[engine], EngineAccess())
    assert caught.value.code == "not_configured"
    assert web.server.requests == []


@EVERY
async def test_a_search_can_be_limited_to_domains_and_kept_from_others(web, engine) -> None:
    hosts = ("rust-lang.org", "blog.rust-lang.org", "notrust-lang.org", "rust-lang.org.evil.example", "x.org")
    web.server.pages = tuple(Page("Page", f"https://{host}/", "Text") for host in hosts)
    limits = {"allowed_domains": ("rust-lang.org",), "blocked_domains": ()}
    found = await web.search(engine, **limits)
    assert [page.url for page in found] == ["https://rust-lang.org/", "https://blog.rust-lang.org/"]
    limits["blocked_domains"] = ("blog.rust-lang.org", "org.evil.example")
    assert [page.url for page in await web.search(engine, **limits)] == ["https://rust-lang.org/"]
    limits["allowed_domains"] = ()
    assert [page.url for page in await web.search(engine, **limits)] == [
        f"https://{host}/" for host in ("rust-lang.org", "notrust-lang.org", "x.org")
    ]


async def test_engines_are_told_of_the_domains(web) -> None:
    await web.search("brave", allowed_domains=("a.example", "b.example"))
    assert terms(web.server.last) == "rust (site:a.example OR site:b.example)"
    await web.search("serper", allowed_domains=("a.example",))
    assert (terms(web.server.last), web.server.last.json["num"]) == ("rust site:a.example", 20)
    await web.search("tavily", allowed_domains=("a.example",), blocked_domains=("c.example",))
    told = web.server.last.json
    assert (told["query"], told["include_domains"], told["exclude_domains"]) == (
        "rust",
        ["a.example"],
        ["c.example"],
    )
    await web.search("brave", allowed_domains=tuple(f"{n}.example" for n in range(6)))
    assert terms(web.server.last) == "rust"


@pytest.mark.parametrize("written", ["Example.COM", "example.com.", " example.com "])
def test_a_domain_has_one_spelling(written) -> None:
    assert parse_domain(written) == "example.com"


@pytest.mark.parametrize(
    "written", ["https://example.com", "example.com/path", "*.example.com", "münchen.de", ""]
)
def test_what_is_no_domain_is_refused(written) -> None:
    with pytest.raises(EgressRefused):
        parse_domain(written)


@EVERY
@pytest.mark.parametrize(
    ("query", "sent"),
    [
        ("  rust\n\tnews ", "rust news"),
        ("!!g rust !images", "g rust images"),
        ("\\ rust", "rust"),
        ("rust\x00\u200b\u202enews", "rustnews"),
        ("x" * 900, "x" * 399),
    ],
)
async def test_a_query_is_words_on_one_line_and_hands_nobody_on(web, engine, query, sent) -> None:
    await web.search(engine, query)
    assert terms(web.server.last) == sent


@pytest.mark.parametrize("query", ["", "   ", "\n", "!", "\u200b"])
async def test_nobody_is_asked_without_words(web, query) -> None:
    assert await web.search("brave", query) == []
    assert web.server.requests == []


@EVERY
async def test_only_pages_of_the_web_are_passed_on_each_once(web, engine) -> None:
    good = "https://example.com/a?b=c#d"
    bad = (
        "javascript:alert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "ftp://example.com/",
        "https://user:pass@example.com/",
        "https://exa mple.com/",
        "https://example.com\\@evil.example/",
        f"https://example.com/{'x' * 2048}",
        "/relative",
    )
    web.server.pages = tuple(Page("Page", url, "Text") for url in (*bad, good, good))
    assert [page.url for page in await web.search(engine, max_results=20)] == [good]


@EVERY
async def test_markup_and_hidden_text_of_strangers_do_not_come_through(web, engine) -> None:
    web.server.pages = (
        Page(
            "<img src=x onerror=alert(1)>A &lt;script&gt; title",
            "https://example.com/",
            "a\u202eb\U000e0041c d",
        ),
        Page("", "https://example.org/", "é" * 5000),
    )
    found = await web.search(engine)
    assert (found[0].title, found[0].snippet) == ("A title", "abc d")
    assert found[1].title == "example.org"
    assert len(found[1].snippet) == 1000
    assert found[1].snippet.endswith("é…")


@pytest.mark.parametrize("engine", ["brave", "google_pse", "searxng", "serper", "tavily"])
async def test_results_that_are_not_as_documented_are_left_out_or_read_as_nothing(web, engine) -> None:
    rows = [
        {
            "title": 7,
            "url": "https://a.example/",
            "link": "https://a.example/",
            "content": None,
            "snippet": [],
        },
        {"title": "No address"},
        {"url": 5, "link": None},
        {"url": "https://b.example/", "link": "https://b.example/", "pagemap": {"metatags": ["x"]}},
    ]
    body = {"web": {"results": rows}, "results": rows, "items": rows, "organic": rows}
    web.server.answers.append(as_json(body))
    found = await web.search(engine)
    assert found == [
        SearchResult("a.example", "https://a.example/", ""),
        SearchResult("b.example", "https://b.example/", ""),
    ]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("2026-04-15", "2026-04-15T00:00:00.000000Z"),
        ("2026-04-15T08:30:00Z", "2026-04-15T08:30:00.000000Z"),
        ("2026-04-15T10:30:00+02:00", "2026-04-15T08:30:00.000000Z"),
        ("Wed, 15 Apr 2026 08:30:00 GMT", "2026-04-15T08:30:00.000000Z"),
        ("Apr 15, 2026", "2026-04-15T00:00:00.000000Z"),
        ("15 Apr 2026", "2026-04-15T00:00:00.000000Z"),
        *(
            (nothing, None)
            for nothing in ("3 days ago", "", "0001-01-01T00:00:00+23:59", "soon", 7, None, [])
        ),
    ],
)
def test_dates_of_every_engine_are_read(written, read) -> None:
    assert parse_published_at(written) == read


async def test_duckduckgo_asking_for_a_human_is_said(web) -> None:
    web.server.answers.append(CHALLENGE)
    failure = await web.failure("duckduckgo")
    assert failure.code == "rate_limited"
    assert "human" in failure.message


async def test_a_page_about_captchas_is_no_challenge(web) -> None:
    web.server.pages = (Page("anomaly-modal challenge-form", "https://example.com/", "Prove you are human"),)
    assert len(await web.search("duckduckgo")) == 1


@pytest.mark.parametrize(
    "body", ["", "<html><body>Welcome</body></html>", "{}", "<div class='result__a", "\x00\xff"]
)
async def test_a_page_that_is_not_duckduckgos_is_a_failure_and_not_an_empty_answer(web, body) -> None:
    web.server.answers.append(as_page(body))
    assert (await web.failure("duckduckgo")).code == "provider_error"


async def test_a_searxng_whose_engines_do_not_answer_says_so(web) -> None:
    silent = {"results": [], "unresponsive_engines": [["brave", "too many requests"], ["bing", "CAPTCHA"]]}
    web.server.answers.append(as_json(silent))
    failure = await web.failure("searxng")
    assert failure.code == "provider_error"
    assert "brave too many requests, bing CAPTCHA" in failure.message
