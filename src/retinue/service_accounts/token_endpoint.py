"""`POST /auth/token`: a secret is exchanged for an access token, the only thing that it opens.

An unknown client, a wrong, expired or deleted secret, a disabled or expired account and a foreign address are
refused with one text and after the same work, so that the answer tells nothing about the account.
"""

import re

import msgspec
import sqlalchemy as sa
import structlog

from retinue.access.catalogue import PERMISSION_KEYS
from retinue.access.service import in_catalogue_order
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.http.request import Request
from retinue.kit.ids import hash_token
from retinue.kit.metrics import declarations as metrics
from retinue.service_accounts import secret_attempts
from retinue.service_accounts.errors import (
    InvalidBasicClient,
    InvalidClient,
    InvalidScope,
    OAuthRefusal,
)
from retinue.service_accounts.events import TokenIssued
from retinue.service_accounts.models import ServiceAccount, ServiceAccountSecret, ServiceAccountStatus
from retinue.service_accounts.networks import is_allowed
from retinue.service_accounts.principals import TOKEN_KIND
from retinue.service_accounts.refused_tokens import enqueue_record
from retinue.service_accounts.schemas import IssuedToken
from retinue.service_accounts.token_requests import GRANT_TYPE, TokenRequest, read_token_request

log = structlog.get_logger("retinue.auth")

TOKEN_SECONDS = 15 * 60

_CLIENT_ID = re.compile(rf"{ServiceAccount.__prefix__}_[2-7a-z]{{26}}")
_HOUR_LENGTH = len("2026-11-15T08")

_accounts, _secrets = ServiceAccount.__table__, ServiceAccountSecret.__table__
_CLIENT = Statement(
    sa.select(
        _accounts.c.tenant_id,
        _accounts.c.name,
        _accounts.c.permissions,
        _accounts.c.status,
        _accounts.c.expires_at,
        _accounts.c.allowed_ips,
        _secrets.c.id,
        _secrets.c.expires_at,
    )
    .select_from(
        _accounts.outerjoin(
            _secrets,
            sa.and_(
                _secrets.c.tenant_id == _accounts.c.tenant_id,
                _secrets.c.account_id == _accounts.c.id,
                _secrets.c.secret_hash == sa.bindparam("secret_hash"),
            ),
        )
    )
    .where(_accounts.c.id == sa.bindparam("client_id"))
)
_TOUCH_ACCOUNT = Statement(
    sa.update(_accounts)
    .where(_accounts.c.id == sa.bindparam("account_id"))
    .values(last_used_at=sa.bindparam("now"), last_used_ip=sa.bindparam("ip_address"))
)
_of_secret = _secrets.c.id == sa.bindparam("secret_id")
_TOUCH_SECRET = Statement(sa.update(_secrets).where(_of_secret).values(last_used_at=sa.bindparam("now")))
# Changes a row only for the first token of an hour, even if several are issued at once.
_BEGIN_HOUR = Statement(
    sa.update(_secrets)
    .where(
        _of_secret,
        sa.or_(_secrets.c.last_used_at.is_(None), _secrets.c.last_used_at < sa.bindparam("hour")),
    )
    .values(last_used_at=sa.bindparam("now"))
)


class _Client(msgspec.Struct, frozen=True):
    """The account that a request names, and the secret that it proves; no secret if the hash is unknown."""

    tenant_id: str
    name: str
    permissions: str
    status: str
    expires_at: Instant | None
    allowed_ips: str
    secret_id: str | None
    secret_expires_at: Instant | None

    def refusal_reason(self, now: Instant, address: str) -> str | None:
        """Return why the client gets no token, for the audit log; None if it gets one."""
        if self.secret_id is None or self.secret_expires_at is None:
            return "wrong_secret"
        if self.secret_expires_at <= now:
            return "secret_expired"
        if self.status != ServiceAccountStatus.active.value:
            return "account_disabled"
        if self.expires_at is not None and self.expires_at <= now:
            return "account_expired"
        return None if is_allowed(address, self.allowed_ips) else "ip_not_allowed"


