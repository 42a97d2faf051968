"""The super administrator's tenants: made with their first administrator, listed, changed."""

import pytest

from retinue.kit.limits.plans import PLANS
from retinue.tenants.models import Plan
from tests.client import Api
from tests.contract.declared import document
from tests.factories.happenings import events, only_event
from tests.factories.people import ADMIN_EMAIL, People

FIELDS = {"id", "name", "language", "plan", "limits", "trace_sample", "mail_to_outsiders", "created_at"}
NOT_SUPER_ADMIN = ["tenant_admin", "agent_developer", "agent_user", "viewer"]
FIRST_ADMIN = {
    "email": "grace@acme.example",
    "password": "Nanoseconds-11",
    "first_name": "Grace",
    "last_name": "Hopper",
}


def body(**changed):
    return {"name": "Acme", "plan": "pro", "admin": FIRST_ADMIN, **changed}


async def test_a_new_tenant_has_a_first_administrator_who_signs_in(admin, api):
    answer = await admin.post("/api/v1/tenants", body())
    assert answer.status == 201
    made = answer.json()
    assert set(made) == {*FIELDS, "admin"}
    assert (made["name"], made["plan"]) == ("Acme", "pro")
    assert made["limits"]["requests_per_minute"] == 300
    assert made["admin"] == {
        "id": made["admin"]["id"],
        "email": "grace@acme.example",
        "role": "tenant_admin",
    }
    credentials = {"email": FIRST_ADMIN["email"], "password": FIRST_ADMIN["password"]}
    signed_in = await api.post("/auth/login", credentials)
    assert signed_in.status == 200
    grace = api.signed_in(signed_in.json()["access_token"])
    assert (await grace.get("/api/v1/tenant")).json() == {name: made[name] for name in FIELDS}
    [only] = (await grace.get("/users")).json()["users"]
    assert (only["id"], only["email_verified"]) == (made["admin"]["id"], True)


async def test_a_new_tenant_is_told_and_audited_in_its_own_log(admin, people):
    made = (await admin.post("/api/v1/tenants", body())).json()
    assert await only_event(people, "system.tenant.created") == {
        "tenant_id": made["id"],
        "name": "Acme",
        "plan": "pro",
    }
    [created] = await events(people, "system.tenant.created")
    assert created.tenant_id == made["id"]
    assert created.actor == {"type": "user", "id": admin.user.id}
    users = await events(people, "system.user.created")
    assert [user.data["user_id"] for user in users if user.tenant_id == made["id"]] == [made["admin"]["id"]]


async def test_the_plan_is_the_default_one_when_none_is_given(make_service):
    admin = await People(await make_service(default_plan="team")).super_admin()
    answer = await admin.post("/api/v1/tenants", {"name": "Acme", "admin": FIRST_ADMIN})
    assert (answer.status, answer.json()["plan"]) == (201, "team")


async def test_a_taken_address_makes_no_tenant(admin):
    answer = await admin.post(
        "/api/v1/tenants", body(admin={**FIRST_ADMIN, "email": f" {ADMIN_EMAIL.upper()}".strip()})
    )
    assert (answer.status, answer.code) == (409, "email_taken")
    assert (await admin.get("/api/v1/tenants")).json()["pagination"]["total"] == 1


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": None}, "name"),
        ({"plan": "platinum"}, "plan"),
        ({"admin": None}, "admin"),
        ({"admin": {}}, "admin.email"),
        ({"admin": {**FIRST_ADMIN, "email": "nobody"}}, "admin.email"),
        ({"admin": {**FIRST_ADMIN, "email": "=?utf-8?q?a?=@acme.example"}}, "admin.email"),
        ({"admin": {**FIRST_ADMIN, "password": "short"}}, "admin.password"),
        ({"admin": {**FIRST_ADMIN, "password": "alllowercase1"}}, "admin.password"),
        ({"admin": {**FIRST_ADMIN, "password": "Aa1" * 100}}, "admin.password"),
        ({"admin": {**FIRST_ADMIN, "first_name": "x" * 101}}, "admin.first_name"),
        ({"limits": {"requests_per_minute": -1}}, "limits.requests_per_minute"),
        ({"limits": {"wishes": 3}}, "limits.wishes"),
        ({"limits": 3}, "limits"),
    ],
)
async def test_a_tenant_that_cannot_be_is_refused(admin, changed, field):
    answer = await admin.post("/api/v1/tenants", body(**changed))
    assert (answer.status, answer.code) == (422, "validation_error")
    assert field in answer.details
    assert (await admin.get("/api/v1/tenants")).json()["pagination"]["total"] == 1


