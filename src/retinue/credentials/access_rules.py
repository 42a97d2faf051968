"""Access rules of credentials.

Without a rule, everything in the tenant may use a credential; from the first rule on, only those that a rule
names. `manage` includes `reveal`, and `reveal` includes `use`. Rules that let a user or a role reveal or
manage only add rights and exclude nobody. Holders of `credentials:reveal` need no rule to reveal.
Letting others reveal requires that permission or a `manage` rule; other changes require `credentials:write`.
An expired rule allows nothing, but still excludes everybody it does not name.
"""

from collections.abc import Iterable

from retinue.access.models import Role
from retinue.credentials.errors import AccessRuleNotFound
from retinue.credentials.events import CredentialAccessGranted, CredentialAccessRevoked
from retinue.credentials.models import AccessPermission, AccessRule, Credential, IntegrationType
from retinue.credentials.queries import lock_credential
from retinue.credentials.schemas import AccessGrant
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.errors import Forbidden, Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.validation import read_expiry
from retinue.service_accounts.models import ServiceAccount
from retinue.users.models import User

Integration = tuple[str, str]
"""The type of an integration and its id."""

REVEAL_PERMISSION = "credentials:reveal"

_PERSON_TYPES = {IntegrationType.user, IntegrationType.role}
_LEVELS = (AccessPermission.use, AccessPermission.reveal, AccessPermission.manage)


def integrations_of_caller(ctx: Context) -> set[Integration]:
    """Return the caller as rules name it: by user and by role."""
    return {
        (IntegrationType.user.value, ctx.principal.id),
        (IntegrationType.role.value, ctx.principal.role),
    }


def allows_use(rules: Iterable[AccessRule], integrations: set[Integration], now: Instant) -> bool:
    """Return whether the rules let one of the integrations use the credential."""
    all_rules = list(rules)
    return all(_is_for_a_person(rule) for rule in all_rules) or any(
        _allows(rule, integrations, AccessPermission.use, now) for rule in all_rules
    )


async def may_reveal(ctx: Context, credential: Credential) -> bool:
    return ctx.principal.may(REVEAL_PERMISSION) or await _has_rule(ctx, credential, AccessPermission.reveal)


async def knows_secrets(ctx: Context, credential: Credential) -> bool:
    """Return whether the caller entered all the secrets or may reveal them."""
    if not ctx.principal.may_move_secrets:
        return False
    entered = bool(credential.entered_by) and credential.entered_by == ctx.principal.id
    return entered or await may_reveal(ctx, credential)


async def grant(ctx: Context, credential: Credential, body: AccessGrant) -> tuple[AccessRule, bool]:
    """Return the rule and whether it is new; repeating a grant only changes its expiry."""
    if body.permission is not AccessPermission.use and body.integration_type in _PERSON_TYPES:
        await _require_manage(ctx, credential)
    expires_at = read_expiry(body.expires_at, ctx.now)
    await _check_person(ctx, body)
    await lock_credential(ctx, credential.id)
    same: JsonObject = {
        "credential_id": credential.id,
        "integration_type": body.integration_type,
        "integration_id": body.integration_id,
        "permission": body.permission,
    }
    rule = await ctx.db.find(AccessRule, **same)
    is_new = rule is None
    if rule is None:
        rule = await ctx.db.insert(AccessRule(**same, expires_at=expires_at, granted_by=ctx.principal.id))
    elif rule.expires_at == expires_at:
        return rule, False
    else:
        await ctx.db.update(rule, expires_at=expires_at, granted_by=ctx.principal.id)
    ctx.emit(CredentialAccessGranted.about(credential, rule_id=rule.id, integration=_render_rule(rule)))
    return rule, is_new


async def revoke(ctx: Context, credential: Credential, rule: AccessRule) -> None:
    await lock_credential(ctx, credential.id)
    locked = await ctx.db.find(AccessRule, id=rule.id, credential_id=credential.id)
    if locked is None:
        raise AccessRuleNotFound
    await ctx.db.delete(locked)
    ctx.emit(CredentialAccessRevoked.about(credential, rule_id=rule.id, integration=_render_rule(rule)))


def _is_for_a_person(rule: AccessRule) -> bool:
    """Return whether the rule only adds rights of a user or a role."""
    return rule.integration_type in _PERSON_TYPES and rule.permission is not AccessPermission.use


def _allows(rule: AccessRule, holders: set[Integration], permission: AccessPermission, now: Instant) -> bool:
    return (
        (rule.integration_type.value, rule.integration_id) in holders
        and _LEVELS.index(rule.permission) >= _LEVELS.index(permission)
        and (rule.expires_at is None or rule.expires_at > now)
    )


async def _has_rule(ctx: Context, credential: Credential, permission: AccessPermission) -> bool:
    rules = await ctx.db.all(AccessRule, credential_id=credential.id)
    return any(_allows(rule, integrations_of_caller(ctx), permission, ctx.now) for rule in rules)


async def _require_manage(ctx: Context, credential: Credential) -> None:
    """Require more than the permission to write rules, which would let its holders reveal every secret."""
    if not ctx.principal.may(REVEAL_PERMISSION) and not await _has_rule(
        ctx, credential, AccessPermission.manage
    ):
        raise Forbidden(REVEAL_PERMISSION, ctx.principal.role)


async def _check_person(ctx: Context, body: AccessGrant) -> None:
    """Validate users and roles; other integrations may be created later."""
    if body.integration_type is IntegrationType.role and body.integration_id not in set(Role):
        raise Invalid({"integration_id": f"must be one of {', '.join(Role)}"})
    if body.integration_type is not IntegrationType.user:
        return
    account = await ctx.db.get(User, body.integration_id) or await ctx.db.get(
        ServiceAccount, body.integration_id
    )
    if account is None:
        raise Invalid({"integration_id": "there is no such user"})


def _render_rule(rule: AccessRule) -> dict[str, str]:
    return {"type": rule.integration_type, "id": rule.integration_id, "permission": rule.permission}
