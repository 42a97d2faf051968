"""Refresh tokens: each works once; a spent one shown again ends the session, unless it was just replaced."""

import asyncio

import pytest

from retinue.auth.models import RefreshToken
from retinue.kit.ids import hash_token
from retinue.users.models import User, UserStatus
from tests.client import Api, Response
from tests.factories.happenings import audits, events
from tests.factories.mails import last_mail, link_token
from tests.factories.people import PASSWORD, People

REFUSED = (401, {"reason": "invalid_refresh_token"})
WEEK = 7 * 24 * 3600


async def sign_in(people: People, user: User | None = None) -> dict:
    user = user or await people.user()
    answer = await people.api.post("/auth/login", {"email": user.email, "password": PASSWORD})
    assert answer.status == 200
    return answer.json()


async def refresh(api: Api, token: str) -> Response:
    return await api.post("/auth/refresh", {"refresh_token": token})


async def refresh_tokens(api: Api, token: str) -> dict:
    answer = await refresh(api, token)
    assert answer.status == 200, answer
    return answer.json()


async def is_refused(api: Api, token: str) -> bool:
    answer = await refresh(api, token)
    return (answer.status, answer.details) == REFUSED


async def is_open(api: Api, tokens: dict) -> bool:
    return (await api.signed_in(tokens["access_token"]).get("/auth/me")).status == 200


async def test_a_refresh_gives_a_new_pair(api, people):
    first = await sign_in(people)
    second = await refresh_tokens(api, first["refresh_token"])
    assert second.keys() == {"access_token", "refresh_token", "token_type", "expires_in"}
    assert (second["token_type"], second["expires_in"]) == ("Bearer", 900)
    assert second["refresh_token"] != first["refresh_token"]
    assert second["access_token"] != first["access_token"]
    assert await is_open(api, second)


async def test_a_refresh_outlives_the_access_token(api, people, clock):
    tokens = await sign_in(people)
    for _ in range(3):
        clock.advance(901)
        assert not await is_open(api, tokens)
        tokens = await refresh_tokens(api, tokens["refresh_token"])
        assert await is_open(api, tokens)


async def test_an_old_token_shown_again_ends_the_whole_family(api, people):
    r1 = await sign_in(people)
    r2 = await refresh_tokens(api, r1["refresh_token"])
    r3 = await refresh_tokens(api, r2["refresh_token"])
    assert await is_refused(api, r1["refresh_token"])
    assert await is_refused(api, r3["refresh_token"])
    assert not await is_open(api, r3)
    (told,) = await events(people, "system.auth.token_reuse")
    (row,) = await audits(people, "system.auth.token_reuse")
    assert row.metadata == told.data
    assert row.subject_id == told.data["user_id"]


async def test_the_token_just_replaced_is_refused_and_the_family_lives(api, people, clock):
    """A client that lost the answer, or two tabs at once, must not look like a thief."""
    r1 = await sign_in(people)
    r2 = await refresh_tokens(api, r1["refresh_token"])
    clock.advance(9)
    assert await is_refused(api, r1["refresh_token"])
    assert await is_open(api, r2)
    assert (await refresh(api, r2["refresh_token"])).status == 200
    assert await events(people, "system.auth.token_reuse") == []


async def test_the_token_replaced_a_while_ago_ends_the_family(api, people, clock):
    r1 = await sign_in(people)
    r2 = await refresh_tokens(api, r1["refresh_token"])
    clock.advance(11)
    assert await is_refused(api, r1["refresh_token"])
    assert not await is_open(api, r2)
    assert await is_refused(api, r2["refresh_token"])


async def test_only_the_family_that_was_reused_ends(api, people):
    user = await people.user()
    mine, theirs = await sign_in(people, user), await sign_in(people, user)
    second = await refresh_tokens(api, mine["refresh_token"])
    await refresh_tokens(api, second["refresh_token"])
    assert await is_refused(api, mine["refresh_token"])
    assert await is_open(api, theirs)
    assert (await refresh(api, theirs["refresh_token"])).status == 200