async def test_a_body_cannot_choose_ids_roles_or_times(admin, people):
    smuggled = {
        **body(id="ten_mine", created_at="1999-01-01T00:00:00.000000Z", is_default=True),
        "admin": {**FIRST_ADMIN, "id": "usr_mine", "role": "super_admin", "tenant_id": admin.user.tenant_id},
    }
    made = (await admin.post("/api/v1/tenants", smuggled)).json()
    assert made["id"] != "ten_mine"
    assert made["created_at"] > "2026"
    assert made["admin"]["id"] != "usr_mine"
    assert made["admin"]["role"] == "tenant_admin"
    assert (await people.default_tenant()).id == admin.user.tenant_id


async def test_tenants_are_listed_searched_sorted_and_paged(admin):
    for number, name in enumerate(("Beta", "Alpha", "Gamma")):
        first = {**FIRST_ADMIN, "email": f"admin{number}@example.com"}
        assert (await admin.post("/api/v1/tenants", body(name=name, admin=first))).status == 201
    answer = await admin.get("/api/v1/tenants", query={"sort": "name", "per_page": 2})
    assert answer.status == 200
    assert [tenant["name"] for tenant in answer.json()["data"]] == ["Alpha", "Beta"]
    assert answer.json()["pagination"] == {"page": 1, "per_page": 2, "total": 4, "total_pages": 2}
    assert all(set(tenant) == FIELDS for tenant in answer.json()["data"])
    found = (await admin.get("/api/v1/tenants", query={"search": "amm"})).json()
    assert [tenant["name"] for tenant in found["data"]] == ["Gamma"]
    assert (await admin.get("/api/v1/tenants", query={"plan": "pro"})).json()["pagination"]["total"] == 3
    newest = (await admin.get("/api/v1/tenants")).json()["data"][0]
    assert newest["name"] == "Gamma"


async def test_tenants_are_sorted_by_plan_and_change(admin, people, clock):
    async def names(sort: str) -> list[str]:
        found = await admin.get("/api/v1/tenants", query={"sort": sort})
        return [tenant["name"] for tenant in found.json()["data"]]

    clock.advance(1)
    small = await people.tenant("Small", plan="free")
    clock.advance(1)
    await people.tenant("Big", plan="team")
    clock.advance(1)
    assert await names("plan") == ["Default", "Small", "Big"]
    assert await names("-updated_at") == ["Big", "Small", "Default"]
    await admin.put(f"/api/v1/tenants/{small.id}", {"name": "Smaller"})
    assert await names("-updated_at") == ["Smaller", "Big", "Default"]


def test_the_plans_that_can_be_chosen_are_those_that_have_limits():
    assert [*Plan] == [*PLANS]


def test_the_document_names_the_plans():
    shapes = document()["components"]["schemas"]
    assert shapes["Plan"]["enum"] == sorted(PLANS)
    parameters = document()["paths"]["/api/v1/tenants"]["get"]["parameters"]
    by_name = {parameter.get("name"): parameter for parameter in parameters}
    for plan in (by_name["plan"]["schema"], shapes["TenantOut"]["properties"]["plan"]):
        assert plan["$ref"] == "#/components/schemas/Plan"


@pytest.mark.parametrize(
    "query", [{"sort": "limits"}, {"page": 0}, {"per_page": "many"}, {"plan": "platinum"}, {"plan": "PRO"}]
)
async def test_a_list_that_cannot_be_is_refused(admin, query):
    answer = await admin.get("/api/v1/tenants", query=query)
    assert answer.status == 422
    assert list(answer.details) == list(query)


async def test_one_tenant_is_shown(admin, people):
    tenant = await people.tenant("Acme")
    answer = await admin.get(f"/api/v1/tenants/{tenant.id}")
    assert answer.status == 200
    assert set(answer.json()) == FIELDS
    assert answer.json()["id"] == tenant.id


async def test_an_unknown_tenant_is_not_found(admin):
    for answer in (
        await admin.get("/api/v1/tenants/ten_nowhere"),
        await admin.put("/api/v1/tenants/ten_nowhere", {"name": "X"}),
    ):
        assert (answer.status, answer.code) == (404, "tenant_not_found")


