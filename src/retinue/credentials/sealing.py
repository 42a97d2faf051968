"""The secrets of a credential, into the vault and out of it."""

from typing import Any

import msgspec

from retinue.credentials.kinds import masked, with_defaults
from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed


def sealed(secrets: dict[str, Any]) -> dict[str, Any]:
    """The fields of a credential that follow from its secrets."""
    return {
        "secrets": Sealed.of(msgspec.json.encode(secrets)),
        "secret_keys": sorted(secrets),
        "masked": masked(secrets),
    }


def stored_secrets(ctx: Context, credential: Credential) -> dict[str, Any]:
    """The secrets exactly as they were entered."""
    secrets: dict[str, Any] = msgspec.json.decode(credential.secrets.open(ctx.instance.ring))
    return secrets


def open_secrets(ctx: Context, credential: Credential) -> dict[str, Any]:
    """The secrets with what their type assumes where nothing was entered."""
    return with_defaults(credential.type, stored_secrets(ctx, credential))
