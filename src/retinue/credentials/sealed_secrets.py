"""Encryption and decryption of a credential's secrets."""

import msgspec

from retinue.credentials.kinds import mask_secrets, with_defaults
from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.json_types import JsonObject


def sealed_columns(secrets: JsonObject) -> JsonObject:
    """Return the columns of a credential that derive from its secrets."""
    return {
        "secrets": Sealed.of(msgspec.json.encode(secrets)),
        "secret_keys": sorted(secrets),
        "masked": mask_secrets(secrets),
    }


def decrypt_secrets(ctx: Context, credential: Credential) -> JsonObject:
    """Return the secrets exactly as they were entered."""
    secrets: JsonObject = msgspec.json.decode(credential.secrets.open(ctx.instance.ring))
    return secrets


def decrypt_with_defaults(ctx: Context, credential: Credential) -> JsonObject:
    """Return the secrets with the defaults of their type."""
    return with_defaults(credential.type, decrypt_secrets(ctx, credential))
