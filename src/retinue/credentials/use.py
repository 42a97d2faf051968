"""Using a credential: the one door through which a secret leaves the vault for the outside world.

Every use is checked against the access rules, the destination and the expiry, and audited, before the
secret is handed out. Whoever uses it gives `hidden` to a `Redactor`, so that nothing of it comes back.
"""

from typing import Any

import msgspec
import sqlalchemy as sa

from retinue.credentials import access_rules, refreshing
from retinue.credentials.errors import (
    CredentialAccessDenied,
    CredentialNotFound,
    CredentialUnusable,
    DestinationChanged,
)
from retinue.credentials.events import CredentialAccessRefused, CredentialUsed
from retinue.credentials.kinds import KINDS, hidden_values
from retinue.credentials.models import AccessRule, Credential, CredentialType
from retinue.credentials.sealing import open_secrets
from retinue.kit.context import Context
from retinue.kit.crypto import DecryptFailed
from retinue.kit.db.statements import Statement
from retinue.kit.errors import RetinueError

_credentials = Credential.__table__
_MARK_USED: Statement[Any] = Statement(
    sa.update(_credentials)
    .where(_credentials.c.id == sa.bindparam("credential_id"))
    .values(last_used_at=sa.bindparam("now"))
)


class Purpose(msgspec.Struct, frozen=True, kw_only=True):
    """What a credential is used for: by which integration, and on whose way there.

    `via` names the tool, agent, workflow, channel and execution by their kind (`{"tool_id": "tool_…"}`).
    `destination` is where the secrets go, or empty where they go to the server that they name themselves.
    """

    via: dict[str, str]
    destination: str

    def integrations(self, ctx: Context) -> set[access_rules.Integration]:
        """Everyone in whose name this happens; a rule for one of them is enough."""
        return {(name.removesuffix("_id"), id) for name, id in self.via.items()} | access_rules.persons(ctx)


class Opened(msgspec.Struct, frozen=True):
    """The secrets of one use; `hidden` is what must not come back."""

    type: CredentialType
    secrets: dict[str, Any]
    hidden: list[str]

    def __repr__(self) -> str:
        return f"Opened({self.type})"


async def use(ctx: Context, credential_id: str, purpose: Purpose) -> Opened:
    """The secrets for this purpose; opens and closes transactions of its own."""
    found = await _checked(ctx, credential_id, purpose)
    if isinstance(found, Opened):
        return found
    await refreshing.current(ctx, found)
    # What was allowed before the wait for a token may be forbidden by now.
    renewed = await _checked(ctx, credential_id, purpose, is_renewed=True)
    assert isinstance(renewed, Opened)
    return renewed


async def _checked(
    ctx: Context, credential_id: str, purpose: Purpose, *, is_renewed: bool = False
) -> Opened | Credential:
    """The secrets, or the credential itself while its access token has to be renewed first."""
    async with ctx.unit() as unit:
        credential = await unit.db.get(Credential, credential_id)
        if credential is None:
            raise CredentialNotFound
        refusal = await _refusal(unit, credential, purpose)
        if refusal is None:
            if not is_renewed and refreshing.is_due(credential, unit.now):
                return credential
            try:
                return await _hand_out(unit, credential, purpose)
            except DecryptFailed as failed:
                refusal = failed
        event = CredentialAccessRefused.about(credential, via=purpose.via)
        unit.emit(event, success=False, reason=refusal.code)
    raise refusal


async def _hand_out(ctx: Context, credential: Credential, purpose: Purpose) -> Opened:
    secrets = open_secrets(ctx, credential)
    await ctx.db.execute(_MARK_USED, credential_id=credential.id, now=ctx.now)
    ctx.emit(CredentialUsed.about(credential, via=purpose.via))
    return Opened(credential.type, secrets, hidden_values(credential.type, secrets))


async def _refusal(ctx: Context, credential: Credential, purpose: Purpose) -> RetinueError | None:
    if credential.is_expired(ctx.now):
        return CredentialUnusable("This credential has expired.")
    rules = await ctx.db.all(AccessRule, credential_id=credential.id)
    if not access_rules.admits(rules, purpose.integrations(ctx), ctx.now):
        return CredentialAccessDenied()
    if not _may_be_sent(credential, purpose.destination):
        return DestinationChanged()
    return None


def _may_be_sent(credential: Credential, destination: str) -> bool:
    """Secrets that name their own server may go there without anyone else naming it."""
    if not destination and "host" in KINDS[credential.type].destination:
        return True
    return destination in credential.destinations or not (destination or credential.destinations)
