"""Secrets of provider keys: how they are entered, masked and opened for a call."""

import re
from collections.abc import Mapping

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
from retinue.credentials.secret_access import CredentialPurpose, open_credential
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.secrets import Secret
from retinue.providers.addresses import origin_for, require_complete
from retinue.providers.models import ProviderKey

# Credential types that hold a single key, and the field that contains it.
_SECRET_FIELD_BY_TYPE = {CredentialType.api_key: "api_key", CredentialType.bearer_token: "token"}

# Errors of `open_access` that concern only this key.
ACCESS_REFUSALS = (CredentialAccessDenied, CredentialNotFound, CredentialUnusable, DestinationChanged)

_MIN_LENGTH_TO_SHOW = 16
# A prefix that names the kind of key and reveals nothing of it: sk-, gsk_, xai-.
_KIND_OF_KEY = re.compile(r"[a-z]{2,4}[-_]")


class SecretInput(Struct, frozen=True):
    """The secret in a request: one of the two, null to remove it, or unset."""

    api_key: str | UnsetType | None = UNSET
    credential_id: str | UnsetType | None = UNSET

    def __repr__(self) -> str:
        return "SecretInput()"


async def build_secret_fields(
    ctx: Context, key: ProviderKey, entered: SecretInput, base_url: str | None
) -> JsonObject:
    """Return the fields that follow from the secret and the future base URL of a key.

    ADR 8: the destination is decided anew only if the address or the secret changes. A user who merely
    renames a key has not agreed to an address that someone else set.
    """
    if base_url == key.base_url and entered == SecretInput():
        return {}
    own, credential_id = _select_secret(key, entered)
    require_complete(key.provider, base_url=base_url, has_secret=bool(own or credential_id))
    fields: JsonObject = {"api_key": own, "credential_id": credential_id}
    if own is None and credential_id is None:
        return {**fields, "key_prefix": "", "key_destination": ""}
    if base_url == key.base_url and not (entered.api_key or entered.credential_id):
        return fields
    origin = origin_for(key.provider, base_url)
    if credential_id is not None:
        credential = await _require_credential(ctx, credential_id)
        is_admitted = await destinations.admit(ctx, credential, origin)
        fields["key_prefix"] = mask_credential(credential)
        fields["key_destination"] = origin if is_admitted else key.key_destination
    else:
        fields["key_prefix"] = _mask(entered.api_key) if entered.api_key else key.key_prefix
        fields["key_destination"] = destinations.resolve_binding(
            ctx, previous=key.key_destination, wanted=origin, is_entered=bool(entered.api_key)
        )
    return fields


async def open_access(ctx: Context, key: ProviderKey, via: Mapping[str, str]) -> ProviderAccess:
    """Return the access for a call; raise if the secret was entered for another destination."""
    origin = origin_for(key.provider, key.base_url)
    text = ""
    if key.credential_id is not None:
        purpose = CredentialPurpose(via={**via, "api_key_id": key.id}, destination=origin)
        credential = await open_credential(ctx, key.credential_id, purpose)
        text = credential.secrets.get(_SECRET_FIELD_BY_TYPE.get(credential.type, ""), "")
        if not text:
            raise CredentialUnusable
    elif key.api_key is not None:
        destinations.require_same_destination(entered_for=key.key_destination, effective=origin)
        text = key.api_key.text(ctx.instance.ring)
    return ProviderAccess(provider=key.provider, api_key=Secret(text), base_url=key.base_url)


def _select_secret(key: ProviderKey, entered: SecretInput) -> tuple[Sealed | None, str | None]:
    """Return the key and credential to store: a new one replaces both, null removes only itself."""
    if entered.api_key and entered.credential_id:
        raise Invalid({"credential_id": "cannot be combined with api_key"})
    if entered.api_key:
        return Sealed.of(entered.api_key), None
    if entered.credential_id:
        return None, entered.credential_id
    own = None if entered.api_key is None else key.api_key
    return own, None if entered.credential_id is None else key.credential_id


async def _require_credential(ctx: Context, credential_id: str) -> Credential:
    credential = await ctx.db.get(Credential, credential_id)
    if credential is None:
        raise Invalid({"credential_id": "there is no such credential"})
    if credential.type not in _SECRET_FIELD_BY_TYPE:
        raise Invalid({"credential_id": f"must be of type {' or '.join(_SECRET_FIELD_BY_TYPE)}"})
    return credential


def _mask(secret: str) -> str:
    if len(secret) < _MIN_LENGTH_TO_SHOW:
        return "…"
    kind = _KIND_OF_KEY.match(secret)
    return f"{kind[0] if kind else ''}…{secret[-4:]}"


def mask_credential(credential: Credential) -> str:
    """Return the masked secret of a credential; only two types hold a key (`_require_credential`)."""
    return "…" + credential.masked.get(_SECRET_FIELD_BY_TYPE.get(credential.type, ""), "").lstrip("•")
