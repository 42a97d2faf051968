"""Tenants and signed-in users: inserted into the database, then signed in through the API."""

from retinue.access.models import Role
from retinue.app import Service
from retinue.auth import passwords
from retinue.kit.context import Caller, Context
from retinue.kit.principal import SYSTEM
from retinue.tenants.models import Tenant
from retinue.users.models import User
from tests.client import Api

ADMIN_EMAIL = "root@example.com"
ADMIN_PASSWORD = "Correct-Horse-1"
PASSWORD = "Battery-Staple-2"


class People:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._made = 0
        self.api = Api(service)

    def context(self, tenant_id: str = "") -> Context:
        ctx = Context(self._service.instance, SYSTEM, Caller(correlation_id="cor_test"))
        if tenant_id:
            ctx.bind_tenant(tenant_id)
        return ctx

    async def tenant(self, name: str = "Acme", plan: str = "enterprise") -> Tenant:
        async with self.context() as ctx:
            return await ctx.system("test").insert(Tenant(name=name, plan=plan))

    async def default_tenant(self) -> Tenant:
        async with self.context() as ctx:
            found = await ctx.system("test").find(Tenant, is_default=True)
            assert found is not None
            return found

    async def user(
        self, role: Role | str = Role.agent_user, tenant: Tenant | None = None, **more: object
    ) -> User:
        tenant = tenant or await self.default_tenant()
        self._made += 1
        chosen = {
            "email": f"person{self._made}@example.com",
            "first_name": "Ada",
            "last_name": "Lovelace",
            "email_verified": True,
            "is_vouched_for": True,
            **more,
        }
        hash = await passwords.hash_password(PASSWORD, self._service.settings.password_cost)
        async with self.context(tenant.id) as ctx:
            return await ctx.db.insert(User(password_hash=hash, role=Role(role), **chosen))

    async def sign_in(self, user: User, password: str = PASSWORD) -> Api:
        answer = await self.api.post("/auth/login", {"email": user.email, "password": password})
        assert answer.status == 200, answer
        signed_in = self.api.signed_in(answer.json()["access_token"])
        signed_in.user = user
        return signed_in

    async def signed_in(self, role: Role | str = Role.agent_user, tenant: Tenant | None = None) -> Api:
        return await self.sign_in(await self.user(role, tenant))

    async def super_admin(self) -> Api:
        answer = await self.api.post("/auth/login", {"email": ADMIN_EMAIL, "password": ADMIN_PASSWORD})
        assert answer.status == 200, answer
        signed_in = self.api.signed_in(answer.json()["access_token"])
        async with self.context() as ctx:
            signed_in.user = await ctx.system("test").find(User, email=ADMIN_EMAIL)
        return signed_in
