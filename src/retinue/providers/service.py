"""Provider keys: who is asked for the answers of a model, with which secret, in which order."""

from typing import Any

import sqlalchemy as sa
from msgspec import UNSET

from retinue.credentials.models import Credential
from retinue.kit import references
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Conflict, Invalid
from retinue.kit.references import Referrer
from retinue.kit.schemas import given
from retinue.providers import breakers
from retinue.providers.addresses import read_base_url
from retinue.providers.errors import ApiKeyInUse, ApiKeyNotFound
from retinue.providers.events import ApiKeyCreated, ApiKeyDeleted, ApiKeyUpdated
from retinue.providers.models import ProviderKey
from retinue.providers.schemas import ApiKeyCreate, ApiKeyUpdate
from retinue.providers.secrets import Entered, kept, shown_of_credential

_keys = ProviderKey.__table__
# In one order, so that two who want the default never wait for each other.
_HOLD_ALL: Statement[Any] = Statement(
    sa.select(_keys.c.id)
    .where(_keys.c.provider == sa.bindparam("of_provider"))
    .order_by(_keys.c.id)
    .with_for_update()
)
_CLEAR_DEFAULT: Statement[Any] = Statement(
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
        models=_distinct(body.models),
        found_models=[],
        is_default=body.is_default,
        priority=body.priority,
        is_active=body.is_active,
        monthly_budget_usd=body.monthly_budget_usd,
        created_by=ctx.principal.id,
    )
    secret = await kept(ctx, key, Entered(body.api_key, body.credential_id), base_url)
    for name, value in secret.items():
        setattr(key, name, value)
    if key.is_default:
        await _make_room_for_default(ctx, key)
    try:
        await ctx.db.insert(key)
    except UniqueViolation as error:
        raise Conflict("Someone else is adding a default key of this provider at this moment.") from error
    ctx.emit(ApiKeyCreated(api_key_id=key.id, name=key.name, provider=key.provider))
    return key


async def update(ctx: Context, key: ProviderKey, body: ApiKeyUpdate) -> ProviderKey:
    if body.is_default is True:
        await _make_room_for_default(ctx, key)
    held = await ctx.db.lock(ProviderKey, key.id)
    if held is None:
        raise ApiKeyNotFound
    wanted = given(body)
    if wanted.pop("provider", held.provider) != held.provider:
        raise Invalid({"provider": "cannot be changed; add another key"})
    entered = Entered(wanted.pop("api_key", UNSET), wanted.pop("credential_id", UNSET))
    if wanted.get("base_url"):
        wanted["base_url"] = read_base_url(wanted["base_url"])
    if "models" in wanted:
        wanted["models"] = _distinct(wanted["models"])
    wanted |= await kept(ctx, held, entered, wanted.get("base_url", held.base_url))
    changes = {name: value for name, value in wanted.items() if getattr(held, name) != value}
    if changes.keys() & {"api_key", "credential_id", "base_url"}:
        changes |= {"is_valid": True, "last_tested_at": None, "found_models": []}
        breakers.forget(held.id)
    if changes:
        await ctx.db.update(held, **changes)
        _tell_update(ctx, held, changes)
    return held


async def delete(ctx: Context, key: ProviderKey, *, force: bool) -> None:
    users = await references.referrers(ctx, "provider_key", key.id)
    if any(users.values()):
        if not force:
            raise ApiKeyInUse(users)
        await references.detach(ctx, "provider_key", key.id)
    await ctx.db.delete(key)
    breakers.forget(key.id)
    ctx.emit(ApiKeyDeleted(api_key_id=key.id, name=key.name, provider=key.provider))


async def users_of_credential(ctx: Context, credential_id: str) -> list[Referrer]:
    keys = await ctx.db.all(ProviderKey, credential_id=credential_id)
    return [Referrer(key.id, key.name) for key in keys]


async def follow(ctx: Context, credential: Credential) -> None:
    """The credential's secret is another one: nothing is known of it yet."""
    shown = shown_of_credential(credential)
    for key in await ctx.db.all(ProviderKey, credential_id=credential.id):
        await ctx.db.update(key, key_prefix=shown, is_valid=True, last_tested_at=None)
        breakers.forget(key.id)


async def detach_credential(ctx: Context, credential_id: str) -> None:
    """Let go of a credential that is about to be deleted; the keys stay, without a secret."""
    for key in await ctx.db.all(ProviderKey, credential_id=credential_id):
        changes = {"credential_id": None, "key_prefix": "", "key_destination": "", "is_valid": False}
        await ctx.db.update(key, **changes)
        _tell_update(ctx, key, changes)


async def _make_room_for_default(ctx: Context, key: ProviderKey) -> None:
    """Take the default from the provider's other keys; whoever sets one waits here for its turn."""
    await ctx.db.rows(_HOLD_ALL, of_provider=key.provider)
    await ctx.db.execute(_CLEAR_DEFAULT, of_provider=key.provider, but=key.id, now=ctx.now)


def _tell_update(ctx: Context, key: ProviderKey, changes: dict[str, Any]) -> None:
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


def _distinct(models: list[str] | None) -> list[str] | None:
    """No model twice; none at all is the same as not saying which."""
    return list(dict.fromkeys(models)) or None if models else None
