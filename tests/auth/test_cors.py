"""Other origins: consoles by a list, never with credentials, and no cookie is worth anything."""

import pytest

from tests.client import Api
from tests.factories.people import PASSWORD, People

pytestmark = pytest.mark.either_database

OWN = "https://console.example"
EVIL = [
    "https://evil.example",
    "null",
    "https://console.example.evil",
    "http://console.example",
    "https://console.example:8443",
    "https://evil.console.example",
    "https://console.exampl",
    "https://CONSOLE.example@evil.example",
    "*",
    "",
]


@pytest.fixture
async def people(make_service) -> People:
    return People(await make_service(base_url=OWN))


async def preflight(api: Api, origin: str, path: str = "/auth/login"):
    headers = {
        "Origin": origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type",
    }
    return await api.request("OPTIONS", path, headers=headers)


async def test_the_own_console_may_call(people):
    answer = await preflight(people.api, OWN)
    assert (answer.status, answer.headers["access-control-allow-origin"]) == (204, OWN)
    assert "authorization" in answer.headers["access-control-allow-headers"].lower()
    assert "access-control-allow-credentials" not in answer.headers


async def test_a_foreign_origin_gets_no_permission(people):
    for origin in EVIL:
        for answer in (
            await preflight(people.api, origin),
            await people.api.get("/auth/me", headers={"Origin": origin}),
            await people.api.post("/auth/login", {}, headers={"Origin": origin}),
        ):
            assert "access-control-allow-origin" not in answer.headers, origin
            assert "access-control-allow-credentials" not in answer.headers, origin
            assert "Origin" in answer.headers["vary"]


async def test_other_consoles_may_be_listed(make_service):
    service = await make_service(base_url=OWN, cors_origins=("https://other.example",))
    api = Api(service)
    assert (await preflight(api, "https://other.example")).headers["access-control-allow-origin"] == (
        "https://other.example"
    )
    assert "access-control-allow-origin" not in (await preflight(api, "https://other.example.evil")).headers


async def test_no_answer_sets_a_cookie_and_no_cookie_signs_in(people):
    user = await people.user()
    answer = await people.api.post("/auth/login", {"email": user.email, "password": PASSWORD})
    tokens = answer.json()
    assert "set-cookie" not in answer.headers
    names = ("session", "access_token", "refresh_token", "token", "__Host-session", "jwt")
    cookie = "; ".join(f"{name}={tokens['access_token']}" for name in names)
    stolen = await people.api.get("/auth/me", headers={"Cookie": cookie, "Origin": "https://evil.example"})
    assert (stolen.status, stolen.details) == (401, {"reason": "missing_token"})


async def test_a_form_of_another_site_is_no_request(people):
    """A form post, which a browser sends without a preflight, is refused before anything is done."""
    me = await people.signed_in()
    body = b'{"current_password":"Battery-Staple-2","new_password":"Another-Staple-3"}'
    for content_type in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
    ):
        headers = {
            "Content-Type": content_type,
            "Origin": "https://evil.example",
            "Cookie": f"access_token={me.token}",
        }
        for path, status in (("/auth/change-password", 401), ("/auth/login", 415), ("/auth/register", 415)):
            answer = await people.api.request("POST", path, content=body, headers=headers)
            assert answer.status == status, (path, content_type)
    assert await people.sign_in(me.user)


async def test_a_preflight_for_nothing_is_not_found(people):
    assert (await preflight(people.api, OWN, "/auth/nothing")).status == 404


async def test_a_preflight_needs_no_token_and_costs_nothing(people):
    first = await preflight(people.api, OWN, "/auth/me")
    second = await preflight(people.api, OWN, "/auth/me")
    assert (first.status, second.status) == (204, 204)
    assert first.headers["x-ratelimit-remaining"] == second.headers["x-ratelimit-remaining"]
