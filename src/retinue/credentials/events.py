from typing import Any, Self

from retinue.kit.events.declare import Event, event

# Every event of this domain is a row of the audit trail under `system.credential.<action>`.
PREFIX = "system.credential."

_EXAMPLE = {"credential_id": "cred_…", "credential_name": "CRM key"}


class CredentialEvent(Event, kw_only=True):
    """The name is stored with the event: it is shown after the credential is gone."""

    credential_id: str
    credential_name: str

    @classmethod
    def about(cls, credential: Any, **more: Any) -> Self:
        return cls(credential_id=credential.id, credential_name=credential.name, **more)


@event(PREFIX + "created", subject="credential_id", audited=True, example={**_EXAMPLE, "type": "api_key"})
class CredentialCreated(CredentialEvent, kw_only=True):
    """A credential was put into the vault."""

    type: str


@event(PREFIX + "updated", subject="credential_id", audited=True, example={**_EXAMPLE, "changed": ["name"]})
class CredentialUpdated(CredentialEvent, kw_only=True):
    """A credential's name, description, metadata or expiry changed."""

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

    via: dict[str, Any]


@event(PREFIX + "access_denied", subject="credential_id", audited=True, example={**_EXAMPLE, "via": {}})
class CredentialAccessRefused(CredentialEvent, kw_only=True):
    """Someone or something wanted a credential that it may not have, or have sent to where it wanted."""

    via: dict[str, Any]


@event(PREFIX + "tested", subject="credential_id", audited=True, listed=False, example=_EXAMPLE)
class CredentialTested(CredentialEvent, kw_only=True):
    """A credential was tried at its counterpart."""


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
    """An integration may use a credential from now on."""

    rule_id: str
    integration: dict[str, str]


@event(
    PREFIX + "access_revoked",
    subject="credential_id",
    audited=True,
    example={**_EXAMPLE, "rule_id": "cra_…", "integration": {"type": "tool", "id": "tool_…"}},
)
class CredentialAccessRevoked(CredentialEvent, kw_only=True):
    """An integration may no longer use a credential."""

    rule_id: str
    integration: dict[str, str]


@event(
    PREFIX + "destination_added",
    subject="credential_id",
    audited=True,
    example={**_EXAMPLE, "destination": "https://api.example.com"},
)
class CredentialDestinationAdded(CredentialEvent, kw_only=True):
    """A credential may be sent to another destination from now on."""

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
    """A credential has expired and is no longer used."""

    expires_at: str
