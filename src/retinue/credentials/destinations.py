"""ADR 8: a secret is sent only to the destination it was entered for.

Otherwise a user who may change an address but not reveal the secret could redirect it to a server of theirs.
Tools, provider keys, channels and the test of a credential all use this module.
"""

from retinue.adapters.databases import find_db_type
from retinue.credentials import access_rules, metadata
from retinue.credentials.errors import DestinationChanged
from retinue.credentials.events import CredentialDestinationAdded
from retinue.credentials.kinds import KINDS, is_secret, with_defaults
from retinue.credentials.models import Credential, CredentialType
from retinue.credentials.queries import lock_credential
from retinue.kit.context import Context
from retinue.kit.egress import EgressRefused, read_destination
from retinue.kit.json_types import JsonObject


def origin_of(url: str) -> str:
    """Return the normalized scheme, host and port of a URL, or an empty string if it is invalid."""
    try:
        return read_destination(url).origin
    except EgressRefused:
        return ""


def server_of(scheme: str, host: str, port: int) -> str:
    """Return the normalized address of a database (`postgresql`, `mysql`), SSH or mail server."""
    return f"{scheme}://{host.strip().lower().rstrip('.')}:{port}"


def destinations_for(type: CredentialType, secrets: JsonObject, beside: JsonObject) -> list[str]:
    """Return the destinations that the secrets and the metadata (`beside`) name.

    A token URL is not among them: it belongs to the secrets, and only tokens are requested there.
    """
    known = metadata.known(beside)
    urls = [known.test_url, *(metadata.host_to_url(host) for host in known.allowed_hosts or ())]
    named = [
        *_servers(type, with_defaults(type, secrets), known.db_type),
        *(origin_of(url) for url in urls if url),
    ]
    return list(dict.fromkeys(named))


def _servers(type: CredentialType, secrets: JsonObject, db_type: str | None) -> list[str]:
    if "host" not in KINDS[type].destination:
        return []
    host, port = secrets["host"], secrets.get("port")
    if type is not CredentialType.database:
        return [server_of(type, host, secrets["port"])]
    ports = metadata.DATABASE_PORTS
    kinds = [kind for kind in ports if db_type is None or kind == find_db_type(db_type)]
    return [server_of(kind, host, port or ports[kind]) for kind in kinds]


def changes_destination(type: CredentialType, before: JsonObject, after: JsonObject) -> bool:
    """Return whether an update would send the secrets elsewhere."""
    old, new = with_defaults(type, before), with_defaults(type, after)
    return any(old.get(name) != new.get(name) for name in KINDS[type].destination)


def is_fully_entered(type: CredentialType, new_secrets: JsonObject, after: JsonObject) -> bool:
    """Return whether the caller entered every secret of `after`, so that none moves without being known."""
    return all(name in new_secrets for name in after if is_secret(type, name))


def rebind(credential: Credential, before: list[str], after: list[str]) -> list[str]:
    """Return the destinations after an update: `after` replaces `before`, those that tools added stay."""
    kept = [destination for destination in credential.destinations if destination not in before]
    return list(dict.fromkeys([*after, *kept]))


def may_move(ctx: Context, entered_by: str) -> bool:
    """Return whether the caller knows the secret, by entering or by permission, and so may redirect it."""
    return ctx.principal.may_move_secrets and (
        ctx.principal.may(access_rules.REVEAL_PERMISSION)
        or (bool(entered_by) and ctx.principal.id == entered_by)
    )


def resolve_binding(
    ctx: Context, *, previous: str, wanted: str, is_entered: bool, entered_by: str = ""
) -> str:
    """Return the destination to store with a secret when its record is saved.

    It changes only if the secret is entered again or the caller knows it.
    """
    if not previous or is_entered or previous == wanted or may_move(ctx, entered_by):
        return wanted
    return previous


def require_same_destination(*, entered_for: str, effective: str) -> None:
    """Refuse, at the time of use, to send a secret to another destination than it was entered for."""
    if entered_for != effective:
        raise DestinationChanged


async def admit(ctx: Context, credential: Credential, destination: str) -> bool:
    """Allow a destination for a vault credential; return whether it is allowed now.

    Only a caller who knows the secret can allow a destination, including the first one.
    """
    if not destination or destination in credential.destinations:
        return True
    locked = await lock_credential(ctx, credential.id)
    if destination in locked.destinations:
        return True
    if not await access_rules.knows_secrets(ctx, locked):
        return False
    await ctx.db.update(locked, destinations=[*locked.destinations, destination])
    ctx.emit(CredentialDestinationAdded.about(locked, destination=destination))
    return True
