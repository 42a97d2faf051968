"""The own profile: seen whole, changed in part, and never beyond what the profile is."""

import pytest

from retinue.kit.text.locales import is_timezone
from retinue.users import profiles
from retinue.users.models import User
from tests.factories.happenings import events, only_event

PROFILE_FIELDS = {
    *("id", "email", "first_name", "last_name", "role", "tenant_id", "email_verified", "mfa_enabled"),
    *(
        "status",
        "is_pending",
        "last_login_at",
        "created_at",
        "updated_at",
        "avatar_url",
        "timezone",
        "language",
    ),
}
UPDATED_FIELDS = {"id", "first_name", "last_name", "timezone", "language", "updated_at"}


@pytest.fixture
async def viewer(people):
    return await people.signed_in("viewer")


async def test_everyone_sees_their_profile(viewer):
    answer = await viewer.get("/api/v1/profile")
    assert answer.status == 200
    shown = answer.json()
    assert set(shown) == PROFILE_FIELDS
    assert (shown["id"], shown["email"]) == (viewer.user.id, viewer.user.email)
    assert (shown["timezone"], shown["language"], shown["avatar_url"]) == ("UTC", "en", None)


async def test_a_profile_is_changed_whole_and_in_part(viewer):
    whole = {
        "first_name": "Grace",
        "last_name": "Hopper",
        "timezone": "America/New_York",
        "language": "en-US",
    }
    answer = await viewer.put("/api/v1/profile", whole)
    assert answer.status == 200
    assert set(answer.json()) == UPDATED_FIELDS
    assert {name: answer.json()[name] for name in whole} == whole
    part = (await viewer.put("/api/v1/profile", {"language": "de"})).json()
    assert {name: part[name] for name in whole} == {**whole, "language": "de"}
    assert part["updated_at"] > answer.json()["updated_at"]
    shown = (await viewer.get("/api/v1/profile")).json()
    assert {name: shown[name] for name in part} == part


async def test_an_empty_change_changes_nothing(people, viewer):
    before = (await viewer.get("/api/v1/profile")).json()
    answer = await viewer.put("/api/v1/profile", {})
    assert answer.status == 200
    assert answer.json() == {name: before[name] for name in UPDATED_FIELDS}
    assert await events(people, "system.user.updated") == []


async def test_a_change_is_told_once_with_the_names_of_what_changed(people, viewer):
    body = {"first_name": viewer.user.first_name, "timezone": "Asia/Tokyo"}
    await viewer.put("/api/v1/profile", body)
    told = await only_event(people, "system.user.updated")
    assert told == {"user_id": viewer.user.id, "changed": ["timezone"]}


@pytest.mark.parametrize("zone", ["Europe/Berlin", "UTC", "Asia/Kolkata", "America/Argentina/Buenos_Aires"])
async def test_a_real_time_zone_is_taken(viewer, zone):
    assert (await viewer.put("/api/v1/profile", {"timezone": zone})).json()["timezone"] == zone


@pytest.mark.parametrize("tag", ["en", "pt-BR", "zh-Hant-TW", "sl-rozaj-biske", "de-CH-1996", "x-pirate"])
async def test_a_language_tag_is_taken(viewer, tag):
    assert (await viewer.put("/api/v1/profile", {"language": tag})).json()["language"] == tag


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("timezone", "Mars/Olympus"),
        ("timezone", ""),
        ("timezone", "europe/berlin"),
        ("timezone", "../../../etc/passwd"),
        ("timezone", "/etc/localtime"),
        ("timezone", "Europe"),
        ("timezone", "+02:00"),
        ("timezone", "UTC\n"),
        ("timezone", "x" * 65),
        ("timezone", None),
        ("language", ""),
        ("language", "e"),
        ("language", "english language"),
        ("language", "en_US"),
        ("language", "en-"),
        ("language", "en\n"),
        ("language", "-en"),
        ("language", "\uff41\uff42"),
        ("language", "en-" + "a" * 9),
        ("language", "en" + "-abcde" * 20),
        ("language", None),
        ("first_name", ""),
        ("first_name", "x" * 101),
        ("first_name", None),
        ("last_name", "x" * 101),
        ("last_name", 7),
    ],
)
async def test_a_value_that_cannot_be_is_refused(viewer, field, value):
    before = (await viewer.get("/api/v1/profile")).json()
    answer = await viewer.put("/api/v1/profile", {"first_name": "New", field: value})
    assert (answer.status, answer.code) == (422, "validation_error")
    assert list(answer.details) == [field]
    assert (await viewer.get("/api/v1/profile")).json() == before


async def test_every_wrong_field_is_named_at_once(viewer):
    answer = await viewer.put("/api/v1/profile", {"timezone": "Mars", "language": "en_US"})
    assert set(answer.details) == {"timezone", "language"}


async def test_a_profile_cannot_reach_beyond_itself(people, viewer):
    body = {
        "first_name": "Eve",
        "id": "usr_mine",
        "email": "eve@example.com",
        "role": "super_admin",
        "tenant_id": "ten_mine",
        "email_verified": False,
        "mfa_enabled": True,
        "status": "inactive",
        "password_hash": "x",
        "avatar_url": "https://evil.example/x.png",
        "avatar_file_id": "file_x",
        "created_at": "1999-01-01T00:00:00.000000Z",
        "last_login_at": None,
    }
    assert (await viewer.put("/api/v1/profile", body)).status == 200
    async with people.context(viewer.user.tenant_id) as ctx:
        stored = await ctx.db.get(User, viewer.user.id)
    assert stored.first_name == "Eve"
    for name in ("email", "role", "tenant_id", "email_verified", "mfa_enabled", "status", "password_hash"):
        assert getattr(stored, name) == getattr(viewer.user, name)
    assert (stored.created_at, stored.avatar_file_id) == (viewer.user.created_at, None)
    assert stored.last_login_at is not None


async def test_a_super_admins_profile_is_its_own_whatever_tenant_it_acts_in(people, admin):
    tenant = await people.tenant()
    answer = await admin.get("/api/v1/profile", headers={"X-Tenant-ID": tenant.id})
    assert (answer.status, answer.json()["id"]) == (200, admin.user.id)


async def test_who_is_deleted_meanwhile_is_signed_out(people, viewer, monkeypatch):
    async def is_timezone_but_deletes(name: str) -> bool:
        async with people.context(viewer.user.tenant_id) as ctx:
            await ctx.db.delete(viewer.user)
        return await is_timezone(name)

    monkeypatch.setattr(profiles, "is_timezone", is_timezone_but_deletes)
    during = await viewer.put("/api/v1/profile", {"timezone": "UTC"})
    after = await viewer.put("/api/v1/profile", {"timezone": "UTC"})
    assert (during.status, during.details) == (401, {"reason": "session_ended"})
    assert during.body == after.body


async def test_it_takes_a_signed_in_user(api):
    assert (await api.get("/api/v1/profile")).status == 401
    assert (await api.put("/api/v1/profile", {})).status == 401
