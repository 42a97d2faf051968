"""The types of credentials: their keys, validation and masking."""

from typing import Any

import msgspec

from retinue.credentials.models import CredentialType
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject

_MAX_KEYS = 50
# Bounded, because every response is searched for each value.
_MAX_VALUES = 100
_MAX_SECRETS_BYTES = 64 * 1024
_MAX_DEPTH = 8
_MASK_PREFIX = "••••"


class SecretKey(msgspec.Struct, frozen=True, kw_only=True):
    """One key of a type's secrets; a key that is not `secret` names a server or a user."""

    type: str = "string"
    required: bool = False
    secret: bool = True
    description: str = ""
    default: Any = None
    choices: tuple[str, ...] = ()


class CredentialKind(msgspec.Struct, frozen=True, kw_only=True):
    """A type of credential; at least one of the keys in `any_of` is required.

    `destination` lists the keys that decide where secrets are sent and how the connection is secured.
    A type that is not testable has no known protocol.
    """

    type: CredentialType
    name: str
    description: str
    keys: dict[str, SecretKey]
    any_of: tuple[str, ...] = ()
    destination: tuple[str, ...] = ()
    is_testable: bool = True


def _secret_key(description: str, *, required: bool = False, secret: bool = True) -> SecretKey:
    return SecretKey(required=required, secret=secret, description=description)


def _plain_key(
    description: str, *, required: bool = False, type: str = "string", default: object = None
) -> SecretKey:
    return SecretKey(type=type, required=required, secret=False, description=description, default=default)


def _choice_key(description: str, *choices: str, default: str | None = None) -> SecretKey:
    return SecretKey(secret=False, description=description, choices=choices, default=default)


KINDS: dict[CredentialType, CredentialKind] = {
    kind.type: kind
    for kind in (
        CredentialKind(
            type=CredentialType.api_key,
            name="API key",
            description="A key that is sent with every request",
            keys={"api_key": _secret_key("The key", required=True)},
        ),
        CredentialKind(
            type=CredentialType.oauth2,
            name="OAuth 2",
            description="A client, its tokens and the URL that renews them",
            keys={
                "client_id": _plain_key("The client's id"),
                "client_secret": _secret_key("The client's secret"),
                "access_token": _secret_key("The current access token"),
                "refresh_token": _secret_key("The token that renews the access token"),
                "token_url": _plain_key("URL of the server that issues tokens"),
                "scopes": _plain_key("Scopes to request", type="array"),
            },
            any_of=("client_id", "access_token", "refresh_token"),
            destination=("token_url",),
        ),
        CredentialKind(
            type=CredentialType.basic_auth,
            name="User name and password",
            description="HTTP Basic authentication",
            keys={
                "username": _plain_key("The user's name", required=True),
                "password": _secret_key("The password", required=True),
            },
        ),
        CredentialKind(
            type=CredentialType.bearer_token,
            name="Bearer token",
            description="A token that is sent as Authorization: Bearer",
            keys={"token": _secret_key("The token", required=True)},
        ),
        CredentialKind(
            type=CredentialType.database,
            name="Database",
            description="A login to a PostgreSQL or MySQL server",
            keys={
                "host": _plain_key("Name or address of the server", required=True),
                "port": _plain_key("Port of the server", type="integer"),
                "database": _plain_key("Name of the database"),
                "username": _plain_key("The user's name"),
                "password": _secret_key("The password"),
                "ssl_mode": _choice_key(
                    "How the connection is secured",
                    "disable",
                    "prefer",
                    "require",
                    "verify-ca",
                    "verify-full",
                ),
            },
            destination=("host", "port", "ssl_mode"),
        ),
        CredentialKind(
            type=CredentialType.ssh,
            name="SSH",
            description="A login to an SSH server",
            keys={
                "host": _plain_key("Name or address of the server", required=True),
                "port": _plain_key("Port of the server", type="integer", default=22),
                "username": _plain_key("The user's name", required=True),
                "private_key": _secret_key("The private key, in PEM or OpenSSH form"),
                "passphrase": _secret_key("The passphrase of the private key"),
                "password": _secret_key("A password instead of a key"),
                "host_key_fingerprint": _plain_key("The server's key, as SHA256:…"),
            },
            destination=("host", "port", "host_key_fingerprint"),
        ),
        CredentialKind(
            type=CredentialType.smtp,
            name="Mail server",
            description="A login to an SMTP server",
            keys={
                "host": _plain_key("Name or address of the server", required=True),
                "port": _plain_key("Port of the server", type="integer", default=587),
                "username": _plain_key("The user's name"),
                "password": _secret_key("The password"),
                "encryption": _choice_key(
                    "How the connection is secured", "none", "starttls", "tls", default="starttls"
                ),
                "from_email": _plain_key("Sender of the mails"),
                "from_name": _plain_key("Name of the sender"),
            },
            destination=("host", "port", "encryption"),
        ),
        CredentialKind(
            type=CredentialType.custom,
            name="Custom",
            description="Any other secrets, under names of your own",
            keys={},
            is_testable=False,
        ),
    )
}

