"""Cookie sessions: no script reads the refresh token, and only pages of this server may use it."""

import asyncio
from typing import Any

import pytest

from tests.auth.origins import FOREIGN, FORM, OWN
from tests.client import Api, Response
from tests.factories.people import PASSWORD, People

WEEK = 7 * 24 * 3600


async def login(api: Api, email: str, headers: dict[str, str] = OWN, **more: Any) -> Response:
    body = {"email": email, "password": PASSWORD, "session": "cookie", **more}
    return await api.post("/auth/login", body, headers=headers)


def cookie_of(answer: Response) -> str:
    return answer.headers["set-cookie"].partition(";")[0]


async def refresh(api: Api, cookie: str, headers: dict[str, str] = OWN) -> Response:
    return await api.post("/auth/refresh", {"session": "cookie"}, headers={**headers, "cookie": cookie})


async def test_the_refresh_token_is_in_the_cookie_only(api: Api, people: People) -> None:
    user = await people.user()
    answer = await login(api, user.email, remember=True)
    assert answer.status == 200
    assert answer.json().keys() == {"access_token", "token_type", "expires_in", "user"}
    name, *flags = answer.headers["set-cookie"].split("; ")
    assert name.startswith("retinue_refresh=k.rft_")
    assert set(flags) == {"Path=/", "HttpOnly", "SameSite=Strict", f"Max-Age={WEEK}"}


async def test_without_remember_the_cookie_ends_with_the_browser_also_after_a_refresh(api, people) -> None:
    answer = await login(api, (await people.user()).email)
    assert "Max-Age" not in answer.headers["set-cookie"]
    again = await refresh(api, cookie_of(answer))
    assert again.status == 200
    assert "refresh_token" not in again.json()
    assert "Max-Age" not in again.headers["set-cookie"]
    assert cookie_of(again) != cookie_of(answer)


async def test_over_https_the_cookie_is_secure_and_bound_to_the_host(make_service) -> None:
    service = await make_service(base_url="https://agents.example")
    api, people = Api(service), People(service)
    own = {**OWN, "origin": "https://agents.example", "host": "agents.example"}
    answer = await login(api, (await people.user()).email, own)
    assert answer.headers["set-cookie"].startswith("__Host-retinue_refresh=s.rft_")
    assert "; Secure" in answer.headers["set-cookie"]
    assert "Domain" not in answer.headers["set-cookie"]


async def test_without_session_nothing_changes(api: Api, people: People) -> None:
    answer = await api.post("/auth/login", {"email": (await people.user()).email, "password": PASSWORD})
    assert answer.json()["refresh_token"].startswith("rft_")
    assert "set-cookie" not in answer.headers
    assert (await api.post("/auth/refresh", {})).details == {"refresh_token": "is required"}


@pytest.mark.parametrize(
    ("headers", "status"), [(FOREIGN, 403), ({**OWN, "origin": "null"}, 403), (FORM, 415)]
)
async def test_another_site_can_neither_open_nor_use_a_session(api, people, headers, status) -> None:
    email = (await people.user()).email
    assert (await login(api, email, headers)).status == status
    opened = await login(api, email)
    cookie = cookie_of(opened)
    assert (await refresh(api, cookie, headers)).status == status
    person = api.signed_in(opened.json()["access_token"])
    assert (await person.post("/auth/logout", {}, headers={**headers, "cookie": cookie})).status == status
    assert (await refresh(api, cookie)).status == 200, "the refusals left the session as it was"


async def test_a_request_without_origin_cannot_use_the_cookie(api: Api, people: People) -> None:
    cookie = cookie_of(await login(api, (await people.user()).email))
    headers = {name: value for name, value in OWN.items() if name != "origin"}
    assert (await refresh(api, cookie, headers)).details["reason"] == "foreign_origin"


async def test_two_tabs_that_refresh_at_once_keep_the_session(api: Api, people: People) -> None:
    cookie = cookie_of(await login(api, (await people.user()).email))
    answers = await asyncio.gather(refresh(api, cookie), refresh(api, cookie))
    won = [answer for answer in answers if answer.status == 200]
    lost = [answer for answer in answers if answer.status == 401]
    assert (len(won), len(lost)) == (1, 1)
    assert "set-cookie" not in lost[0].headers, "the loser must not remove the winner's cookie"
    assert (await refresh(api, cookie_of(won[0]))).status == 200


async def test_signing_out_removes_the_cookie_and_ends_the_session(api: Api, people: People) -> None:
    answer = await login(api, (await people.user()).email)
    person, cookie = api.signed_in(answer.json()["access_token"]), cookie_of(answer)
    out = await person.post("/auth/logout", {}, headers={**OWN, "cookie": cookie})
    assert out.status == 200
    assert "Max-Age=0" in out.headers["set-cookie"]
    assert (await refresh(api, cookie)).status == 401


async def test_signing_out_everywhere_ends_cookie_sessions_too(api: Api, people: People) -> None:
    email = (await people.user()).email
    here, there = await login(api, email), await login(api, email)
    person = api.signed_in(here.json()["access_token"])
    assert (await person.post("/auth/sessions/revoke-others")).status == 200
    assert (await refresh(api, cookie_of(there))).status == 401
    assert (await refresh(api, cookie_of(here))).status == 200


async def test_the_second_step_opens_a_cookie_session_too(person, factor, api, clock) -> None:
    me = (await person.get("/auth/me")).json()
    first = await login(api, me["email"])
    assert first.json()["mfa_required"]
    assert "set-cookie" not in first.headers
    clock.advance(60)
    code = {"mfa_token": first.json()["mfa_token"], "code": factor.code(), "session": "cookie"}
    assert (await api.post("/auth/mfa/verify", code, headers=FOREIGN)).status == 403
    done = await api.post("/auth/mfa/verify", code, headers=OWN)
    assert done.status == 200, done
    assert "refresh_token" not in done.json()
    assert cookie_of(done).startswith("retinue_refresh=s.rft_")
