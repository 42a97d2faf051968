"""Revealing secrets: the audit entry is written before the secret is returned."""

from retinue.credentials import access_rules
from retinue.credentials.events import CredentialAccessRefused, CredentialRevealed
from retinue.credentials.models import Credential
from retinue.credentials.reveal_guard import record_reveal, require_reveals_left
from retinue.credentials.schemas import Revealed
from retinue.credentials.sealed_secrets import decrypt_secrets
from retinue.kit.context import Context
from retinue.kit.errors import Forbidden, RetinueError


async def reveal(ctx: Context, credential: Credential) -> Revealed:
    """Return the secrets if the caller may reveal them; the audit entry is committed first."""
    await require_reveals_left(ctx)
    if not await access_rules.may_reveal(ctx, credential):
        refused = CredentialAccessRefused.about(credential, via={})
        await record_reveal(ctx, refused, reason="forbidden")
        raise Forbidden(access_rules.REVEAL_PERMISSION, ctx.principal.role)
    try:
        secrets = decrypt_secrets(ctx, credential)
    except RetinueError as error:
        await record_reveal(ctx, CredentialRevealed.about(credential, keys=[]), reason=error.code)
        raise
    await record_reveal(ctx, CredentialRevealed.about(credential, keys=sorted(secrets)))
    return Revealed.of(credential, secrets=secrets, revealed_at=ctx.now)
