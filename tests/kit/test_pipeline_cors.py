"""Other origins (A13): which may read an answer, whatever the answer is, and never with credentials."""

import pytest

from retinue.access.models import Role
from retinue.domains import DOMAINS
from tests.client import Api, Response
from tests.kit.planted import ANYONE

pytestmark = pytest.mark.either_database

CONSOLE = "https://console.example"
LOOK_ALIKES = [
    "null",
    "https://evil.example",
    "http://console.example",
    "https://console.example:443",
    "https://console.example:8443",
    "https://console.example.evil",
    "https://evilconsole.example",
    "https://evil.console.example",
    "https://console.example/",
    "https://console.example@evil.example",
    "https://console.exampl",
    "https://console.example https://evil.example",
    "file://",
    "*",
    "",
]


@pytest.fixture
async def service(make_service, planted):
    return await make_service(
        manifests=(*DOMAINS, planted.manifest),
        base_url="https://api.example",
        burst=False,
        cors_origins=("https://Console.Example/", "http://localhost:5173"),
    )


@pytest.fixture
async def me(people) -> Api:
    return await people.signed_in(Role.agent_developer, await people.tenant(plan="free"))


async def preflight(api: Api, path: str, origin: str, method: str = "POST") -> Response:
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "authorization, content-type, idempotency-key",
    }
    return await api.request("OPTIONS", path, headers=headers)


def allowed_origin(answer: Response) -> str | None:
    names = [name for name, _ in answer.raw_headers]
    assert b"access-control-allow-credentials" not in names
    assert names.count(b"access-control-allow-origin") <= 1
    assert "Origin" in answer.headers["vary"]
    return answer.headers.get("access-control-allow-origin")


@pytest.mark.parametrize("origin", [CONSOLE, "http://localhost:5173"])
async def test_a_listed_console_may_ask_and_may_read(api, me, origin):
    answer = await preflight(api, "/planted/notes", origin)
    assert (answer.status, answer.body, allowed_origin(answer)) == (204, b"", origin)
    assert answer.headers["allow"] == "GET, HEAD, OPTIONS, POST"
    assert set(answer.headers["access-control-allow-methods"].split(", ")) >= {
        "POST",
        "PUT",
        "PATCH",
        "DELETE",
    }
    for name in ("authorization", "content-type", "idempotency-key", "x-tenant-id", "last-event-id"):
        assert name in answer.headers["access-control-allow-headers"].lower().split(", ")
    assert allowed_origin(await me.get("/planted/read", headers={"Origin": origin})) == origin


@pytest.mark.parametrize(
    ("status", "method", "path", "more"),
    [
        (200, "GET", "/planted/read", {}),
        (200, "HEAD", "/planted/read", {}),
        (204, "DELETE", "/planted/answers/nothing", {}),
        (200, "GET", "/planted/answers/file", {}),
        (200, "POST", "/planted/streams/events", {}),
        (409, "POST", "/planted/streams/refused", {}),
        (404, "GET", "/nowhere", {}),
        (405, "PUT", "/planted/read", {}),
        (403, "GET", "/users", {}),
        (415, "POST", "/planted/uploads", {"json": {}}),
        (422, "POST", "/planted/notes", {"json": {}}),
        (500, "POST", "/planted/failing/oops", {}),
    ],
)
async def test_the_console_may_read_every_answer_and_nobody_else_any(me, status, method, path, more):
    for origin, expected in ((CONSOLE, CONSOLE), ("https://evil.example", None), ("null", None)):
        answer = await me.request(method, path, headers={"Origin": origin}, **more)
        assert (answer.status, allowed_origin(answer)) == (status, expected)
        if expected:
            exposed = answer.headers["access-control-expose-headers"].lower().split(", ")
            assert {"x-request-id", "retry-after", "x-ratelimit-remaining", "idempotent-replayed"} <= {
                *exposed
            }


async def test_a_refusal_can_be_read_with_its_wait(me):
    for _ in range(6):
        await me.post("/planted/chat")
    refused = await me.get("/planted/read", headers={"Origin": CONSOLE})
    assert (refused.status, allowed_origin(refused)) == (429, CONSOLE)


@pytest.mark.parametrize("origin", LOOK_ALIKES)
async def test_a_look_alike_is_nobody(api, me, origin):
    asked = await preflight(api, "/planted/notes", origin)
    assert (asked.status, allowed_origin(asked)) == (204, None)
    assert "access-control-allow-methods" not in asked.headers
    assert "access-control-allow-headers" not in asked.headers
    done = await me.post("/planted/notes", {"name": "a"}, headers={"Origin": origin})
    assert (done.status, allowed_origin(done)) == (201, None)


@pytest.mark.parametrize("origin", [CONSOLE, *LOOK_ALIKES])
async def test_open_routes_may_be_called_from_anywhere(api, origin):
    for path in (ANYONE, f"{ANYONE}/draws", "/api/v1/public/avatars/file_x"):
        asked = await preflight(api, path, origin)
        assert (asked.status, allowed_origin(asked)) == (204, "*")
        assert "POST" in asked.headers["access-control-allow-methods"]
    called = await api.get(ANYONE, headers={"Origin": origin})
    assert (called.status, allowed_origin(called)) == (200, "*")
    missing = await api.get("/api/v1/public/avatars/file_x", headers={"Origin": origin})
    assert (missing.status, allowed_origin(missing)) == (404, "*")


async def test_a_path_that_only_begins_like_an_open_one_is_not_open(api):
    for path in ("/api/v1/publicity", "/API/V1/PUBLIC/planted", "/x/api/v1/public/planted"):
        answer = await api.get(path, headers={"Origin": "https://evil.example"})
        assert (answer.status, allowed_origin(answer)) == (404, None)


async def test_an_own_origin_is_allowed_where_none_is_listed(make_service, planted):
    service = await make_service(base_url="https://Console.Example")
    answer = await preflight(Api(service), "/auth/login", CONSOLE)
    assert allowed_origin(answer) == CONSOLE
    assert allowed_origin(await preflight(Api(service), "/auth/login", "https://api.example")) is None


async def test_an_answer_to_nobody_elses_page_says_nothing_of_origins(me):
    answer = await me.get("/planted/read")
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_a_preflight_tells_nobody_what_exists_beyond_the_address(api):
    answer = await preflight(api, "/nowhere", CONSOLE)
    assert (answer.status, answer.code) == (404, "not_found")
