"""Service accounts and their secrets: create, change, delete."""

from typing import Any

from retinue.access.service import require_held, validate_machine_permissions
from retinue.kit.context import Context
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.errors import Invalid
from retinue.kit.ids import hash_token, new_token
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import Page
from retinue.kit.schema.base import sent_fields
from retinue.kit.schema.validation import read_expiry
from retinue.service_accounts import events
from retinue.service_accounts.errors import (
    SecretNotFound,
    ServiceAccountNameTaken,
    ServiceAccountNotFound,
    TooManySecrets,
)
from retinue.service_accounts.models import ServiceAccount, ServiceAccountSecret, ServiceAccountStatus
from retinue.service_accounts.networks import parse_networks
from retinue.service_accounts.queries import load_secrets, page_of_accounts
from retinue.service_accounts.refused_tokens import enqueue_last_record
from retinue.service_accounts.schemas import (
    NewSecretOut,
    SecretCreate,
    SecretOut,
    ServiceAccountCreate,
    ServiceAccountList,
    ServiceAccountOut,
    ServiceAccountUpdate,
    current_status,
)
from retinue.usage.monthly_tokens import tokens_used_in

SECRET_PREFIX = "rcs_"  # noqa: S105  the beginning of every secret
MAX_LIVE_SECRETS = 2
DEFAULT_SECRET_DAYS = 90
MAX_SECRET_DAYS = 365
_DAY_SECONDS = 86_400
_SHOWN_PREFIX_LENGTH = len(SECRET_PREFIX) + 8
# Changing one of these never lets the account do more than before.
_HARMLESS_FIELDS = frozenset({"name", "description", "permissions", "strict"})


def show(ctx: Context, account: ServiceAccount) -> ServiceAccountOut:
    now = ctx.now
    return ServiceAccountOut.of(
        account,
        client_id=account.id,
        status=current_status(account, now),
        tokens_used=tokens_used_in(account, now),
    )


async def page(ctx: Context, query: ServiceAccountList) -> Page[ServiceAccountOut]:
    return (await page_of_accounts(ctx, query)).to_page(lambda account: show(ctx, account))


async def create(ctx: Context, body: ServiceAccountCreate) -> ServiceAccountOut:
    permissions = validate_machine_permissions(body.permissions)
    require_held(ctx.principal, permissions)
    account = ServiceAccount(
        name=body.name,
        description=body.description,
        permissions=permissions,
        expires_at=read_expiry(body.expires_at, ctx.now),
        allowed_ips=parse_networks(body.allowed_ips or []),
        rate_limit_per_minute=body.rate_limit_per_minute,
        monthly_token_budget=body.monthly_token_budget,
        strict=body.strict,
        created_by=ctx.principal.id,
    )
    try:
        await ctx.db.insert(account)
    except UniqueViolation:
        raise ServiceAccountNameTaken from None
    ctx.emit(
        events.ServiceAccountCreated(
            service_account_id=account.id, name=account.name, permissions=account.permissions
        )
    )
    return show(ctx, account)


async def update(ctx: Context, account: ServiceAccount, body: ServiceAccountUpdate) -> ServiceAccountOut:
    """Change what the body names, from the account's next request on."""
    locked = await _lock(ctx, account)
    changes = _parse_changes(ctx, body)
    changes = {name: value for name, value in changes.items() if value != getattr(locked, name)}
    _require_authority(ctx, locked, changes)
    before, after = set(locked.permissions), set(changes.get("permissions", locked.permissions))
    if changes:
        try:
            await ctx.db.update(locked, **changes)
        except UniqueViolation:
            raise ServiceAccountNameTaken from None
        ctx.emit(
            events.ServiceAccountUpdated(
                service_account_id=locked.id,
                name=locked.name,
                changed=sorted(changes),
                granted=sorted(after - before),
                withdrawn=sorted(before - after),
            )
        )
    return show(ctx, locked)