async def test_twenty_refreshes_at_once_give_exactly_one_new_pair(api, people):
    first = await sign_in(people)
    answers = await asyncio.gather(*(refresh(api, first["refresh_token"]) for _ in range(20)))
    granted = [answer.json() for answer in answers if answer.status == 200]
    refused = [answer for answer in answers if answer.status != 200]
    assert len(granted) == 1
    assert {(answer.status, answer.details["reason"]) for answer in refused} == {
        (401, "invalid_refresh_token")
    }
    assert await is_open(api, granted[0])
    assert (await refresh(api, granted[0]["refresh_token"])).status == 200


async def test_a_refresh_token_lives_seven_days_from_its_last_use(api, people, clock):
    tokens = await sign_in(people)
    clock.advance(WEEK - 60)
    tokens = await refresh_tokens(api, tokens["refresh_token"])
    clock.advance(WEEK - 60)
    tokens = await refresh_tokens(api, tokens["refresh_token"])
    clock.advance(WEEK + 1)
    assert await is_refused(api, tokens["refresh_token"])


async def test_after_logout_nothing_can_be_refreshed(api, people):
    tokens = await sign_in(people)
    await api.signed_in(tokens["access_token"]).post("/auth/logout")
    assert await is_refused(api, tokens["refresh_token"])


async def test_after_a_changed_password_only_the_session_that_changed_it_goes_on(api, people):
    user = await people.user()
    mine, theirs = await sign_in(people, user), await sign_in(people, user)
    change = {"current_password": PASSWORD, "new_password": "Another-Staple-3"}
    assert (await api.signed_in(mine["access_token"]).post("/auth/change-password", change)).status == 200
    assert await is_refused(api, theirs["refresh_token"])
    assert not await is_open(api, theirs)
    assert await is_open(api, mine)
    assert (await refresh(api, mine["refresh_token"])).status == 200


async def test_after_a_reset_no_session_goes_on(service, api, people):
    user = await people.user()
    sessions = [await sign_in(people, user) for _ in range(3)]
    sessions.append(await refresh_tokens(api, sessions[0]["refresh_token"]))
    await api.post("/auth/forgot-password", {"email": user.email})
    token = link_token(await last_mail(service, user.email))
    reset = {"token": token, "new_password": "Another-Staple-3"}
    assert (await api.post("/auth/reset-password", reset)).status == 200
    for tokens in sessions:
        assert not await is_open(api, tokens)
        assert await is_refused(api, tokens["refresh_token"])


@pytest.mark.parametrize("fate", ["deactivated", "deleted"])
async def test_a_closed_account_refreshes_nothing(api, people, fate):
    user = await people.user()
    tokens = await sign_in(people, user)
    async with people.context(user.tenant_id) as ctx:
        if fate == "deleted":
            await ctx.db.delete(user)
        else:
            await ctx.db.update(user, status=UserStatus.inactive)
    assert await is_refused(api, tokens["refresh_token"])
    assert not await is_open(api, tokens)


async def test_a_malformed_refresh_names_the_field(api):
    for bad in (None, "", 7, [], {}, ["rft_x"], "x" * 2000):
        answer = await api.post("/auth/refresh", {"refresh_token": bad})
        assert (answer.status, list(answer.details)) == (422, ["refresh_token"]), bad


async def test_an_unknown_refresh_token_is_refused(api):
    for bad in ("null", "rft_", "rft_unknown", "' OR 1=1 --", "🗝" * 20):
        assert await is_refused(api, bad), bad


async def test_an_access_token_refreshes_nothing(api, people):
    tokens = await sign_in(people)
    assert await is_refused(api, tokens["access_token"])


async def test_only_the_hash_of_a_refresh_token_is_stored(service, api, people):
    tokens = await sign_in(people)
    secret = tokens["refresh_token"]
    async with people.context() as ctx:
        stored = await ctx.system("test").all(RefreshToken)
    assert hash_token(secret) in {row.token_hash for row in stored}
    assert secret not in repr(stored)
    if service.instance.database.dialect == "sqlite":
        folder = service.settings.data_dir
        for file in folder.glob("retinue.db*"):
            assert secret.encode() not in file.read_bytes()


async def test_refreshing_is_for_the_holder_of_the_token_whoever_else_is_signed_in(api, people):
    """The bearer header of another session plays no part."""
    first, other = await sign_in(people), await sign_in(people)
    answer = await refresh(api.signed_in(other["access_token"]), first["refresh_token"])
    me = await api.signed_in(answer.json()["access_token"]).get("/auth/me")
    assert me.json()["id"] == first["user"]["id"]
