"""Objects and calls of service accounts for the contract tests."""

from retinue.kit.context import Context
from retinue.kit.ids import hash_token, new_token
from retinue.service_accounts.models import ServiceAccount, ServiceAccountSecret
from tests.contract.knowledge import FAR, Call, DomainContract, Scene, World


async def _some_account(ctx: Context, owner_id: str, name: str = "Machine") -> ServiceAccount:
    return await ctx.db.insert(
        ServiceAccount(name=name, permissions=["agents:read"], allowed_ips=[], created_by=owner_id)
    )


async def _some_secret(ctx: Context, account: ServiceAccount, name: str = "") -> ServiceAccountSecret:
    return await ctx.db.insert(
        ServiceAccountSecret(
            account_id=account.id,
            name=name,
            secret_prefix="rcs_12345678",
            secret_hash=hash_token(new_token()),
            expires_at=FAR,
            created_by=account.created_by,
        )
    )


async def _make(world: World) -> dict[str, str]:
    if not world.wants("service_account_id", "secret_id"):
        return {}
    account = await _some_account(world.ctx, world.owner.id, world.name)
    secret = await _some_secret(world.ctx, account, world.name)
    return {"service_account_id": account.id, "secret_id": secret.id}


CONTRACT = DomainContract(records=(ServiceAccount, ServiceAccountSecret), make=_make)


@CONTRACT.writes(service_accounts=1)
async def create_service_account(scene: Scene) -> Call:
    return Call(scene.me, {"name": "New", "permissions": ["agents:read"]})


@CONTRACT.writes("service_accounts.name service_accounts.permissions service_accounts.updated_at")
async def update_service_account(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        account = await _some_account(ctx, scene.user.id)
    body = {"name": "Renamed", "permissions": ["tools:read"]}
    return Call(scene.me, body, {"service_account_id": account.id})


@CONTRACT.writes(service_account_secrets=1)
async def create_service_account_secret(scene: Scene) -> Call:
    async with scene.people.context(scene.user.tenant_id) as ctx:
        account = await _some_account(ctx, scene.user.id)
    return Call(scene.me, {"name": "New"}, {"service_account_id": account.id})
