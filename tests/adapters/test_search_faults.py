"""Engines that refuse, hang, flood or lead astray: always a SearchError, and never a key in it."""

import base64
import logging
import traceback
import urllib.parse

import pytest

from retinue.adapters.search import ENGINES, EngineAccess, SearchError, searcher_for
from retinue.kit.egress import Egress, Resolver
from retinue.kit.secrets import Secret
from tests.adapters.llm_server import flooding, hanging, refusing, resetting, sending
from tests.adapters.search_server import CX, KEY, as_page, searching
from tests.kit.egress_listener import listening
from tests.kit.egress_targets import REFUSED_HOSTS

EVERY = pytest.mark.parametrize("engine", sorted(ENGINES))
JSON_ENGINES = pytest.mark.parametrize("engine", sorted(ENGINES.keys() - {"duckduckgo"}))
KEYED = pytest.mark.parametrize("engine", ["brave", "google_pse", "serper", "tavily"])


@pytest.fixture
async def web(monkeypatch):
    async with searching(monkeypatch) as made:
        yield made


@EVERY
@pytest.mark.parametrize(
    ("status", "code"),
    [
        (429, "rate_limited"),
        (301, "provider_error"),
        (400, "provider_error"),
        (401, "provider_error"),
        (403, "provider_error"),
        (404, "provider_error"),
        (500, "provider_error"),
        (503, "provider_error"),
    ],
)
async def test_a_refusal_is_told_by_its_status(web, engine, status, code) -> None:
    web.server.faults.append(refusing(status, b"<html>Sorry</html>"))
    failure = await web.failure(engine)
    assert failure.code == code
    assert ENGINES[engine].title in failure.message
    assert str(status) in failure.message
    assert "Sorry" not in failure.message


@pytest.mark.parametrize(
    ("engine", "status", "body"),
    [
        ("tavily", 432, {"detail": {"error": "This request exceeds your plan's set usage limit."}}),
        ("tavily", 433, {"detail": {"error": "This request exceeds the pay-as-you-go limit."}}),
        ("google_pse", 403, {"error": {"code": 403, "errors": [{"reason": "dailyLimitExceeded"}]}}),
        ("google_pse", 403, {"error": {"code": 403, "errors": [{"reason": "rateLimitExceeded"}]}}),
        (
            "brave",
            429,
            {"error": {"code": "RATE_LIMITED", "detail": "Request rate limit exceeded for plan."}},
        ),
        ("brave", 402, {"error": {"code": "QUOTA_LIMITED", "detail": "Request quota limit exceeded."}}),
    ],
)
async def test_a_used_up_plan_is_a_limit(web, engine, status, body) -> None:
    web.server.faults.append(refusing(status, body))
    assert (await web.failure(engine)).code == "rate_limited"


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("brave", "The provided subscription token is invalid."),
        ("google_pse", "API key not valid. Please pass a valid API key."),
        ("serper", "Unauthorized."),
        ("tavily", "Unauthorized: missing or invalid API key."),
    ],
)
async def test_a_wrong_key_is_said_in_the_words_of_the_engine(web, engine, said) -> None:
    failure = await web.failure(engine, access=web.access("wrong-key-1"))
    assert failure.code == "provider_error"
    assert "denied access" in failure.message
    assert said in failure.message
    assert "wrong-key-1" not in failure.message


async def test_a_searxng_without_its_json_form_says_what_to_change(web) -> None:
    web.server.faults.append(refusing(403, b"<h1>Forbidden</h1>"))
    assert "search.formats" in (await web.failure("searxng")).message


@JSON_ENGINES
@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE html><html></html>",
        b"",
        b"[]",
        b"null",
        b"7",
        b'{"results": {}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
async def test_what_is_not_the_protocol_is_a_failure(web, engine, body) -> None:
    web.server.answers.append(as_page(body.decode("latin-1")))
    assert (await web.failure(engine)).code == "provider_error"


