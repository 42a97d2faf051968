"""Where a secret may be sent: where it was entered for, and nowhere else.

Whoever may change an address but not read the secret must not be able to have it sent to himself. One
helper for tools, provider keys, channels and the test of a credential.
"""

from typing import Any

from retinue.adapters.databases import find_db_type
from retinue.credentials import access_rules, metadata
from retinue.credentials.errors import DestinationChanged
from retinue.credentials.events import CredentialDestinationAdded
from retinue.credentials.kinds import KINDS, is_secret, with_defaults
from retinue.credentials.models import Credential, CredentialType
from retinue.credentials.queries import hold
from retinue.kit.context import Context
from retinue.kit.egress import EgressRefused, read_destination

Json = dict[str, Any]


def origin_of(url: str) -> str:
    """Scheme, host and port of a URL in one spelling; nothing for what is no URL."""
    try:
        return read_destination(url).origin
    except EgressRefused:
        return ""


def server_of(scheme: str, host: str, port: int) -> str:
    """The same for a database (`postgresql`, `mysql`), SSH or mail server."""
    return f"{scheme}://{host.strip().lower().rstrip('.')}:{port}"


def entered_for(type: CredentialType, secrets: Json, beside: Json) -> list[str]:
    """Where secrets are meant to be sent by what they and the metadata beside them say.

    A token URL is not among these: it is a secret like the others, and only tokens are asked for there.
    """
    known = metadata.known(beside)
    urls = [known.test_url, *(metadata.as_url(host) for host in known.allowed_hosts or ())]
    found = [
        *_servers(type, with_defaults(type, secrets), known.db_type),
        *(origin_of(url) for url in urls if url),
    ]
    return list(dict.fromkeys(found))


def _servers(type: CredentialType, secrets: Json, db_type: str | None) -> list[str]:
    if "host" not in KINDS[type].destination:
        return []
    host, port = secrets["host"], secrets.get("port")
    if type is not CredentialType.database:
        return [server_of(type, host, secrets["port"])]
    ports = metadata.DATABASE_PORTS
    kinds = [kind for kind in ports if db_type is None or kind == find_db_type(db_type)]
    return [server_of(kind, host, port or ports[kind]) for kind in kinds]


def moves(type: CredentialType, before: Json, after: Json) -> bool:
    """Whether secrets would go elsewhere after an update."""
    old, new = with_defaults(type, before), with_defaults(type, after)
    return any(old.get(name) != new.get(name) for name in KINDS[type].destination)


def is_entered(type: CredentialType, given: Json, after: Json) -> bool:
    """Whether the caller entered every secret there is after an update, so that none is moved unseen."""
    return all(name in given for name in after if is_secret(type, name))


def rebound(credential: Credential, before: list[str], after: list[str]) -> list[str]:
    """The destinations after an update: those entered before give way, those of tools and others stay."""
    kept = [destination for destination in credential.destinations if destination not in before]
    return list(dict.fromkeys([*after, *kept]))


def may_move(ctx: Context, entered_by: str) -> bool:
    """Whether the caller may send the secret elsewhere: who entered it or may reveal it knows it anyway."""
    return ctx.principal.may(access_rules.REVEAL) or (bool(entered_by) and ctx.principal.id == entered_by)


def bound(ctx: Context, *, previous: str, wanted: str, is_entered: bool, entered_by: str = "") -> str:
    """The destination to store with a secret when its record is saved.

    It moves only with the secret itself, or by someone who knows the secret.
    """
    if not previous or is_entered or previous == wanted or may_move(ctx, entered_by):
        return wanted
    return previous


def require(*, entered_for: str, effective: str) -> None:
    """At the moment of use: refuse to send a secret anywhere but where it was entered for."""
    if entered_for != effective:
        raise DestinationChanged


async def admit(ctx: Context, credential: Credential, destination: str) -> bool:
    """Let a vault credential be sent here from now on; whether it may.

    Only who knows the secret opens a way for it, the first one too.
    """
    if not destination or destination in credential.destinations:
        return True
    held = await hold(ctx, credential.id)
    if destination in held.destinations:
        return True
    if not await access_rules.knows(ctx, held):
        return False
    await ctx.db.update(held, destinations=[*held.destinations, destination])
    ctx.emit(CredentialDestinationAdded.about(held, destination=destination))
    return True