def _parse_changes(ctx: Context, body: ServiceAccountUpdate) -> JsonObject:
    changes = sent_fields(body)
    if "permissions" in changes:
        changes["permissions"] = validate_machine_permissions(changes["permissions"])
    if "allowed_ips" in changes:
        changes["allowed_ips"] = parse_networks(changes["allowed_ips"])
    if "expires_at" in changes:
        changes["expires_at"] = read_expiry(changes["expires_at"], ctx.now)
    if "status" in changes:
        changes["status"] = ServiceAccountStatus(changes["status"])
    return changes


def _require_authority(ctx: Context, account: ServiceAccount, changes: dict[str, Any]) -> None:
    """Require what the account gains; everyone who manages accounts may disable or narrow one."""
    after = set(changes.get("permissions", account.permissions))
    disables = changes.get("status") is ServiceAccountStatus.disabled
    widens = not disables and bool(changes.keys() - _HARMLESS_FIELDS)
    require_held(ctx.principal, after if widens else after - set(account.permissions))


async def delete(ctx: Context, account: ServiceAccount) -> None:
    """Delete the account and its secrets; what it created stays with the tenant."""
    locked = await _lock(ctx, account)
    await enqueue_last_record(ctx, locked)
    await ctx.db.delete(locked)
    ctx.emit(events.ServiceAccountDeleted(service_account_id=locked.id, name=locked.name))


async def create_secret(ctx: Context, account: ServiceAccount, body: SecretCreate) -> NewSecretOut:
    """Create a secret; whoever sees it can act as the account, so its creator must hold all it may do."""
    locked = await _lock(ctx, account)
    require_held(ctx.principal, locked.permissions)
    expires_at = read_expiry(body.expires_at, ctx.now) or ctx.clock.ahead(DEFAULT_SECRET_DAYS * _DAY_SECONDS)
    if expires_at > ctx.clock.ahead(MAX_SECRET_DAYS * _DAY_SECONDS):
        raise Invalid({"expires_at": f"must be at most {MAX_SECRET_DAYS} days ahead"})
    live_count = 0
    for secret in await load_secrets(ctx, locked.id):
        if secret.expires_at > ctx.now:
            live_count += 1
        else:
            await ctx.db.delete(secret)
    if live_count >= MAX_LIVE_SECRETS:
        raise TooManySecrets
    text = SECRET_PREFIX + new_token()
    secret = await ctx.db.insert(
        ServiceAccountSecret(
            account_id=locked.id,
            name=body.name,
            secret_prefix=text[:_SHOWN_PREFIX_LENGTH],
            secret_hash=hash_token(text),
            expires_at=expires_at,
            created_by=ctx.principal.id,
        )
    )
    ctx.emit(
        events.ServiceAccountSecretCreated(
            service_account_id=locked.id,
            name=locked.name,
            secret_id=secret.id,
            secret_prefix=secret.secret_prefix,
            expires_at=secret.expires_at,
        )
    )
    return NewSecretOut.of(secret, client_id=locked.id, client_secret=text)


async def list_secrets(ctx: Context, account: ServiceAccount) -> list[SecretOut]:
    return [SecretOut.of(secret, client_id=account.id) for secret in await load_secrets(ctx, account.id)]


async def delete_secret(ctx: Context, account: ServiceAccount, secret: ServiceAccountSecret) -> None:
    """Delete a secret; tokens that it yielded stop working with their next request."""
    if secret.account_id != account.id:
        raise SecretNotFound
    # Lock order: the account before its secrets, as everywhere else.
    locked = await _lock(ctx, account)
    if await ctx.db.get(ServiceAccountSecret, secret.id) is None:
        raise SecretNotFound
    await ctx.db.delete(secret)
    ctx.emit(
        events.ServiceAccountSecretDeleted(
            service_account_id=locked.id,
            name=locked.name,
            secret_id=secret.id,
            secret_prefix=secret.secret_prefix,
        )
    )


async def _lock(ctx: Context, account: ServiceAccount) -> ServiceAccount:
    locked = await ctx.db.lock(ServiceAccount, account.id)
    if locked is None:
        raise ServiceAccountNotFound
    return locked
