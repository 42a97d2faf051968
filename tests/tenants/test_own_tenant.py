"""Everyone sees the tenant they are in: its plan, and the numbers that count."""

from retinue.kit.limits import PLANS
from retinue.kit.secrets import Secret
from tests.client import Api
from tests.factories.happenings import only_event
from tests.factories.machines import machine
from tests.factories.people import PASSWORD, People

FIELDS = {"id", "name", "plan", "limits", "trace_sample", "mail_to_outsiders", "language", "created_at"}


async def test_a_viewer_sees_their_tenant_with_the_plans_numbers(people: People):
    tenant = await people.tenant("Acme", plan="team")
    api = await people.signed_in("viewer", tenant)
    answer = await api.get("/api/v1/tenant")
    assert answer.status == 200
    shown = answer.json()
    assert set(shown) == FIELDS
    assert (shown["id"], shown["name"], shown["plan"]) == (tenant.id, "Acme", "team")
    assert shown["created_at"] == tenant.created_at
    assert shown["limits"] == {name: getattr(PLANS["team"], name) for name in PLANS["team"].__struct_fields__}


async def test_unlimited_is_null(admin):
    assert (await admin.get("/api/v1/tenant")).json()["limits"]["requests_per_day"] is None


async def test_it_takes_a_signed_in_user(api):
    answer = await api.get("/api/v1/tenant")
    assert (answer.status, answer.code) == (401, "unauthorized")


async def test_its_administrators_change_name_and_language_and_new_accounts_have_it(people: People, api: Api):
    tenant = await people.tenant("Acme")
    boss = await people.signed_in("tenant_admin", tenant)
    answer = await boss.patch("/api/v1/tenant", {"name": "Acme & Co", "language": "de-AT"})
    assert (answer.status, answer.json()["name"], answer.json()["language"]) == (200, "Acme & Co", "de-AT")
    assert (await only_event(people, "system.tenant.updated"))["changed"] == ["name", "language"]
    invited = await boss.post("/users/invite", {"email": "new@example.com", "role": "viewer"})
    token = invited.json()["invite_url"].partition("=")[2]
    person = {"email": "new@example.com", "password": PASSWORD, "first_name": "N", "last_name": "P"}
    assert (await api.post("/auth/register", {**person, "invite_token": token})).status == 201
    login = (await api.post("/auth/login", {"email": "new@example.com", "password": PASSWORD})).json()
    me = {"Authorization": f"Bearer {login['access_token']}"}
    assert (await api.get("/api/v1/profile", headers=me)).json()["language"] == "de-AT"
    assert (await boss.patch("/api/v1/tenant", {"language": None})).json()["language"] is None


async def test_name_and_language_are_not_for_everybody_and_are_checked(people: People, admin: Api):
    notifier = await machine(admin, "notification_channels:write")
    for body in ({"name": "Mine"}, {"language": "de"}):
        refused = await notifier.patch("/api/v1/tenant", body)
        assert (refused.status, refused.code) == (403, "forbidden")
    outsiders = {"mail_to_outsiders": {"domains": ["example.com"], "per_day": 10}}
    assert (await notifier.patch("/api/v1/tenant", outsiders)).status == 200
    wrong = await admin.patch("/api/v1/tenant", {"language": "no language"})
    assert (wrong.status, list(wrong.details)) == (422, ["language"])
    assert (await admin.patch("/api/v1/tenant", {"name": ""})).status == 422


async def test_administrators_read_what_others_decide_and_no_secret(make_service):
    service = await make_service(smtp_url=Secret("smtp://ada:hidden@127.0.0.1:9"), signup="off")
    people = People(service)
    boss = await people.signed_in("tenant_admin", await people.tenant("Acme", plan="team"))
    answer = await boss.get("/api/v1/tenant/settings")
    assert answer.status == 200
    decided = {
        one["name"]: (one["value"], one["decided_by"], one["variable"]) for one in answer.json()["settings"]
    }
    assert decided["plan"] == ("team", "super_admin", None)
    assert decided["sign_up"] == ("off", "operator", "RETINUE_SIGNUP")
    assert decided["sends_mail"] == (True, "operator", "RETINUE_SMTP_URL")
    assert decided["trace_retention_days"] == (30, "operator", "RETINUE_TRACE_RETENTION_DAYS")
    assert b"hidden" not in answer.body
    assert (await (await people.signed_in("viewer")).get("/api/v1/tenant/settings")).status == 403
