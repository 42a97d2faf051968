"""One's own sessions: seen, ended one by one, all at once, and swept when they are over."""

import pytest

from retinue.auth.models import MfaChallenge, OneTimeToken, RefreshToken, Session
from tests.factories.happenings import audits
from tests.factories.people import PASSWORD, People


async def list_sessions(me) -> list[dict]:
    answer = await me.get("/auth/sessions")
    assert answer.status == 200
    assert list(answer.json()) == ["data", "pagination"]
    return answer.json()["data"]


async def test_sessions_are_listed_the_last_used_first(people, clock):
    user = await people.user()
    people.api = people.api.at("198.51.100.1")
    first = await people.sign_in(user)
    clock.advance(60)
    people.api = people.api.at("198.51.100.2")
    second = await people.sign_in(user)
    await people.signed_in()
    shown = await list_sessions(first)
    assert [session["ip_address"] for session in shown] == ["198.51.100.2", "198.51.100.1"]
    assert [session["is_current"] for session in shown] == [False, True]
    assert shown[0].keys() == {
        "id",
        "created_at",
        "last_used_at",
        "expires_at",
        "ip_address",
        "user_agent",
        "is_current",
    }
    assert [session["is_current"] for session in await list_sessions(second)] == [True, False]


async def test_sessions_are_listed_in_pages(people, clock):
    user = await people.user()
    for number in range(5):
        people.api = people.api.at(f"198.51.100.{number}")
        me = await people.sign_in(user)
        clock.advance(60)
    answer = await me.get("/auth/sessions", query={"page": 2, "per_page": 2})
    assert answer.status == 200
    assert answer.json()["pagination"] == {"page": 2, "per_page": 2, "total": 5, "total_pages": 3}
    assert [one["ip_address"] for one in answer.json()["data"]] == ["198.51.100.2", "198.51.100.1"]
    beyond = (await me.get("/auth/sessions", query={"page": 9})).json()
    assert (beyond["data"], beyond["pagination"]["total"]) == ([], 5)
    clamped = (await me.get("/auth/sessions", query={"per_page": 1000})).json()
    assert (len(clamped["data"]), clamped["pagination"]["per_page"]) == (5, 100)
    for query in ({"page": 0}, {"per_page": 0}, {"page": "last"}):
        refused = await me.get("/auth/sessions", query=query)
        assert (refused.status, list(refused.details)) == (422, list(query))


async def test_refreshing_counts_as_use(api, people, clock):
    user = await people.user()
    tokens = (await api.post("/auth/login", {"email": user.email, "password": PASSWORD})).json()
    me = await people.sign_in(user)
    clock.advance(600)
    await api.post("/auth/refresh", {"refresh_token": tokens["refresh_token"]})
    used = (await list_sessions(me))[0]
    assert used["last_used_at"] > used["created_at"]
    assert used["is_current"] is False


async def test_an_expired_session_is_not_listed(people, clock):
    user = await people.user()
    await people.sign_in(user)
    clock.advance(7 * 24 * 3600 + 1)
    me = await people.sign_in(user)
    assert len(await list_sessions(me)) == 1


async def test_one_session_is_ended_at_once(people):
    user = await people.user()
    here, there = await people.sign_in(user), await people.sign_in(user)
    (other,) = [session for session in await list_sessions(here) if not session["is_current"]]
    answer = await here.delete(f"/auth/sessions/{other['id']}")
    assert (answer.status, list(answer.json())) == (200, ["message"])
    assert (await there.get("/auth/me")).details == {"reason": "session_ended"}
    assert (await here.get("/auth/me")).status == 200
    assert [row.metadata["session_id"] for row in await audits(people, "auth.logged_out")] == [other["id"]]
    again = await here.delete(f"/auth/sessions/{other['id']}")
    assert (again.status, again.code) == (404, "session_not_found")


async def test_ending_the_own_session_is_signing_out(people):
    me = await people.signed_in()
    (current,) = await list_sessions(me)
    assert (await me.delete(f"/auth/sessions/{current['id']}")).status == 200
    assert (await me.get("/auth/me")).status == 401


@pytest.mark.parametrize("kin", ["colleague", "stranger"])
async def test_the_session_of_anyone_else_is_not_found(people, kin):
    other = await people.signed_in("tenant_admin", None if kin == "colleague" else await people.tenant())
    (theirs,) = await list_sessions(other)
    me = await people.signed_in("tenant_admin")
    answer = await me.delete(f"/auth/sessions/{theirs['id']}")
    assert (answer.status, answer.code) == (404, "session_not_found")
    assert (await other.get("/auth/me")).status == 200


async def test_an_id_that_names_nothing_is_not_found(people):
    me = await people.signed_in()
    for bad in ("ses_unknown", "..", "%00", "x" * 10_000, "SES_X", "'"):
        assert (await me.delete(f"/auth/sessions/{bad}")).status == 404, bad


async def test_every_other_session_is_ended_at_once(people):
    user = await people.user()
    others = [await people.sign_in(user) for _ in range(3)]
    stranger = await people.signed_in()
    me = await people.sign_in(user)
    answer = await me.post("/auth/sessions/revoke-others")
    assert (answer.status, list(answer.json())) == (200, ["message"])
    assert [(await other.get("/auth/me")).status for other in others] == [401] * 3
    assert [(await one.get("/auth/me")).status for one in (me, stranger)] == [200, 200]
    (row,) = await audits(people, "auth.sessions_ended")
    assert row.metadata == {"user_id": user.id, "count": 3}


async def counts(people: People) -> list[int]:
    async with people.context() as ctx:
        system = ctx.system("test")
        kinds = (Session, RefreshToken, OneTimeToken, MfaChallenge)
        return [await system.count(kind) for kind in kinds]


async def test_what_has_expired_is_swept(service, api, people, clock):
    user = await people.user()
    credentials = {"email": user.email, "password": PASSWORD}
    kept = (await api.post("/auth/login", credentials)).json()
    await api.post("/auth/login", credentials)
    await api.post("/auth/forgot-password", {"email": user.email})
    await service.runner.drain()
    async with people.context(user.tenant_id) as ctx:
        await ctx.db.insert(MfaChallenge(user_id=user.id, expires_at=ctx.clock.ahead(300)))
    kept = (await api.post("/auth/refresh", {"refresh_token": kept["refresh_token"]})).json()
    assert await counts(people) == [2, 3, 1, 1]
    clock.advance(4 * 24 * 3600)
    kept = (await api.post("/auth/refresh", {"refresh_token": kept["refresh_token"]})).json()
    clock.advance(4 * 24 * 3600)
    await service.runner.drain()
    # One session lives on, with its good token and the one spent four days ago.
    assert await counts(people) == [1, 2, 0, 0]
    assert (await api.post("/auth/refresh", {"refresh_token": kept["refresh_token"]})).status == 200
