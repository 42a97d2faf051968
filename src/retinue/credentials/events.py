from typing import Any, Self

from retinue.kit.events.declare import Event, event
from retinue.kit.json_types import JsonObject

# Every event of this domain is audited as `system.credential.<action>`.
PREFIX = "system.credential."

_EXAMPLE = {"credential_id": "cred_…", "credential_name": "CRM key"}


class CredentialEvent(Event, kw_only=True):
    """Includes the name, so that it is known after the credential is deleted."""

    credential_id: str
    credential_name: str

    @classmethod
    def about(cls, credential: Any, **more: Any) -> Self:
        return cls(credential_id=credential.id, credential_name=credential.name, **more)


@event(PREFIX + "created", subject="credential_id", audited=True, example={**_EXAMPLE, "type": "api_key"})
class CredentialCreated(CredentialEvent, kw_only=True):
    """A credential was created."""

    type: str


@event(PREFIX + "updated", subject="credential_id", audited=True, example={**_EXAMPLE, "changed": ["name"]})
class CredentialUpdated(CredentialEvent, kw_only=True):
    """The name, description, metadata or expiry of a credential was changed."""

    changed: list[str]


@event(
    PREFIX + "secrets_updated",
    subject="credential_id",
    audited=True,
    example={**_EXAMPLE, "changed": ["api_key"], "version": 2},
)
class CredentialSecretsUpdated(CredentialEvent, kw_only=True):
    """Secrets of a credential were replaced or removed."""

    changed: list[str]
    version: int


@event(PREFIX + "deleted", subject="credential_id", audited=True, example=_EXAMPLE)
class CredentialDeleted(CredentialEvent, kw_only=True):
    """A credential and its secrets were deleted."""


@event(
    PREFIX + "revealed",
    subject="credential_id",
    audited=True,
    listed=False,
    example={**_EXAMPLE, "keys": ["api_key"]},
)
class CredentialRevealed(CredentialEvent, kw_only=True):
    """Someone read the secrets of a credential."""

    keys: list[str]


@event(PREFIX + "used", subject="credential_id", audited=True, listed=False, example={**_EXAMPLE, "via": {}})
class CredentialUsed(CredentialEvent, kw_only=True):
    """A tool, channel or provider key used a credential."""

    via: JsonObject


@event(PREFIX + "access_denied", subject="credential_id", audited=True, example={**_EXAMPLE, "via": {}})
class CredentialAccessRefused(CredentialEvent, kw_only=True):
    """The use of a credential, or its use at a destination, was denied."""

    via: JsonObject


@event(PREFIX + "tested", subject="credential_id", audited=True, listed=False, example=_EXAMPLE)
class CredentialTested(CredentialEvent, kw_only=True):
    """A credential was tested."""


@event(PREFIX + "refreshed", subject="credential_id", audited=True, listed=False, example=_EXAMPLE)
class CredentialRefreshed(CredentialEvent, kw_only=True):
    """The access token of a credential was renewed."""


@event(PREFIX + "refresh_failed", subject="credential_id", audited=True, example=_EXAMPLE)
class CredentialRefreshFailed(CredentialEvent, kw_only=True):
    """The access token of a credential could not be renewed."""


@event(
    PREFIX + "access_granted",
    subject="credential_id",
    audited=True,
    example={**_EXAMPLE, "rule_id": "cra_…", "integration": {"type": "tool", "id": "tool_…"}},
)
class CredentialAccessGranted(CredentialEvent, kw_only=True):
    """An access rule was added to a credential, or its expiry was changed."""

    rule_id: str
    integration: dict[str, str]


@event(
    PREFIX + "access_revoked",
    subject="credential_id",
    audited=True,
    example={**_EXAMPLE, "rule_id": "cra_…", "integration": {"type": "tool", "id": "tool_…"}},
)
class CredentialAccessRevoked(CredentialEvent, kw_only=True):
    """An access rule was removed from a credential."""

    rule_id: str
    integration: dict[str, str]


@event(
    PREFIX + "destination_added",
    subject="credential_id",
    audited=True,
    example={**_EXAMPLE, "destination": "https://api.example.com"},
)
class CredentialDestinationAdded(CredentialEvent, kw_only=True):
    """A destination was added to those a credential may be sent to."""

    destination: str


@event(
    PREFIX + "expiring",
    subject="credential_id",
    audited=True,
    example={**_EXAMPLE, "expires_at": "2026-12-01T00:00:00.000000Z"},
)
class CredentialExpiring(CredentialEvent, kw_only=True):
    """A credential expires within a week."""

    expires_at: str


@event(
    PREFIX + "expired",
    subject="credential_id",
    audited=True,
    example={**_EXAMPLE, "expires_at": "2026-12-01T00:00:00.000000Z"},
)
class CredentialExpired(CredentialEvent, kw_only=True):
    """A credential has expired and can no longer be used."""

    expires_at: str
