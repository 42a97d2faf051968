"""Administrators and the sign-in of others: sessions, links for a new password."""

import pytest

from retinue.access.models import Role
from retinue.auth.administration import MAX_RESET_LINKS_PER_HOUR
from retinue.kit.secrets import Secret
from tests.factories.happenings import audits
from tests.factories.mails import last_mail, link_token, text_of
from tests.factories.people import PASSWORD, People

NEW_PASSWORD = "Another-Staple-3"


@pytest.fixture
async def boss(people):
    return await people.signed_in(Role.tenant_admin)


async def test_an_administrator_ends_one_session_of_a_user_at_once(people, boss):
    user = await people.user()
    lost, kept = await people.sign_in(user), await people.sign_in(user)
    listed = await boss.get(f"/users/{user.id}/sessions")
    assert listed.status == 200
    assert listed.json()["pagination"]["total"] == 2
    assert [one["is_current"] for one in listed.json()["data"]] == [False, False]
    (mine,) = [one for one in (await lost.get("/auth/sessions")).json()["data"] if one["is_current"]]
    path = f"/users/{user.id}/sessions/{mine['id']}"
    assert (await boss.delete(path)).json() == {"message": "The session was ended."}
    assert (await lost.get("/auth/me")).details == {"reason": "session_ended"}
    assert (await kept.get("/auth/me")).status == 200
    [audited] = await audits(people, "auth.session_revoked")
    assert audited.metadata == {"user_id": user.id, "session_id": mine["id"]}
    assert audited.actor == {"type": "user", "id": boss.user.id}
    again = await boss.delete(path)
    assert (again.status, again.code) == (404, "session_not_found")


async def test_a_session_is_reached_below_its_own_user_only(people, boss):
    other, user = await people.signed_in(), await people.user()
    (session,) = (await other.get("/auth/sessions")).json()["data"]
    assert (await boss.delete(f"/users/{user.id}/sessions/{session['id']}")).status == 404
    assert (await other.get("/auth/me")).status == 200


async def test_sessions_and_links_of_higher_roles_and_other_tenants_are_out_of_reach(people, boss):
    root = await people.signed_in(Role.super_admin)
    (session,) = (await root.get("/auth/sessions")).json()["data"]
    path = f"/users/{root.user.id}"
    for refused in (
        await boss.get(f"{path}/sessions"),
        await boss.delete(f"{path}/sessions/{session['id']}"),
        await boss.post(f"{path}/reset-link"),
    ):
        assert (refused.status, refused.code) == (403, "forbidden")
    stranger = await people.user("viewer", await people.tenant("Other"))
    for missing in (
        await boss.get(f"/users/{stranger.id}/sessions"),
        await boss.post(f"/users/{stranger.id}/reset-link"),
    ):
        assert (missing.status, missing.code) == (404, "user_not_found")
    assert (await root.get(f"/users/{stranger.id}/sessions")).status == 200


async def test_without_a_mail_server_the_administrator_gets_the_link(service, people, api, boss):
    user = await people.user()
    signed_in = await people.sign_in(user)
    answer = await boss.post(f"/users/{user.id}/reset-link")
    assert (answer.status, answer.headers["cache-control"]) == (200, "no-store")
    assert set(answer.json()) == {"id", "message", "reset_url"}
    assert answer.json()["reset_url"] in text_of(await last_mail(service, user.email)).splitlines()
    assert (await signed_in.get("/auth/me")).status == 200
    [audited] = await audits(people, "auth.password_reset_link_issued")
    assert audited.metadata == {"user_id": user.id, "is_link_shown": True}
    assert link_token(await last_mail(service, user.email)) not in str(audited)


async def test_a_reset_link_replaces_the_password_and_ends_the_sessions(service, people, api, boss):
    user = await people.user()
    signed_in = await people.sign_in(user)
    assert (await boss.post(f"/users/{user.id}/reset-link")).status == 200
    token = link_token(await last_mail(service, user.email))
    reset = await api.post("/auth/reset-password", {"token": token, "new_password": NEW_PASSWORD})
    assert reset.status == 200
    assert (await signed_in.get("/auth/me")).status == 401
    assert (await api.post("/auth/login", {"email": user.email, "password": PASSWORD})).status == 401
    assert (await api.post("/auth/login", {"email": user.email, "password": NEW_PASSWORD})).status == 200


async def test_with_a_mail_server_the_link_is_only_mailed(make_service, mail_server):
    service = await make_service(smtp_url=Secret(f"smtp://127.0.0.1:{mail_server().port}"))
    people = People(service)
    boss, user = await people.signed_in(Role.tenant_admin), await people.user()
    answer = await boss.post(f"/users/{user.id}/reset-link")
    assert answer.status == 200
    assert set(answer.json()) == {"id", "message"}
    [audited] = await audits(people, "auth.password_reset_link_issued")
    assert audited.metadata["is_link_shown"] is False


async def test_links_are_limited_and_not_for_oneself_or_deactivated_accounts(people, boss):
    own = await boss.post(f"/users/{boss.user.id}/reset-link")
    assert (own.status, own.code) == (409, "cannot_modify_self")
    gone = await people.user(status="inactive")
    assert (await boss.post(f"/users/{gone.id}/reset-link")).status == 409
    user = await people.user()
    answers = [await boss.post(f"/users/{user.id}/reset-link") for _ in range(MAX_RESET_LINKS_PER_HOUR + 1)]
    assert {one.status for one in answers[:-1]} == {200}
    assert (answers[-1].status, answers[-1].code) == (429, "rate_limited")
