"""Everyone sees the tenant they are in: its plan, and the numbers that count."""

from retinue.kit.limits import PLANS
from tests.factories.people import People

FIELDS = {"id", "name", "plan", "limits", "trace_sample", "mail_to_outsiders", "created_at"}


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
