"""A channel ready for use: its configuration with its own secrets or those of a credential."""

import msgspec

from retinue.adapters.notifiers import Notifier, find_notifier
from retinue.credentials import destinations
from retinue.credentials.errors import (
    CredentialAccessDenied,
    CredentialNotFound,
    CredentialUnusable,
    DestinationChanged,
)
from retinue.credentials.models import CredentialType
from retinue.credentials.secret_access import CredentialPurpose, OpenedCredential, open_credential
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.notifications import configs
from retinue.notifications.models import Channel

# Errors of `resolve_channel` that retrying does not fix.
CREDENTIAL_REFUSALS = (CredentialAccessDenied, CredentialNotFound, CredentialUnusable, DestinationChanged)

# The configuration key that takes the username of a credential, by provider.
_LOGIN_KEYS = {"smtp": "username", "ses": "access_key_id", "twilio": "account_sid", "vonage": "api_key"}
# The name of the secret in credentials that hold a single value.
_SECRET_NAMES = {
    CredentialType.api_key: "api_key",
    CredentialType.bearer_token: "token",
    CredentialType.oauth2: "access_token",
}
_SMTP_KEYS = ("host", "port", "username", "password", "encryption", "from_email", "from_name")


class ResolvedChannel(msgspec.Struct, frozen=True):
    """`hidden` are the secret values to redact from errors and logs."""

    provider: Notifier
    config: JsonObject
    hidden: list[str]

    def __repr__(self) -> str:
        return f"ResolvedChannel({self.provider.id})"


async def resolve_channel(ctx: Context, channel: Channel) -> ResolvedChannel:
    """Resolve a channel; raise if its secrets were entered for another destination.

    No transaction may be open.
    """
    provider = find_notifier(channel.provider)
    assert provider is not None, "providers of stored channels are never removed"
    destination = configs.destination_of(provider.id, channel.config)
    if channel.credential_id is not None:
        purpose = CredentialPurpose(via={"channel_id": channel.id}, destination=destination)
        credential = await open_credential(ctx, channel.credential_id, purpose)
        config = _with_credential(provider, channel.config, credential)
        return ResolvedChannel(provider, config, credential.hidden)
    secrets = configs.open_secrets(ctx, channel)
    if secrets:
        destinations.require_same_destination(entered_for=channel.destination, effective=destination)
    hidden = [value for value in secrets.values() if isinstance(value, str)]
    return ResolvedChannel(provider, {**channel.config, **secrets}, hidden)


def _with_credential(provider: Notifier, config: JsonObject, credential: OpenedCredential) -> JsonObject:
    secrets = credential.secrets
    secret_keys = [name for name, key in provider.config.items() if key.secret]
    taken: JsonObject = {}
    if credential.type in _SECRET_NAMES:
        taken = dict.fromkeys(secret_keys, secrets.get(_SECRET_NAMES[credential.type]))
    elif credential.type is CredentialType.basic_auth:
        taken = dict.fromkeys(secret_keys, secrets["password"])
        taken |= {_LOGIN_KEYS[provider.id]: secrets["username"]} if provider.id in _LOGIN_KEYS else {}
    elif credential.type is CredentialType.smtp and provider.id == "smtp":
        taken = {name: secrets[name] for name in _SMTP_KEYS if name in secrets}
        if "host" in config:
            # The channel names its own server, so take only the login from the credential.
            taken = {name: taken[name] for name in ("username", "password") if name in taken}
        return {**taken, **config}
    elif credential.type is CredentialType.custom:
        # Take only login and secrets: the destination is the channel's.
        names = {*secret_keys, _LOGIN_KEYS.get(provider.id, "")}
        taken = {name: value for name, value in secrets.items() if name in names}
    usable = {name: value for name, value in taken.items() if value}
    if not set(secret_keys) & usable.keys():
        raise CredentialUnusable(
            "This credential has none of the secrets that the channel needs. Choose another credential."
        )
    return {**config, **usable}
