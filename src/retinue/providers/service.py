"""Management of provider keys: their secrets, defaults and priorities."""

import sqlalchemy as sa
from msgspec import UNSET

from retinue.adapters.llm.local_servers import LocalServers
from retinue.credentials.models import Credential
from retinue.kit.context import Context, references
from retinue.kit.context.references import Referrer
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Conflict, Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import sent_fields
from retinue.providers.addresses import address_of, read_base_url
from retinue.providers.circuit_breakers import CircuitBreakers
from retinue.providers.errors import ApiKeyInUse, ApiKeyNotFound
from retinue.providers.events import ApiKeyCreated, ApiKeyDeleted, ApiKeyUpdated
from retinue.providers.models import ProviderKey
from retinue.providers.schemas import ApiKeyCreate, ApiKeyUpdate
from retinue.providers.secrets import SecretInput, build_secret_fields, mask_credential

_keys = ProviderKey.__table__
# Locked in the order of their ids, to avoid deadlocks between concurrent changes of the default.
_LOCK_KEYS = Statement(
    sa.select(_keys.c.id)
    .where(_keys.c.provider == sa.bindparam("of_provider"))
    .order_by(_keys.c.id)
    .with_for_update()
)
_CLEAR_DEFAULT = Statement(
    sa.update(_keys)
    .where(
        _keys.c.provider == sa.bindparam("of_provider"),
        _keys.c.id != sa.bindparam("but"),
        _keys.c.is_default.is_(True),
    )
    .values(is_default=False, updated_at=sa.bindparam("now"))
)


async def create(ctx: Context, body: ApiKeyCreate) -> ProviderKey:
    base_url = read_base_url(body.base_url) if body.base_url else None
    key = ProviderKey(
        provider=body.provider,
        name=body.name or body.provider.value,
        base_url=base_url,
        models=_deduplicate(body.models),
        # A server discovered on this machine has already listed its models.
        found_models=ctx.adapter(LocalServers).models_at(address_of(body.provider, base_url)),
        is_default=body.is_default,
        priority=body.priority,
        is_active=body.is_active,
        monthly_budget_usd=body.monthly_budget_usd,
        created_by=ctx.principal.id,
    )
    secret = await build_secret_fields(ctx, key, SecretInput(body.api_key, body.credential_id), base_url)
    for name, value in secret.items():
        setattr(key, name, value)
    if key.is_default:
        await _clear_other_defaults(ctx, key)
    try:
        await ctx.db.insert(key)
    except UniqueViolation as error:
        raise Conflict("Another default key of this provider is being added. Try again.") from error
    ctx.emit(ApiKeyCreated(api_key_id=key.id, name=key.name, provider=key.provider))
    return key


async def update(ctx: Context, key: ProviderKey, body: ApiKeyUpdate) -> ProviderKey:
    if body.is_default is True:
        await _clear_other_defaults(ctx, key)
    locked = await ctx.db.lock(ProviderKey, key.id)
    if locked is None:
        raise ApiKeyNotFound
    wanted = sent_fields(body)
    if wanted.pop("provider", locked.provider) != locked.provider:
        raise Invalid({"provider": "cannot be changed; add another key"})
    entered = SecretInput(wanted.pop("api_key", UNSET), wanted.pop("credential_id", UNSET))
    if wanted.get("base_url"):
        wanted["base_url"] = read_base_url(wanted["base_url"])
    if "models" in wanted:
        wanted["models"] = _deduplicate(wanted["models"])
    wanted |= await build_secret_fields(ctx, locked, entered, wanted.get("base_url", locked.base_url))
    changes = {name: value for name, value in wanted.items() if getattr(locked, name) != value}
    if changes.keys() & {"api_key", "credential_id", "base_url"}:
        changes |= {"is_valid": True, "last_tested_at": None, "found_models": []}
        ctx.state(CircuitBreakers).forget_key(locked.id)
    if changes:
        await ctx.db.update(locked, **changes)
        _emit_updated(ctx, locked, changes)
    return locked


async def delete(ctx: Context, key: ProviderKey, *, force: bool) -> None:
    users = await references.find_referrers(ctx, "provider_key", key.id)
    if any(users.values()):
        if not force:
            raise ApiKeyInUse(users)
        await references.detach_referrers(ctx, "provider_key", key.id)
    await ctx.db.delete(key)
    ctx.state(CircuitBreakers).forget_key(key.id)
    ctx.emit(ApiKeyDeleted(api_key_id=key.id, name=key.name, provider=key.provider))


async def find_users_of_credential(ctx: Context, credential_id: str) -> list[Referrer]:
    keys = await ctx.db.all(ProviderKey, credential_id=credential_id)
    return [Referrer(key.id, key.name) for key in keys]


async def refresh_credential(ctx: Context, credential: Credential) -> None:
    """Reset the test results of keys whose credential has a new secret."""
    for key in await ctx.db.all(ProviderKey, credential_id=credential.id):
        shown = mask_credential(credential)
        await ctx.db.update(key, key_prefix=shown, is_valid=True, last_tested_at=None)
        ctx.state(CircuitBreakers).forget_key(key.id)


async def detach_credential(ctx: Context, credential_id: str) -> None:
    """Detach a credential that is about to be deleted; the keys remain without a secret."""
    for key in await ctx.db.all(ProviderKey, credential_id=credential_id):
        changes = {"credential_id": None, "key_prefix": "", "key_destination": "", "is_valid": False}
        await ctx.db.update(key, **changes)
        _emit_updated(ctx, key, changes)


async def _clear_other_defaults(ctx: Context, key: ProviderKey) -> None:
    """Clear the default of the provider's other keys; concurrent changes wait for the lock."""
    await ctx.db.rows(_LOCK_KEYS, of_provider=key.provider)
    await ctx.db.execute(_CLEAR_DEFAULT, of_provider=key.provider, but=key.id, now=ctx.now)


def _emit_updated(ctx: Context, key: ProviderKey, changes: JsonObject) -> None:
    changed = sorted(changes.keys() & set(ApiKeyUpdate.__struct_fields__))
    ctx.emit(
        ApiKeyUpdated(
            api_key_id=key.id,
            name=key.name,
            provider=key.provider,
            changed=changed,
            destination=key.key_destination,
        )
    )


def _deduplicate(models: list[str] | None) -> list[str] | None:
    """Return the models without duplicates; an empty list means no restriction, like null."""
    return list(dict.fromkeys(models)) or None if models else None
