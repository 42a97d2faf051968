"""JSON that curl calls a form is read as JSON, but never where a browser may have been made to send it."""

import json

import pytest

from tests.contract.routes import ROUTES
from tests.factories.people import PASSWORD

pytestmark = pytest.mark.either_database

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
AGENT = {"name": "Support", "primary_model": "local/smollm2-135m", "system_prompt": "You answer politely."}
SESSION_ROUTES = {"/auth/login", "/auth/mfa/verify", "/auth/refresh", "/auth/logout", "/auth/setup"}


async def post(api, path: str, content: bytes, **headers: str):
    return await api.request("POST", path, content=content, headers={**FORM, **headers})


async def test_json_that_is_called_a_form_is_read_as_json(people) -> None:
    me = await people.signed_in(role="agent_developer")
    for body in (json.dumps(AGENT), json.dumps(AGENT, indent=2) + "\n", "\r\n\t " + json.dumps(AGENT)):
        answer = await post(me, "/api/v1/agents", body.encode())
        assert (answer.status, answer.json()["name"]) == (201, "Support")
    labelled = {"Content-Type": "Application/X-WWW-Form-URLEncoded; charset=utf-8"}
    answer = await me.request("POST", "/api/v1/agents", content=json.dumps(AGENT).encode(), headers=labelled)
    assert answer.status == 201
    refused = await post(me, "/api/v1/agents", b'{"name": 7}')
    assert (refused.status, refused.code) == (422, "validation_error")
    broken = await post(me, "/api/v1/agents", b'{"name": ')
    assert (broken.status, broken.code) == (400, "invalid_json")
    nothing = await post(me, "/api/v1/agents", b"")
    assert (nothing.status, nothing.code) == (422, "validation_error")


@pytest.mark.parametrize(
    "body", [b"name=Support", b"%7B%22a%22%3A1%7D=", b'"text"', b"null", b"17", b"\xff{"]
)
async def test_a_form_is_no_json_and_the_answer_says_what_to_send(people, body) -> None:
    me = await people.signed_in(role="agent_developer")
    answer = await post(me, "/api/v1/agents", body)
    assert (answer.status, answer.code) == (415, "unsupported_media_type")
    assert "Content-Type: application/json" in answer.json()["error"]["message"]


@pytest.mark.parametrize("label", ["text/plain", "multipart/form-data; boundary=x", "application/xml"])
async def test_other_labels_count(people, label) -> None:
    me = await people.signed_in(role="agent_developer")
    content = json.dumps(AGENT).encode()
    answer = await me.request("POST", "/api/v1/agents", content=content, headers={"Content-Type": label})
    assert (answer.status, answer.code) == (415, "unsupported_media_type")


async def test_what_a_browser_calls_a_form_is_a_form(people) -> None:
    """A page of any site may send such a body without asking first; a browser says that it is one."""
    me = await people.signed_in(role="agent_developer")
    content = json.dumps(AGENT).encode()
    for header in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert (await post(me, "/api/v1/agents", content, **header)).status == 415, header
    stranger = json.dumps(
        {"email": "x@example.com", "password": PASSWORD, "first_name": "X", "last_name": "Y"}
    )
    answer = await post(people.api, "/auth/register", stranger.encode(), Origin="https://evil.example")
    assert answer.status == 415


async def test_the_session_routes_never_take_a_form_for_json(people) -> None:
    user = await people.user()
    bodies = {
        "/auth/login": {"email": user.email, "password": PASSWORD},
        "/auth/refresh": {"refresh_token": "x"},
        "/auth/mfa/verify": {"mfa_token": "x", "code": "123456"},
    }
    for path, body in bodies.items():
        answer = await post(people.api, path, json.dumps(body).encode())
        assert (answer.status, answer.code) == (415, "unsupported_media_type"), path
        assert (await people.api.post(path, body)).status != 415, path
    assert {route.path for route in ROUTES if route.refuses_form_label} == SESSION_ROUTES