async def issue_token(ctx: Context, request: Request) -> IssuedToken:
    """Issue an access token for 15 minutes; raise an error of RFC 6749 and record it otherwise."""
    client_id, reason = "", "malformed_request"
    try:
        wanted = await read_token_request(request)
        client_id, reason = wanted.client_id, "unknown_client"
        failures = await secret_attempts.require_attempts_left(ctx, client_id)
        client = await _find_client(ctx, wanted)
        if client is not None:
            reason = client.refusal_reason(ctx.now, ctx.caller.ip_address) or ""
        if client is None or reason:
            raise (InvalidBasicClient if wanted.uses_basic else InvalidClient)(request.request_id)
        reason = "scope_not_held"
        scope = _granted_scope(client, wanted.scope, request)
    except OAuthRefusal as refused:
        await _record_refusal(ctx, client_id, refused, reason)
        raise
    if failures:
        await secret_attempts.reset_failures(ctx, client_id)
    assert client.secret_id is not None
    token = ctx.instance.tokens.issue(
        "access",
        client_id,
        client.tenant_id,
        client.secret_id,
        TOKEN_SECONDS,
        {"kind": TOKEN_KIND, "scope": scope},
    )
    await _record_issue(ctx, client_id, client, scope)
    metrics.TOKENS_ISSUED.count(GRANT_TYPE)
    return IssuedToken(access_token=token, expires_in=TOKEN_SECONDS, scope=scope)


async def _record_refusal(ctx: Context, client_id: str, refused: OAuthRefusal, reason: str) -> None:
    """Record why there is no token, and count the attempt unless it proved a secret."""
    log.warning("token_refused", error=refused.code, reason=reason, address=ctx.caller.ip_address)
    if _CLIENT_ID.fullmatch(client_id):
        await enqueue_record(ctx, client_id, refused.code, reason)
    if client_id and not isinstance(refused, InvalidScope):
        await secret_attempts.count_failure(ctx, client_id)


async def _find_client(ctx: Context, token_request: TokenRequest) -> _Client | None:
    # A text that is no id of ours may not be storable; it takes the same look-up with another text.
    client_id = token_request.client_id if _CLIENT_ID.fullmatch(token_request.client_id) else "none"
    system = ctx.system("the client id alone says whose it is")
    row = await system.first(
        _CLIENT,
        client_id=client_id,
        secret_hash=hash_token(token_request.client_secret.encode(errors="replace").decode()),
    )
    return None if row is None else _Client(*row)


def _granted_scope(client: _Client, scope: str, request: Request) -> str:
    """Return the permissions of the token: those wanted, or all of the account's."""
    held = frozenset(msgspec.json.decode(client.permissions)).intersection(PERMISSION_KEYS)
    asked = frozenset(scope.split())
    if asked - held:
        raise InvalidScope(request.request_id)
    return " ".join(in_catalogue_order(asked or held))


async def _record_issue(ctx: Context, account_id: str, client: _Client, scope: str) -> None:
    """Note when and from where the account was used, and audit the first token of a secret in each hour."""
    actor = {"type": "service_account", "id": account_id}
    async with ctx.unit() as unit:
        unit.bind_tenant(client.tenant_id)
        unit.caller = msgspec.structs.replace(unit.caller, actor=actor)
        now, secret_id = unit.now, client.secret_id or ""
        await unit.db.execute(
            _TOUCH_ACCOUNT, account_id=account_id, now=now, ip_address=ctx.caller.ip_address
        )
        if not await unit.db.execute(_BEGIN_HOUR, secret_id=secret_id, now=now, hour=now[:_HOUR_LENGTH]):
            await unit.db.execute(_TOUCH_SECRET, secret_id=secret_id, now=now)
            return
        unit.emit(
            TokenIssued(
                service_account_id=account_id,
                name=client.name,
                secret_id=secret_id,
                grant=GRANT_TYPE,
                scope=scope,
            )
        )
