"""The first start of an instance, and further administrators from the command line."""

import asyncio

import pytest

from retinue.access.models import Role
from retinue.auth.bootstrap import bootstrap_instance, create_admin
from retinue.kit.errors import Invalid
from retinue.tenants.models import Tenant
from retinue.users.errors import EmailTaken
from retinue.users.models import User
from tests.client import Api
from tests.factories.happenings import audits
from tests.factories.people import ADMIN_EMAIL, PASSWORD, People


async def test_the_first_administrator_is_made_once(service, people):
    assert await bootstrap_instance(service.instance) is None
    async with people.context() as ctx:
        system = ctx.system("test")
        assert await system.count(Tenant) == 1
        (admin,) = await system.all(User)
    assert (admin.email, admin.role, admin.email_verified) == (ADMIN_EMAIL, Role.super_admin, True)
    assert len(await audits(people, "system.user.created")) == 1


async def test_without_a_password_one_is_made_up_and_told_once(make_service):
    service = await make_service(admin_password=None, admin_email=" Root@Example.com ")
    password = service.new_password
    assert password is not None
    assert len(password.reveal()) >= 16
    credentials = {"email": "root@example.com", "password": password.reveal()}
    assert (await Api(service).post("/auth/login", credentials)).status == 200
    assert await bootstrap_instance(service.instance) is None


async def test_two_processes_that_start_at_once_make_one_administrator(service, people):
    async with people.context() as ctx:
        system = ctx.system("test")
        for user in await system.all(User):
            await system.delete(user)
        for tenant in await system.all(Tenant):
            await system.delete(tenant)
    await asyncio.gather(*(bootstrap_instance(service.instance) for _ in range(4)))
    async with people.context() as ctx:
        system = ctx.system("test")
        assert (await system.count(Tenant), await system.count(User)) == (1, 1)


async def test_an_administrator_is_added(service, people):
    admin = await create_admin(service.instance, " Second@Example.com", PASSWORD)
    assert (admin.email, admin.role) == ("second@example.com", Role.super_admin)
    assert admin.tenant_id == (await people.default_tenant()).id
    me = await people.sign_in(admin)
    assert (await me.get("/auth/me")).json()["role"] == "super_admin"


async def test_a_taken_address_is_refused(service, people: People):
    await create_admin(service.instance, "second@example.com", PASSWORD)
    with pytest.raises(EmailTaken):
        await create_admin(service.instance, "SECOND@example.com", PASSWORD)
    with pytest.raises(EmailTaken):
        await create_admin(service.instance, ADMIN_EMAIL, PASSWORD)
    async with people.context() as ctx:
        assert await ctx.system("test").count(User) == 2


@pytest.mark.parametrize(
    ("email", "password", "field"),
    [
        ("second", PASSWORD, "email"),
        ("a b@example.com", PASSWORD, "email"),
        ("a@example.com", "weak", "password"),
    ],
)
async def test_a_bad_address_or_password_is_refused(service, email, password, field):
    with pytest.raises(Invalid) as refusal:
        await create_admin(service.instance, email, password)
    assert list(refusal.value.details) == [field]
