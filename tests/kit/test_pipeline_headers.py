"""The four limit headers are on every answer, once, whatever became of the request."""

import pytest

from retinue.domains import DOMAINS
from tests.client import Api, Response
from tests.factories.people import PASSWORD
from tests.kit.planted import ANYONE
from tests.services import in_each

pytestmark = pytest.mark.either_database

NAMES = ("x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-ratelimit-window")
ABSENT = "/planted/notes/file_aaaaaaaaaaaaaaaaaaaaaaaaaa"
NOTE = {"name": "a"}


@pytest.fixture
async def service(make_service, planted):
    return await make_service(manifests=(*DOMAINS, planted.manifest), burst=False, default_plan="free")


def limit_headers(answer: Response) -> dict[str, int]:
    found = [(name.decode(), int(value)) for name, value in answer.raw_headers if name.decode() in NAMES]
    assert sorted(name for name, _ in found) == sorted(NAMES), found
    return dict(found)


@pytest.mark.parametrize(
    ("status", "method", "path", "more", "cost"),
    [
        (200, "GET", "/planted/read", {}, 1),
        (200, "HEAD", "/planted/read", {}, 1),
        (200, "GET", "/planted/answers/file", {}, 1),
        (200, "HEAD", "/planted/answers/file", {}, 1),
        (201, "POST", "/planted/answers/created", {}, 2),
        (204, "DELETE", "/planted/answers/nothing", {}, 2),
        (200, "POST", "/planted/streams/events", {}, 10),
        (409, "POST", "/planted/streams/refused", {}, 10),
        (500, "POST", "/planted/streams/broken", {}, 10),
        (400, "POST", "/planted/notes", {"content": b"{"}, 2),
        (403, "GET", "/users", {}, 1),
        (404, "POST", ABSENT, {"json": NOTE}, 2),
        (409, "POST", "/planted/failing/conflict", {}, 2),
        (413, "POST", "/planted/notes", {"content": b" " * (1 << 20) + b"{}"}, 2),
        (415, "POST", "/planted/notes", {"content": b"{}", "headers": {"Content-Type": "text/plain"}}, 2),
        (415, "POST", "/planted/uploads", {"json": NOTE}, 2),
        (422, "POST", "/planted/notes", {"json": {}}, 2),
        (422, "POST", "/planted/notes", {"json": NOTE, "headers": {"Idempotency-Key": ""}}, 2),
        (500, "POST", "/planted/failing/oops", {}, 2),
        (503, "POST", "/planted/failing/unavailable", {}, 2),
    ],
)
async def test_an_answer_to_somebody_shows_their_tenants_window(me, status, method, path, more, cost):
    answer = await me.request(method, path, **more)
    assert answer.status == status
    shown = limit_headers(answer)
    assert (shown["x-ratelimit-limit"], shown["x-ratelimit-remaining"]) == (60, 60 - cost)
    if status >= 400:
        assert set(answer.json()["error"]) <= {"code", "message", "details"}
        assert b"planted" not in answer.body, "what went wrong inside is nobody's business"


@pytest.mark.parametrize(
    ("status", "method", "path", "more", "cost"),
    [
        (200, "GET", ANYONE, {}, 1),
        (200, "GET", "/health", {}, 0),
        (204, "OPTIONS", ANYONE, {}, 0),
        (204, "OPTIONS", "/planted/read", {"headers": {"Origin": "https://evil.example"}}, 0),
        (404, "OPTIONS", "/nowhere", {}, 0),
        (401, "GET", "/planted/read", {}, 1),
        (401, "POST", "/planted/streams/events", {}, 10),
        (401, "POST", "/planted/uploads", {"json": NOTE}, 2),
        (404, "GET", "/nowhere", {}, 1),
        (405, "PATCH", ANYONE, {}, 2),
        (422, "POST", "/auth/login", {"json": {}}, 2),
    ],
)
async def test_an_answer_to_nobody_in_particular_shows_their_addresss_window(
    api, status, method, path, more, cost
):
    answer = await api.request(method, path, **more)
    assert answer.status == status
    shown = limit_headers(answer)
    assert (shown["x-ratelimit-limit"], shown["x-ratelimit-remaining"]) == (60, 60 - cost)


async def test_a_refusal_of_the_plan_shows_it_once(me):
    answers = [await me.get("/planted/read") for _ in range(61)]
    assert answers[-1].status == 429
    assert limit_headers(answers[-1])["x-ratelimit-remaining"] == 0


async def test_a_refusal_of_another_limit_shows_that_limit_and_not_the_plan(api, people):
    user = await people.user()
    for _ in range(5):
        await api.post("/auth/login", {"email": user.email, "password": "Wrong-1-password"})
    refused = await api.post("/auth/login", {"email": user.email, "password": PASSWORD})
    assert refused.status == 429
    shown = limit_headers(refused)
    described = tuple(shown[f"x-ratelimit-{name}"] for name in ("limit", "remaining", "window"))
    assert described == (5, 0, 900)
    assert refused.details == {"limit": 5, "window": 900, "retry_after": int(refused.headers["retry-after"])}


async def test_even_a_fault_before_anybody_is_known_is_charged_and_shown(service, api, monkeypatch):
    async def broken(_instance, _request):
        raise ZeroDivisionError("planted")

    in_each(service, lambda one: monkeypatch.setattr(one.app, "_authenticate", broken))
    answer = await api.get("/planted/read")
    assert (answer.status, answer.code) == (500, "internal_error")
    assert limit_headers(answer)["x-ratelimit-remaining"] == 59


async def test_an_answer_without_a_body_has_no_length(me):
    assert "content-length" not in (await me.delete("/planted/answers/nothing")).headers


async def test_a_head_request_of_a_stream_ends_and_starts_nothing(me, planted):
    answer = await me.request("HEAD", "/planted/streams/endless")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"] == "text/event-stream"
    assert not planted.gate.entered.is_set()


async def test_health_tells_strangers_nothing_of_the_network_behind_it(make_service):
    api = Api(await make_service(egress_allow=("10.0.0.0/8", "db.internal")))
    answer = await api.get("/health")
    assert set(answer.json()) == {"status", "version", "commit", "database", "worker", "vault", "sandbox"}
    assert b"10.0.0" not in answer.body
    assert b"internal" not in answer.body
