"""Who may do what with a credential.

Without a rule, everything of the tenant may use a credential; from the first rule on, only those whom a rule
names. `manage` contains `reveal`, and `reveal` contains `use`. Rules that let a person or a role reveal or
manage give these more rights and shut nobody out. Whoever holds `credentials:reveal` needs no rule to reveal.
To let others reveal takes that permission or a `manage` rule; any other change takes `credentials:write`.
A rule that has expired allows nothing, and still keeps the others out.
"""

from collections.abc import Iterable
from typing import Any

from retinue.access.models import Role
from retinue.credentials.errors import AccessRuleNotFound
from retinue.credentials.events import CredentialAccessGranted, CredentialAccessRevoked
from retinue.credentials.expiry import read_expiry
from retinue.credentials.models import AccessPermission, AccessRule, Credential, IntegrationType
from retinue.credentials.queries import hold
from retinue.credentials.schemas import AccessGrant
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.errors import Forbidden, Invalid
from retinue.users.models import User

Integration = tuple[str, str]
"""The type of an integration and its id."""

REVEAL = "credentials:reveal"

_PERSONS = {IntegrationType.user, IntegrationType.role}
_LEVELS = (AccessPermission.use, AccessPermission.reveal, AccessPermission.manage)


def persons(ctx: Context) -> set[Integration]:
    """The caller as rules name it: the user, and everyone of the user's role."""
    return {
        (IntegrationType.user.value, ctx.principal.id),
        (IntegrationType.role.value, ctx.principal.role),
    }


def admits(rules: Iterable[AccessRule], integrations: set[Integration], now: Instant) -> bool:
    """Whether one of these may use the credential that has these rules."""
    found = list(rules)
    return all(_is_for_a_person(rule) for rule in found) or any(
        _allows(rule, integrations, AccessPermission.use, now) for rule in found
    )


async def may_reveal(ctx: Context, credential: Credential) -> bool:
    return ctx.principal.may(REVEAL) or await _has_rule(ctx, credential, AccessPermission.reveal)


async def knows(ctx: Context, credential: Credential) -> bool:
    """Whether the caller knows the secrets anyway: entered all of them, or may reveal them."""
    entered = bool(credential.entered_by) and credential.entered_by == ctx.principal.id
    return entered or await may_reveal(ctx, credential)


async def grant(ctx: Context, credential: Credential, body: AccessGrant) -> tuple[AccessRule, bool]:
    """The rule, and whether it is new; the same grant again only changes until when it holds."""
    if body.permission is not AccessPermission.use and body.integration_type in _PERSONS:
        await _require_to_manage(ctx, credential)
    expires_at = read_expiry(ctx, body.expires_at)
    await _check_person(ctx, body)
    await hold(ctx, credential.id)
    same: dict[str, Any] = {
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
    ctx.emit(CredentialAccessGranted.about(credential, rule_id=rule.id, integration=_shown(rule)))
    return rule, is_new


async def revoke(ctx: Context, credential: Credential, rule: AccessRule) -> None:
    await hold(ctx, credential.id)
    held = await ctx.db.find(AccessRule, id=rule.id, credential_id=credential.id)
    if held is None:
        raise AccessRuleNotFound
    await ctx.db.delete(held)
    ctx.emit(CredentialAccessRevoked.about(credential, rule_id=rule.id, integration=_shown(rule)))


def _is_for_a_person(rule: AccessRule) -> bool:
    """Whether the rule only adds to what a person or a role may do."""
    return rule.integration_type in _PERSONS and rule.permission is not AccessPermission.use


def _allows(rule: AccessRule, who: set[Integration], permission: AccessPermission, now: Instant) -> bool:
    return (
        (rule.integration_type.value, rule.integration_id) in who
        and _LEVELS.index(rule.permission) >= _LEVELS.index(permission)
        and (rule.expires_at is None or rule.expires_at > now)
    )


async def _has_rule(ctx: Context, credential: Credential, permission: AccessPermission) -> bool:
    rules = await ctx.db.all(AccessRule, credential_id=credential.id)
    return any(_allows(rule, persons(ctx), permission, ctx.now) for rule in rules)


async def _require_to_manage(ctx: Context, credential: Credential) -> None:
    """Else whoever may write rules could let themselves read every secret."""
    if not ctx.principal.may(REVEAL) and not await _has_rule(ctx, credential, AccessPermission.manage):
        raise Forbidden(REVEAL, ctx.principal.role)


async def _check_person(ctx: Context, body: AccessGrant) -> None:
    """People and roles are known here; what else a rule names may be made later."""
    if body.integration_type is IntegrationType.role and body.integration_id not in set(Role):
        raise Invalid({"integration_id": f"must be one of {', '.join(Role)}"})
    if body.integration_type is IntegrationType.user and not await ctx.db.get(User, body.integration_id):
        raise Invalid({"integration_id": "there is no such user"})


def _shown(rule: AccessRule) -> dict[str, str]:
    return {"type": rule.integration_type, "id": rule.integration_id, "permission": rule.permission}
