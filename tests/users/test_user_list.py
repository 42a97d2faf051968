"""The list of users: a tenant's own for its administrator, everyone for the super administrator."""

import pytest

USER_FIELDS = {
    *("id", "email", "first_name", "last_name", "role", "tenant_id", "email_verified", "mfa_enabled"),
    *("status", "is_pending", "last_login_at", "created_at", "updated_at"),
}
LOWER_ROLES = ["agent_developer", "agent_user", "viewer"]


def emails(answer) -> list[str]:
    assert answer.status == 200, answer
    return [user["email"] for user in answer.json()["users"]]


async def test_the_list_has_exactly_the_specified_shape(people):
    api = await people.signed_in("tenant_admin", await people.tenant())
    answer = await api.get("/users")
    assert answer.status == 200
    assert set(answer.json()) == {"users", "total", "page", "per_page"}
    assert (answer.json()["total"], answer.json()["page"], answer.json()["per_page"]) == (1, 1, 20)
    [shown] = answer.json()["users"]
    assert set(shown) == USER_FIELDS
    assert shown["id"] == api.user.id
    assert (shown["role"], shown["status"], shown["mfa_enabled"]) == ("tenant_admin", "active", False)
    assert shown["last_login_at"] >= shown["created_at"]


async def test_a_tenant_admin_sees_its_own_tenant_only(people):
    mine, other = await people.tenant("Mine"), await people.tenant("Other")
    api = await people.signed_in("tenant_admin", mine)
    colleague = await people.user(tenant=mine)
    stranger = await people.user(tenant=other)
    answer = await api.get("/users")
    assert set(emails(answer)) == {api.user.email, colleague.email}
    assert answer.json()["total"] == 2
    for query in ({"tenant_id": other.id}, {"search": stranger.email}):
        elsewhere = await api.get("/users", query=query)
        assert (emails(elsewhere), elsewhere.json()["total"]) == ([], 0)


async def test_a_super_admin_sees_everyone_and_narrows_to_a_tenant(people, admin):
    tenant = await people.tenant()
    one, two = await people.user(tenant=tenant), await people.user()
    assert set(emails(await admin.get("/users"))) == {admin.user.email, one.email, two.email}
    assert emails(await admin.get("/users", query={"tenant_id": tenant.id})) == [one.email]
    assert emails(await admin.get("/users", query={"tenant_id": "ten_nowhere"})) == []
    elsewhere = await admin.get("/users", headers={"X-Tenant-ID": tenant.id})
    assert emails(elsewhere) == [one.email]


async def test_users_are_searched_by_address_and_names(people, admin):
    ada = await people.user(first_name="Ada", last_name="Lovelace", email="ada@engine.example")
    alan = await people.user(first_name="Alan", last_name="Turing", email="alan@enigma.example")
    assert emails(await admin.get("/users", query={"search": "LOVE"})) == [ada.email]
    assert emails(await admin.get("/users", query={"search": "enigma"})) == [alan.email]
    assert emails(await admin.get("/users", query={"search": "%"})) == []
    assert emails(await admin.get("/users", query={"search": "a_a"})) == []


async def test_users_are_filtered_by_role_and_status(people, admin):
    viewer = await people.user("viewer")
    closed = await people.user("viewer", status="inactive")
    await people.user("agent_user")
    assert set(emails(await admin.get("/users", query={"role": "viewer"}))) == {viewer.email, closed.email}
    assert emails(await admin.get("/users", query={"status": "inactive"})) == [closed.email]
    both = {"role": "viewer", "status": "active"}
    assert emails(await admin.get("/users", query=both)) == [viewer.email]


async def test_users_are_paged_newest_first_and_sorted(people, admin, clock):
    made = []
    for name in "bca":
        clock.advance(1)
        made.append(await people.user(email=f"{name}@sort.example"))
    first = await admin.get("/users", query={"per_page": 2, "search": "sort.example"})
    assert emails(first) == [made[2].email, made[1].email]
    assert (first.json()["total"], first.json()["page"], first.json()["per_page"]) == (3, 1, 2)
    second = await admin.get("/users", query={"per_page": 2, "page": 2, "search": "sort.example"})
    assert emails(second) == [made[0].email]
    assert emails(await admin.get("/users", query={"page": 9})) == []
    by_email = await admin.get("/users", query={"sort": "email", "search": "sort.example"})
    assert emails(by_email) == ["a@sort.example", "b@sort.example", "c@sort.example"]
    clamped = await admin.get("/users", query={"per_page": 1000})
    assert clamped.json()["per_page"] == 100


async def test_users_are_sorted_by_role_state_and_change(people, clock):
    tenant = await people.tenant()
    api = await people.signed_in("tenant_admin", tenant)
    viewer = await people.user("viewer", tenant)
    clock.advance(1)
    closed = await people.user("agent_user", tenant, status="inactive")
    clock.advance(1)
    async with people.context(viewer.tenant_id) as ctx:
        await ctx.db.update(viewer, first_name="Grace")
    mine = api.user.email
    assert emails(await api.get("/users", query={"sort": "role"})) == [closed.email, mine, viewer.email]
    assert emails(await api.get("/users", query={"sort": "-status"}))[0] == closed.email
    assert emails(await api.get("/users", query={"sort": "-updated_at"})) == [
        viewer.email,
        closed.email,
        mine,
    ]


@pytest.mark.parametrize(
    "query",
    [
        {"page": 0},
        {"page": "first"},
        {"per_page": 0},
        {"per_page": "all"},
        {"role": "janitor"},
        {"status": "asleep"},
        {"sort": "password_hash"},
        {"search": "x" * 101},
    ],
)
async def test_a_list_that_cannot_be_is_refused(admin, query):
    answer = await admin.get("/users", query=query)
    assert (answer.status, answer.code) == (422, "validation_error")
    assert list(answer.details) == list(query)


async def test_one_user_is_shown_and_another_tenants_is_not_found(people, admin):
    mine, other = await people.tenant("Mine"), await people.tenant("Other")
    api = await people.signed_in("tenant_admin", mine)
    colleague, stranger = await people.user(tenant=mine), await people.user(tenant=other)
    answer = await api.get(f"/users/{colleague.id}")
    assert answer.status == 200
    assert set(answer.json()) == USER_FIELDS
    foreign, unknown = await api.get(f"/users/{stranger.id}"), await api.get("/users/usr_nobody")
    assert (foreign.status, foreign.code) == (404, "user_not_found")
    assert foreign.body == unknown.body
    assert (await admin.get(f"/users/{stranger.id}")).json()["id"] == stranger.id


@pytest.mark.parametrize("role", LOWER_ROLES)
async def test_lower_roles_see_no_users(people, role):
    api = await people.signed_in(role)
    for path in ("/users", f"/users/{api.user.id}", "/users/invitations"):
        answer = await api.get(path)
        assert (answer.status, answer.code) == (403, "forbidden")
        assert answer.details == {"required": "admin:users", "your_role": role}


async def test_nobody_sees_users_without_signing_in(api):
    assert (await api.get("/users")).status == 401
    assert (await api.get("/users/usr_x")).status == 401
