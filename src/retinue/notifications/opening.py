"""What a channel is used with: its configuration, with its own secrets or those of a credential."""

from typing import Any

import msgspec

from retinue.adapters.notifying import Provider, provider_named
from retinue.credentials import destinations
from retinue.credentials.errors import (
    CredentialAccessDenied,
    CredentialNotFound,
    CredentialUnusable,
    DestinationChanged,
)
from retinue.credentials.models import CredentialType
from retinue.credentials.use import Opened, Purpose, use
from retinue.kit.context import Context
from retinue.notifications import configs
from retinue.notifications.models import Channel

Json = dict[str, Any]

# How `opened` says that a channel cannot be used as things are.
REFUSALS = (CredentialAccessDenied, CredentialNotFound, CredentialUnusable, DestinationChanged)

# What a provider calls the one who asks; a credential with a user's name has it there.
_LOGINS = {"smtp": "username", "ses": "access_key_id", "twilio": "account_sid", "vonage": "api_key"}
# Credentials that are one value.
_VALUES = {
    CredentialType.api_key: "api_key",
    CredentialType.bearer_token: "token",
    CredentialType.oauth2: "access_token",
}
_OF_MAIL_SERVERS = ("host", "port", "username", "password", "encryption", "from_email", "from_name")


class Ready(msgspec.Struct, frozen=True):
    """`hidden` is what must not come back."""

    provider: Provider
    config: Json
    hidden: list[str]

    def __repr__(self) -> str:
        return f"Ready({self.provider.id})"


async def opened(ctx: Context, channel: Channel) -> Ready:
    """Refused where the secrets were not entered for; no transaction may be open."""
    provider = provider_named(channel.provider)
    assert provider is not None, "what a channel was made with stays known"
    destination = configs.destination_of(provider.id, channel.config)
    if channel.credential_id is not None:
        purpose = Purpose(via={"channel_id": channel.id}, destination=destination)
        credential = await use(ctx, channel.credential_id, purpose)
        config = _with_credential(provider, channel.config, credential)
        return Ready(provider, config, credential.hidden)
    secrets = configs.own_secrets(ctx, channel)
    if secrets:
        destinations.require(entered_for=channel.destination, effective=destination)
    hidden = [value for value in secrets.values() if isinstance(value, str)]
    return Ready(provider, {**channel.config, **secrets}, hidden)


def _with_credential(provider: Provider, config: Json, credential: Opened) -> Json:
    secrets = credential.secrets
    secret_keys = [name for name, key in provider.config.items() if key.secret]
    found: Json = {}
    if credential.type in _VALUES:
        found = dict.fromkeys(secret_keys, secrets.get(_VALUES[credential.type]))
    elif credential.type is CredentialType.basic_auth:
        found = dict.fromkeys(secret_keys, secrets["password"])
        found |= {_LOGINS[provider.id]: secrets["username"]} if provider.id in _LOGINS else {}
    elif credential.type is CredentialType.smtp and provider.id == "smtp":
        found = {name: secrets[name] for name in _OF_MAIL_SERVERS if name in secrets}
        if "host" in config:
            # The channel names a server itself: then it is that server, with everything that belongs to it.
            found = {name: found[name] for name in ("username", "password") if name in found}
        return {**found, **config}
    elif credential.type is CredentialType.custom:
        # Only who asks, and how he proves it: the channel says where to.
        names = {*secret_keys, _LOGINS.get(provider.id, "")}
        found = {name: value for name, value in secrets.items() if name in names}
    usable = {name: value for name, value in found.items() if value}
    if not set(secret_keys) & usable.keys():
        raise CredentialUnusable("This credential holds none of the secrets that the channel needs.")
    return {**config, **usable}