@EVERY
@pytest.mark.parametrize("declared", [True, False])
async def test_an_answer_of_ten_megabytes_is_not_read(web, engine, declared) -> None:
    flood = 10 * 1024 * 1024
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % flood
    web.server.faults.append(
        sending(head + b" " * flood) if declared else flooding(b" " * 64 * 1024, most=flood)
    )
    failure = await web.failure(engine)
    assert (failure.code, "larger than allowed" in failure.message) == ("provider_error", True)


@EVERY
@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"])
async def test_who_does_not_answer_in_time_is_not_waited_for(web, engine, begun) -> None:
    web.server.faults.append(hanging(begun))
    assert (await web.failure(engine, timeout_s=0.2)).code == "timeout"


@EVERY
async def test_a_broken_connection_is_a_failure(web, engine) -> None:
    # A connection that breaks before a byte came is tried once more.
    web.server.faults.extend([resetting(), resetting()])
    assert (await web.failure(engine)).code == "provider_error"


@EVERY
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_no_redirect_is_followed_so_no_key_goes_elsewhere(web, engine, status) -> None:
    async with listening() as elsewhere:
        web.server.faults.append(refusing(status, Location=f"{elsewhere.url}/x"))
        assert (await web.failure(engine)).code == "provider_error"
        assert elsewhere.connections == 0


@KEYED
@pytest.mark.parametrize("status", [400, 401, 500])
async def test_a_key_that_an_engine_repeats_is_in_no_error_and_no_log(web, engine, status, caplog) -> None:
    forms = (KEY, urllib.parse.quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode())
    web.server.faults.append(refusing(status, {"error": {"message": f"Bad key {' and '.join(forms)}"}}))
    with caplog.at_level(logging.DEBUG):
        failure = await web.failure(engine)
    shown = failure.message + "".join(traceback.format_exception(failure)) + caplog.text
    assert "Bad key *** and *** and ***" in failure.message
    assert not [form for form in forms if form in shown]


@KEYED
async def test_a_key_is_not_shown_when_it_cannot_be_sent(web, engine) -> None:
    key = "line-one\r\nX-Evil: 1"
    access = EngineAccess(key=Secret(key), engine_id=CX)
    if engine == "google_pse":
        assert "denied access" in (await web.failure(engine, access=access)).message
        return
    failure = await web.failure(engine, access=access)
    assert (failure.code, web.server.requests) == ("not_configured", [])
    assert "line-one" not in failure.message
    assert "Evil" not in repr(access)


@pytest.mark.parametrize("host", REFUSED_HOSTS)
async def test_a_searxng_may_not_be_where_outgoing_calls_may_not_go(host) -> None:
    async with Egress() as egress:
        searcher = _searxng(egress, f"https://{host}")
        failure = await _failure(searcher)
    assert failure.code == "not_configured"
    assert "cannot be called" in failure.message


async def test_an_address_that_resolves_to_loopback_is_not_called() -> None:
    class Rebinding(Resolver):
        async def resolve(self, host: str) -> list[str]:
            return ["127.0.0.1"]

    async with listening() as inside, Egress(resolver=Rebinding()) as egress:
        failure = await _failure(_searxng(egress, f"https://search.example:{inside.port}"))
        assert (failure.code, inside.connections) == ("not_configured", 0)


async def test_plain_http_is_only_for_hosts_the_operator_lists() -> None:
    async with Egress() as egress:
        failure = await _failure(_searxng(egress, "http://search.example"))
    assert (failure.code, "https" in failure.message) == ("not_configured", True)


def _searxng(egress: Egress, base_url: str):
    return searcher_for(egress, ENGINES["searxng"], EngineAccess(base_url=base_url), timeout_s=5)


async def _failure(searcher):
    with pytest.raises(SearchError) as caught:
        await searcher.search("rust", max_results=5, safe_search=True)
    return caught.value
