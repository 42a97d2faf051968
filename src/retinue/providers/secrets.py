"""The secret of a provider key: how it is entered, what is shown of it, and how it is opened for a call."""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from retinue.adapters.llm import ProviderAccess
from retinue.credentials import destinations
from retinue.credentials.errors import (
    CredentialAccessDenied,
    CredentialNotFound,
    CredentialUnusable,
    DestinationChanged,
)
from retinue.credentials.models import Credential, CredentialType
from retinue.credentials.use import Purpose, use
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.errors import Invalid
from retinue.kit.secrets import Secret
from retinue.providers.addresses import origin_for, require_complete
from retinue.providers.models import ProviderKey

# The types of credentials that are one key, and the name it has in them.
_KEY_IN = {CredentialType.api_key: "api_key", CredentialType.bearer_token: "token"}

# How `opened` says that a key cannot be used as things are.
REFUSALS = (CredentialAccessDenied, CredentialNotFound, CredentialUnusable, DestinationChanged)

_SHOWN_FROM = 16
# The beginning that tells the kind of key and nothing of the secret: sk-, gsk_, xai-.
_KIND_OF_KEY = re.compile(r"[a-z]{2,4}[-_]")


class Entered(Struct, frozen=True):
    """The secret as a caller gives it: one of the two, null to take it away, or nothing at all."""

    api_key: str | UnsetType | None = UNSET
    credential_id: str | UnsetType | None = UNSET

    def __repr__(self) -> str:
        return "Entered()"


async def kept(ctx: Context, key: ProviderKey, entered: Entered, base_url: str | None) -> dict[str, Any]:
    """The fields of a key that follow from its secret, for a key that will have this base URL.

    Where the secret may go is decided anew only by who changes the address or the secret: whoever merely
    renames a key has not looked at the address that someone else gave it.
    """
    if base_url == key.base_url and entered == Entered():
        return {}
    own, credential_id = _chosen(key, entered)
    require_complete(key.provider, base_url=base_url, has_secret=bool(own or credential_id))
    fields: dict[str, Any] = {"api_key": own, "credential_id": credential_id}
    if own is None and credential_id is None:
        return {**fields, "key_prefix": "", "key_destination": ""}
    if base_url == key.base_url and not (entered.api_key or entered.credential_id):
        return fields
    origin = origin_for(key.provider, base_url)
    if credential_id is not None:
        credential = await _fetch_credential(ctx, credential_id)
        is_admitted = await destinations.admit(ctx, credential, origin)
        fields["key_prefix"] = shown_of_credential(credential)
        fields["key_destination"] = origin if is_admitted else key.key_destination
    else:
        fields["key_prefix"] = _shown(entered.api_key) if entered.api_key else key.key_prefix
        fields["key_destination"] = destinations.bound(
            ctx, previous=key.key_destination, wanted=origin, is_entered=bool(entered.api_key)
        )
    return fields


async def opened(ctx: Context, key: ProviderKey, via: Mapping[str, str]) -> ProviderAccess:
    """What a call with this key needs; refused where the secret was not entered for."""
    origin = origin_for(key.provider, key.base_url)
    text = ""
    if key.credential_id is not None:
        purpose = Purpose(via={**via, "api_key_id": key.id}, destination=origin)
        credential = await use(ctx, key.credential_id, purpose)
        text = credential.secrets.get(_KEY_IN.get(credential.type, ""), "")
        if not text:
            raise CredentialUnusable
    elif key.api_key is not None:
        destinations.require(entered_for=key.key_destination, effective=origin)
        text = key.api_key.text(ctx.instance.ring)
    return ProviderAccess(provider=key.provider, api_key=Secret(text), base_url=key.base_url)


def _chosen(key: ProviderKey, entered: Entered) -> tuple[Sealed | None, str | None]:
    """A secret that is given replaces the other one too; one that is null only goes itself."""
    if entered.api_key and entered.credential_id:
        raise Invalid({"credential_id": "give either api_key or credential_id"})
    if entered.api_key:
        return Sealed.of(entered.api_key), None
    if entered.credential_id:
        return None, entered.credential_id
    own = None if entered.api_key is None else key.api_key
    return own, None if entered.credential_id is None else key.credential_id


async def _fetch_credential(ctx: Context, credential_id: str) -> Credential:
    credential = await ctx.db.get(Credential, credential_id)
    if credential is None:
        raise Invalid({"credential_id": "there is no such credential"})
    if credential.type not in _KEY_IN:
        raise Invalid({"credential_id": f"must be of type {' or '.join(_KEY_IN)}"})
    return credential


def _shown(secret: str) -> str:
    if len(secret) < _SHOWN_FROM:
        return "…"
    kind = _KIND_OF_KEY.match(secret)
    return f"{kind[0] if kind else ''}…{secret[-4:]}"


def shown_of_credential(credential: Credential) -> str:
    return "…" + credential.masked.get(_KEY_IN[credential.type], "").lstrip("•")
