"""A super administrator may act in another tenant: where a permission is needed, at home's cost, audited."""

import json

import pytest

from retinue.access.models import Role
from retinue.app import openapi_document
from retinue.domains import DOMAINS
from retinue.kit.context import Context
from retinue.kit.context.manifest import Manifest
from retinue.kit.http.routing import ACCOUNT, EMBED_KEY, PUBLIC, SIGNED_IN, Routes
from retinue.kit.schema.base import MessageReply
from retinue.tenants.models import Tenant
from tests.client import Api
from tests.contract.routes import ROUTES
from tests.factories.happenings import audits
from tests.factories.people import People

routes = Routes("/probe", tag="test")


@routes.get("/{name}", requires="agents:read")
async def probe_where(ctx: Context, name: str) -> MessageReply:
    return MessageReply(message=f"{ctx.tenant_id} {name}")


@routes.post("", requires="agents:write")
async def probe_write(ctx: Context) -> MessageReply:
    return MessageReply(message=ctx.tenant_id)


@routes.get("", requires=SIGNED_IN)
async def probe_self(ctx: Context) -> MessageReply:
    return MessageReply(message=ctx.tenant_id)


PROBE = Manifest(name="probe", routes=(routes,))


@pytest.fixture
async def people(make_service) -> People:
    return People(await make_service(manifests=(*DOMAINS, PROBE), burst=False))


@pytest.fixture
async def root(people: People) -> Api:
    return await people.super_admin()


async def test_the_header_moves_a_super_administrator_into_the_tenant(people, root):
    tenant = await people.tenant("Elsewhere")
    there = {"X-Tenant-ID": tenant.id}
    assert (await root.get("/probe/x", headers=there)).json()["message"] == f"{tenant.id} x"
    assert (await root.post("/probe", headers=there)).json()["message"] == tenant.id
    assert (await root.get("/probe/x")).json()["message"].startswith(root.user.tenant_id)


async def test_what_every_user_knows_of_a_tenant_is_that_tenants(people, root):
    tenant = await people.tenant("Elsewhere")
    there = {"X-Tenant-ID": tenant.id}
    assert (await root.get("/api/v1/tenant", headers=there)).json()["id"] == tenant.id
    assert (await root.get("/api/v1/tenant", headers={"X-Tenant-ID": "ten_no"})).code == "tenant_not_found"
    await people.user(tenant=tenant)
    listed = (await root.get("/users", headers=there)).json()
    assert {user["tenant_id"] for user in listed["users"]} == {tenant.id}


async def test_ones_own_account_stays_at_home(people, root):
    tenant = await people.tenant("Elsewhere")
    there = {"X-Tenant-ID": tenant.id}
    assert (await root.get("/probe", headers=there)).json()["message"] == root.user.tenant_id
    assert (await root.get("/auth/me", headers=there)).json()["tenant_id"] == root.user.tenant_id
    assert await audits(people, "tenant.acted_in") == []


async def test_an_unknown_tenant_is_not_found(people, root):
    for unknown in ("ten_unknown", "", " ", "../x", "x" * 5000, "\x7f"):
        answer = await root.get("/probe/x", headers={"X-Tenant-ID": unknown})
        assert (answer.status, answer.code) == (404, "tenant_not_found"), unknown
    assert await audits(people, "tenant.acted_in") == []


@pytest.mark.one_service("each process records the first read that it serves")
async def test_reads_are_audited_once_for_a_session_a_tenant_and_an_hour(people, root, clock):
    one, other = await people.tenant("One"), await people.tenant("Other")

    async def visit(method: str, tenant: Tenant, person: Api = root) -> int:
        await person.request(
            method, "/probe/x" if method == "GET" else "/probe", headers=tenant_header(tenant)
        )
        return len(await audits(people, "tenant.acted_in"))

    assert [await visit("GET", one) for _ in range(3)] == [1, 1, 1]
    assert [await visit("POST", one) for _ in range(2)] == [2, 3], "each change"
    assert await visit("GET", other) == 4, "another tenant"
    assert await visit("GET", one, await people.super_admin()) == 5, "another session"
    clock.advance(3600)
    later = await people.super_admin()
    assert [await visit("GET", one, later) for _ in range(2)] == [6, 6]


def tenant_header(tenant: Tenant) -> dict[str, str]:
    return {"X-Tenant-ID": tenant.id}


async def test_each_request_is_audited_in_the_tenant_it_reached(people, root):
    tenant = await people.tenant("Elsewhere")
    there = {"X-Tenant-ID": tenant.id, "User-Agent": "tests/1", "X-Correlation-ID": "cor-7"}
    await root.get("/probe/x?token=secret", headers=there)
    await root.post("/probe", headers=there)
    rows = await audits(people, "tenant.acted_in")
    assert [row.metadata for row in rows] == [
        {"user_id": root.user.id, "method": "GET", "path": "/probe/x"},
        {"user_id": root.user.id, "method": "POST", "path": "/probe"},
    ]
    assert {row.tenant_id for row in rows} == {tenant.id}
    assert {(row.actor["id"], row.ip_address, row.user_agent, row.correlation_id) for row in rows} == {
        (root.user.id, root.ip, "tests/1", "cor-7")
    }


async def test_naming_the_own_tenant_is_nothing_special(people, root):
    answer = await root.get("/probe/x", headers={"X-Tenant-ID": root.user.tenant_id})
    assert answer.status == 200
    assert await audits(people, "tenant.acted_in") == []


async def test_the_visit_is_charged_to_the_home_tenant(people, root):
    """A tenant on the smallest plan pays nothing for visits, and does not slow them down."""
    small = await people.tenant("Small", plan="free")
    for _ in range(40):
        answer = await root.post("/probe", headers={"X-Tenant-ID": small.id})
        assert answer.status == 200
    assert answer.headers["x-ratelimit-limit"] == "12000"
    own = await people.signed_in(Role.agent_developer, small)
    answer = await own.get("/probe/x")
    assert (answer.headers["x-ratelimit-limit"], answer.headers["x-ratelimit-remaining"]) == ("60", "59")


async def test_a_tenant_administrator_is_moved_nowhere(people):
    tenant = await people.tenant("Elsewhere")
    admin = await people.signed_in(Role.tenant_admin)
    answer = await admin.get("/probe/x", headers={"X-Tenant-ID": tenant.id})
    assert answer.json()["message"] == f"{admin.user.tenant_id} x"
    assert await audits(people, "tenant.acted_in") == []


def test_the_header_is_documented_with_every_operation_that_reads_it():
    paths = json.loads(openapi_document())["paths"]
    for route in ROUTES:
        operation = paths[route.path][route.method.lower()]
        is_documented = any(
            each.get("$ref", "").endswith("/TenantId") for each in operation.get("parameters", [])
        )
        assert is_documented is (route.requires not in {PUBLIC, ACCOUNT, SIGNED_IN, EMBED_KEY}), route.path
        assert not is_documented or "404" in operation["responses"]