async def test_name_plan_and_limits_are_changed_each_alone(admin, people):
    tenant = await people.tenant("Acme", plan="free")
    path = f"/api/v1/tenants/{tenant.id}"
    renamed = await admin.put(path, {"name": "Acme Ltd"})
    assert renamed.status == 200
    assert set(renamed.json()) == FIELDS
    assert (renamed.json()["name"], renamed.json()["plan"]) == ("Acme Ltd", "free")
    moved = (await admin.put(path, {"plan": "pro"})).json()
    assert (moved["name"], moved["plan"], moved["limits"]["requests_per_hour"]) == ("Acme Ltd", "pro", 10_000)
    own = (await admin.put(path, {"limits": {"requests_per_hour": 7, "requests_per_day": None}})).json()
    assert (own["plan"], own["limits"]["requests_per_hour"]) == ("pro", 7)
    assert own["limits"]["requests_per_day"] is None
    assert own["limits"]["requests_per_minute"] == 300
    plain = (await admin.put(path, {"limits": {}})).json()
    assert plain["limits"]["requests_per_hour"] == 10_000


async def test_a_change_is_told_once_in_the_tenants_log_and_no_change_not_at_all(admin, people):
    tenant = await people.tenant("Acme", plan="free")
    for _ in range(2):
        changed = {"name": "Acme", "plan": "pro", "limits": {"requests_per_day": None}}
        assert (await admin.put(f"/api/v1/tenants/{tenant.id}", changed)).status == 200
    assert (await admin.put(f"/api/v1/tenants/{tenant.id}", {})).status == 200
    assert await only_event(people, "system.tenant.updated") == {
        "tenant_id": tenant.id,
        "changed": ["plan", "limits"],
        "name": "Acme",
        "plan": "pro",
        "limits": {"requests_per_day": None},
    }
    assert (await events(people, "system.tenant.updated"))[0].tenant_id == tenant.id


async def test_new_limits_count_from_the_next_request(admin, people):
    tenant = await people.tenant("Acme")
    api: Api = await people.signed_in("viewer", tenant)
    assert (await api.get("/api/v1/tenant")).headers["x-ratelimit-limit"] == "12000"
    limits = {"requests_per_minute": 5, "burst_factor": 1}
    assert (await admin.put(f"/api/v1/tenants/{tenant.id}", {"limits": limits})).status == 200
    answers = [await api.get("/api/v1/tenant") for _ in range(6)]
    assert answers[0].headers["x-ratelimit-limit"] == "5"
    assert (answers[-1].status, answers[-1].code) == (429, "rate_limited")
    await admin.put(f"/api/v1/tenants/{tenant.id}", {"limits": {"requests_per_minute": None}})
    assert (await api.get("/api/v1/tenant")).status == 200


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": None}, "name"),
        ({"plan": "platinum"}, "plan"),
        ({"plan": None}, "plan"),
        ({"limits": None}, "limits"),
        ({"limits": {"requests_per_minute": "many"}}, "limits.requests_per_minute"),
        ({"limits": {"requests_per_minute": 1.5}}, "limits.requests_per_minute"),
        ({"limits": {"requests_per_minute": True}}, "limits.requests_per_minute"),
        ({"limits": {"burst_factor": 0}}, "limits.burst_factor"),
        ({"limits": {"burst_seconds": None}}, "limits.burst_seconds"),
        ({"limits": {"steady": 1}}, "limits.steady"),
    ],
)
async def test_a_change_that_cannot_be_is_refused(admin, people, changed, field):
    tenant = await people.tenant("Acme")
    before = (await admin.get(f"/api/v1/tenants/{tenant.id}")).json()
    answer = await admin.put(f"/api/v1/tenants/{tenant.id}", changed)
    assert (answer.status, answer.code) == (422, "validation_error")
    assert list(answer.details) == [field]
    assert (await admin.get(f"/api/v1/tenants/{tenant.id}")).json() == before


@pytest.mark.parametrize("role", NOT_SUPER_ADMIN)
async def test_only_a_super_admin_sees_or_changes_tenants(people, role):
    api = await people.signed_in(role)
    own = f"/api/v1/tenants/{api.user.tenant_id}"
    for answer in (
        await api.get("/api/v1/tenants"),
        await api.get(own),
        await api.put(own, {"plan": "enterprise"}),
        await api.post("/api/v1/tenants", body()),
    ):
        assert (answer.status, answer.code) == (403, "forbidden")
        assert answer.details == {"required": "admin:tenants", "your_role": role}


async def test_it_takes_a_signed_in_user(api):
    assert (await api.get("/api/v1/tenants")).status == 401
    assert (await api.post("/api/v1/tenants", body())).status == 401
    assert (await api.put("/api/v1/tenants/ten_x", {"name": "x"})).status == 401
