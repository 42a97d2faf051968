"""Set-up: the person who started the server becomes its first administrator, with a link printed there.

It is open from the first start until a super administrator signs in or sets the instance up, whichever comes
first, and never opens again. An operator who chose the administrator's password gets no link.
"""

import hmac

import sqlalchemy as sa
from msgspec import structs

from retinue.access.models import Role
from retinue.auth import passwords, sessions
from retinue.auth.errors import InvalidToken, SetupClosed
from retinue.auth.login_outcomes import observed_login
from retinue.auth.models import InstanceSetup
from retinue.auth.schemas.setup import InstanceSetupRequest
from retinue.auth.schemas.sign_in import SignedIn, SignedInUser
from retinue.auth.setup_state import SETUP_ID, close_setup
from retinue.kit.attempts import AttemptGuard
from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.db.errors import UniqueViolation
from retinue.kit.db.statements import Statement
from retinue.kit.http.request import limit_address
from retinue.kit.ids import hash_token, new_token
from retinue.kit.principal import SYSTEM
from retinue.kit.schema.validation import check_each
from retinue.kit.secrets import Secret
from retinue.tenants.models import Tenant
from retinue.users.email_addresses import validate_email
from retinue.users.errors import EmailTaken
from retinue.users.events import UserCreated
from retinue.users.models import User
from retinue.users.queries import find_by_email

# Servers that share a database each print a link, and all of them work; a restart in a loop adds no more.
_MAX_LINKS = 10
_ATTEMPTS = AttemptGuard("setup", limit=10, window_s=15 * 60, message="Too many attempts to set up.")

_users = User.__table__
_ADMINISTRATOR_WHO_SIGNED_IN = Statement(
    sa.select(_users.c.id)
    .where(
        _users.c.role == Role.super_admin.value,
        _users.c.is_pending == sa.false(),
        _users.c.last_login_at.is_not(None),
    )
    .limit(1)
)


async def issue_link_token(instance: Instance) -> Secret | None:
    """Return a new token for the printed link, or None if the set-up is closed."""
    if instance.settings.admin_password:
        return None
    async with Context(instance, SYSTEM, Caller(correlation_id="cor_bootstrap")) as ctx:
        system = ctx.system("the set-up belongs to the instance")
        # An instance that RETINUE_ADMIN_PASSWORD has set up has people, but no such row.
        used = await system.scalar(_ADMINISTRATOR_WHO_SIGNED_IN) is not None
        row = InstanceSetup(id=SETUP_ID, token_hashes=[], closed_at=ctx.now if used else None)
        await system.insert_missing(row)
        setup = await system.lock(InstanceSetup, SETUP_ID)
        if setup is None or setup.closed_at is not None:
            return None
        token = new_token()
        await system.update(setup, token_hashes=[*setup.token_hashes, hash_token(token)][-_MAX_LINKS:])
    return Secret(token)


async def set_up(ctx: Context, body: InstanceSetupRequest) -> SignedIn:
    """Create the first administrator and sign them in; of concurrent callers one succeeds."""
    address = limit_address(ctx.caller.ip_address)
    await _ATTEMPTS.count(ctx, address)
    with observed_login(ctx, "setup"):
        async with ctx.unit() as unit:
            await _require_valid_link(unit, body.token)
        check_each(
            lambda: passwords.validate_password(body.password),
            lambda: validate_email(body.email),
        )
        password_hash = await passwords.hash_password(body.password, ctx.settings.password_cost)
        await _require_valid_link(ctx, body.token)
        await close_setup(ctx)
        user = await _claim_account(ctx, body, password_hash)
        tokens = await sessions.start_session(ctx, user)
        await _ATTEMPTS.reset_attempts(ctx, address)
    return SignedIn.of(tokens, user=SignedInUser.of(user))


async def _require_valid_link(ctx: Context, token: str) -> None:
    """Lock the set-up and raise unless it is open and one of the printed links has this token."""
    _require_match(
        await ctx.system("the set-up belongs to the instance").lock(InstanceSetup, SETUP_ID), token
    )


async def require_open_link(ctx: Context, token: str) -> None:
    """Raise unless the set-up is open and one of the printed links has this token."""
    _require_match(await ctx.system("the set-up belongs to the instance").get(InstanceSetup, SETUP_ID), token)


def _require_match(setup: InstanceSetup | None, token: str) -> None:
    if setup is None or setup.closed_at is not None:
        raise SetupClosed
    presented = hash_token(token)
    # Every hash is compared, so that the time says nothing about which one is close.
    matches = [hmac.compare_digest(presented, stored) for stored in setup.token_hashes]
    if not any(matches):
        raise InvalidToken


async def _claim_account(ctx: Context, body: InstanceSetupRequest, password_hash: str) -> User:
    """Create the person's account, or hand over the administrator of the first start if it has the address.

    No administrator has signed in to that one yet. With another address, its printed password keeps working.
    """
    tenant = await ctx.system("nobody has a tenant yet").find(Tenant, is_default=True)
    assert tenant is not None
    ctx.bind_tenant(tenant.id)
    existing = await find_by_email(ctx, body.email)
    if existing is not None:
        if existing.role is not Role.super_admin or existing.tenant_id != tenant.id:
            raise EmailTaken
        names = {"first_name": body.first_name, "last_name": body.last_name}
        await ctx.db.update(
            existing, **names, password_hash=password_hash, is_pending=False, is_vouched_for=True
        )
        await sessions.end_all(ctx, existing)
        return existing
    user = User(
        email=body.email,
        password_hash=password_hash,
        first_name=body.first_name,
        last_name=body.last_name,
        role=Role.super_admin,
        email_verified=True,
        is_vouched_for=True,
    )
    try:
        await ctx.db.insert(user)
    except UniqueViolation:
        raise EmailTaken from None
    ctx.caller = structs.replace(ctx.caller, actor={"type": "user", "id": user.id})
    ctx.emit(UserCreated(user_id=user.id, email=user.email, role=user.role))
    return user