_CHECKS: JsonObject = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65536,
    "array": lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
}
_TYPE_NAMES = {"string": "text", "integer": "a number from 1 to 65535", "array": "a list of text values"}


def validate_secrets(type: CredentialType, secrets: JsonObject) -> None:
    """Raise `Invalid` for secrets with missing or invalid keys, or beyond the limits."""
    kind, problems = KINDS[type], _limit_problems(secrets)
    if not (secrets or kind.keys):
        problems["secrets"] = f"must have 1 to {_MAX_KEYS} keys"
    for name, key in kind.keys.items():
        value = secrets.get(name)
        if value is None or value == "":
            if key.required:
                problems[f"secrets.{name}"] = "is required"
        elif not _CHECKS[key.type](value):
            problems[f"secrets.{name}"] = f"must be {_TYPE_NAMES[key.type]}"
        elif key.choices and value not in key.choices:
            problems[f"secrets.{name}"] = f"must be one of {', '.join(key.choices)}"
    if kind.any_of and not any(secrets.get(name) for name in kind.any_of):
        problems[f"secrets.{kind.any_of[0]}"] = f"one of {', '.join(kind.any_of)} is required"
    if problems:
        raise Invalid(problems)


def _limit_problems(secrets: JsonObject) -> dict[str, str]:
    if len(secrets) > _MAX_KEYS:
        return {"secrets": f"must have 1 to {_MAX_KEYS} keys"}
    if len(msgspec.json.encode(secrets)) > _MAX_SECRETS_BYTES or depth(secrets) > _MAX_DEPTH:
        return {"secrets": f"must be at most {_MAX_SECRETS_BYTES // 1024} KiB and {_MAX_DEPTH} levels deep"}
    if len(_texts(secrets)) > _MAX_VALUES:
        return {"secrets": f"must have at most {_MAX_VALUES} values"}
    return {}


def with_defaults(type: CredentialType, secrets: JsonObject) -> JsonObject:
    defaults = {name: key.default for name, key in KINDS[type].keys.items() if key.default is not None}
    return {**defaults, **secrets}


def is_secret(type: CredentialType, name: str) -> bool:
    """Return whether the value of this key must never be shown; unknown keys are secret."""
    key = KINDS[type].keys.get(name)
    return key is None or key.secret


def values_to_redact(type: CredentialType, secrets: JsonObject) -> list[str]:
    """Return every text that must be redacted."""
    return [text for name, value in secrets.items() if is_secret(type, name) for text in _texts(value)]


def mask_secrets(secrets: JsonObject) -> dict[str, str]:
    """Return a mask for each secret; a long one keeps its last four characters."""
    return {name: _mask(value) for name, value in secrets.items()}


def _mask(value: object) -> str:
    return _MASK_PREFIX + value[-4:] if isinstance(value, str) and len(value) >= 16 else _MASK_PREFIX


def _texts(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _texts(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    if isinstance(value, bool) or value is None:
        return []
    return [str(value)]


def depth(value: object) -> int:
    """Return the nesting depth of a JSON value; a scalar has 0."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max((depth(item) for item in inner), default=0)
    return 0
