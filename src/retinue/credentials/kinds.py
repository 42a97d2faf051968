"""The eight types of credentials: which secrets each has, what must be given, what is shown of them."""

from typing import Any

import msgspec

from retinue.credentials.models import CredentialType
from retinue.kit.errors import Invalid

_MOST_KEYS = 50
# What comes back from a call is searched for each of them.
_MOST_TEXTS = 100
_MOST_BYTES = 64 * 1024
_DEEPEST = 8
_DOTS = "••••"


class SecretKey(msgspec.Struct, frozen=True, kw_only=True):
    """One key of a type's secrets; one that is not `secret` tells where to go or who asks."""

    type: str = "string"
    required: bool = False
    secret: bool = True
    description: str = ""
    default: Any = None
    choices: tuple[str, ...] = ()


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """`any_of` are keys of which at least one is needed.

    `destination` are the keys that say where secrets go, and how the way there is secured.
    One that is not testable has no counterpart we know how to talk to.
    """

    type: CredentialType
    name: str
    description: str
    keys: dict[str, SecretKey]
    any_of: tuple[str, ...] = ()
    destination: tuple[str, ...] = ()
    is_testable: bool = True


def _text(description: str, *, required: bool = False, secret: bool = True) -> SecretKey:
    return SecretKey(required=required, secret=secret, description=description)


def _open(
    description: str, *, required: bool = False, type: str = "string", default: Any = None
) -> SecretKey:
    return SecretKey(type=type, required=required, secret=False, description=description, default=default)


def _choice(description: str, *choices: str, default: str | None = None) -> SecretKey:
    return SecretKey(secret=False, description=description, choices=choices, default=default)


KINDS: dict[CredentialType, Kind] = {
    kind.type: kind
    for kind in (
        Kind(
            type=CredentialType.api_key,
            name="API key",
            description="A key that is sent with every request",
            keys={"api_key": _text("The key", required=True)},
        ),
        Kind(
            type=CredentialType.oauth2,
            name="OAuth 2",
            description="A client, its tokens and where they are renewed",
            keys={
                "client_id": _open("The client's id"),
                "client_secret": _text("The client's secret"),
                "access_token": _text("The current access token"),
                "refresh_token": _text("Renews the access token"),
                "token_url": _open("Where tokens are issued"),
                "scopes": _open("What to ask for", type="array"),
            },
            any_of=("client_id", "access_token", "refresh_token"),
            destination=("token_url",),
        ),
        Kind(
            type=CredentialType.basic_auth,
            name="User name and password",
            description="HTTP Basic authentication",
            keys={
                "username": _open("The user's name", required=True),
                "password": _text("The password", required=True),
            },
        ),
        Kind(
            type=CredentialType.bearer_token,
            name="Bearer token",
            description="A token that is sent as Authorization: Bearer",
            keys={"token": _text("The token", required=True)},
        ),
        Kind(
            type=CredentialType.database,
            name="Database",
            description="A login at a PostgreSQL or MySQL server",
            keys={
                "host": _open("Name or address of the server", required=True),
                "port": _open("Port of the server", type="integer"),
                "database": _open("Name of the database"),
                "username": _open("The user's name"),
                "password": _text("The password"),
                "ssl_mode": _choice(
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
        Kind(
            type=CredentialType.ssh,
            name="SSH",
            description="A login at an SSH server",
            keys={
                "host": _open("Name or address of the server", required=True),
                "port": _open("Port of the server", type="integer", default=22),
                "username": _open("The user's name", required=True),
                "private_key": _text("The private key, in PEM or OpenSSH form"),
                "passphrase": _text("Opens the private key"),
                "password": _text("A password instead of a key"),
                "host_key_fingerprint": _open("The server's key, as SHA256:…"),
            },
            destination=("host", "port", "host_key_fingerprint"),
        ),
        Kind(
            type=CredentialType.smtp,
            name="Mail server",
            description="A login at an SMTP server",
            keys={
                "host": _open("Name or address of the server", required=True),
                "port": _open("Port of the server", type="integer", default=587),
                "username": _open("The user's name"),
                "password": _text("The password"),
                "encryption": _choice(
                    "How the connection is secured", "none", "starttls", "tls", default="starttls"
                ),
                "from_email": _open("Sender of the mails"),
                "from_name": _open("Name of the sender"),
            },
            destination=("host", "port", "encryption"),
        ),
        Kind(
            type=CredentialType.custom,
            name="Custom",
            description="Any other secrets, under names of your own",
            keys={},
            is_testable=False,
        ),
    )
}

_CHECKS: dict[str, Any] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65536,
    "array": lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
}
_TYPE_NAMES = {"string": "a text", "integer": "a number from 1 to 65535", "array": "a list of texts"}


def check_secrets(type: CredentialType, secrets: dict[str, Any]) -> None:
    """Refuse secrets that lack what their type needs, or that are too many, too large or too deep."""
    kind, found = KINDS[type], _beyond_limits(secrets)
    if not (secrets or kind.keys):
        found["secrets"] = f"must have 1 to {_MOST_KEYS} keys"
    for name, key in kind.keys.items():
        value = secrets.get(name)
        if value is None or value == "":
            if key.required:
                found[f"secrets.{name}"] = "is required"
        elif not _CHECKS[key.type](value):
            found[f"secrets.{name}"] = f"must be {_TYPE_NAMES[key.type]}"
        elif key.choices and value not in key.choices:
            found[f"secrets.{name}"] = f"must be one of {', '.join(key.choices)}"
    if kind.any_of and not any(secrets.get(name) for name in kind.any_of):
        found[f"secrets.{kind.any_of[0]}"] = f"one of {', '.join(kind.any_of)} is required"
    if found:
        raise Invalid(found)


def _beyond_limits(secrets: dict[str, Any]) -> dict[str, str]:
    if len(secrets) > _MOST_KEYS:
        return {"secrets": f"must have 1 to {_MOST_KEYS} keys"}
    if len(msgspec.json.encode(secrets)) > _MOST_BYTES or depth(secrets) > _DEEPEST:
        return {"secrets": f"must be at most {_MOST_BYTES // 1024} KiB and {_DEEPEST} levels deep"}
    if len(_texts(secrets)) > _MOST_TEXTS:
        return {"secrets": f"must be at most {_MOST_TEXTS} values"}
    return {}


def with_defaults(type: CredentialType, secrets: dict[str, Any]) -> dict[str, Any]:
    defaults = {name: key.default for name, key in KINDS[type].keys.items() if key.default is not None}
    return {**defaults, **secrets}


def is_secret(type: CredentialType, name: str) -> bool:
    """Whether the value of this key must never be shown; an unknown key is taken for a secret."""
    key = KINDS[type].keys.get(name)
    return key is None or key.secret


def hidden_values(type: CredentialType, secrets: dict[str, Any]) -> list[str]:
    """Every text the leak guard has to cut out."""
    return [text for name, value in secrets.items() if is_secret(type, name) for text in _texts(value)]


def masked(secrets: dict[str, Any]) -> dict[str, str]:
    """What is shown of each secret: of a long one its last four characters, of others that it is there."""
    return {name: _mask(value) for name, value in secrets.items()}


def _mask(value: Any) -> str:
    return _DOTS + value[-4:] if isinstance(value, str) and len(value) >= 16 else _DOTS


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _texts(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _texts(inner)]
    if isinstance(value, bool) or value is None:
        return []
    return [str(value)]


def depth(value: Any) -> int:
    """How deep a JSON value is nested; a plain one is 0."""
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max((depth(item) for item in inner), default=0)
    return 0
