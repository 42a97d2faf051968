"""The configuration of a channel: what is shown of it, what is sealed, and where its secrets may go."""

from typing import Any

import msgspec
from msgspec import UNSET

from retinue.adapters.notifying import (
    PROVIDERS,
    ConfigKey,
    InvalidConfig,
    Provider,
    checked_config,
    provider_named,
)
from retinue.credentials import destinations
from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.egress import Egress
from retinue.notifications.models import Channel, ChannelType
from retinue.notifications.schemas import ConfigKeyOut, NotificationProvider

MASK = "••••••••"
REVEAL = "notification_channels:reveal"
CREDENTIAL = "credential_id"

_MOST_BYTES = 32 * 1024
_SMTP_PORT, _SMTPS_PORT = 587, 465
# Where the secrets of a hosted service go; of the others their own configuration says it.
_SERVICES = {
    "sendgrid": "https://api.sendgrid.com",
    "mailgun": "https://api.mailgun.net",
    "ses": "https://email.us-east-1.amazonaws.com",
    "slack_bot": "https://slack.com",
    "twilio": "https://api.twilio.com",
    "vonage": "https://rest.nexmo.com",
}

Json = dict[str, Any]


def providers() -> list[NotificationProvider]:
    return [
        NotificationProvider(
            id=provider.id,
            type=ChannelType(provider.type),
            name=provider.name,
            config_schema={name: _shown_key(key) for name, key in provider.config.items()},
        )
        for provider in PROVIDERS.values()
    ]


def _shown_key(key: ConfigKey) -> ConfigKeyOut:
    return ConfigKeyOut(
        type=key.type,
        required=key.required,
        secret=True if key.secret else UNSET,
        default=key.default if key.default is not None else UNSET,
        choices=list(key.choices) or UNSET,
    )


def choose_provider(type: ChannelType, named: str | None) -> Provider:
    """The provider by its id or an alias; notifications inside the product need none."""
    found = provider_named(
        ChannelType.in_app if type is ChannelType.in_app and named is None else named or ""
    )
    if found is None:
        known = ", ".join(one.id for one in PROVIDERS.values() if one.type == type)
        raise InvalidConfig({"provider": f"must be one of {known}"})
    if found.type != type:
        raise InvalidConfig({"provider": f"{found.id} is a provider of the type {found.type}, not {type}"})
    return found


def shown(channel: Channel) -> Json:
    """The configuration with a mask for every secret."""
    return {**channel.config, **dict.fromkeys(channel.secret_keys, MASK), **_credential(channel)}


def whole(ctx: Context, channel: Channel) -> Json:
    """The configuration as it was entered."""
    return {**channel.config, **own_secrets(ctx, channel), **_credential(channel)}


def _credential(channel: Channel) -> Json:
    return {CREDENTIAL: channel.credential_id} if channel.credential_id else {}


def own_secrets(ctx: Context, channel: Channel) -> Json:
    if channel.secrets is None:
        return {}
    secrets: Json = msgspec.json.decode(channel.secrets.open(ctx.instance.ring))
    return secrets


def merged(before: Json, given: Json) -> Json:
    """The given keys over those there were: the mask leaves a value as it is, null takes its key away."""
    after = {**before, **{name: value for name, value in given.items() if value != MASK}}
    return {name: value for name, value in after.items() if value is not None}


async def entered(ctx: Context, channel: Channel, provider: Provider, given: Json) -> Json:
    """The fields of a channel that follow from what was entered of its configuration.

    Secrets stay bound to where they were entered for, as long as nobody who knows them sends them elsewhere.
    """
    before = whole(ctx, channel)
    after = merged(before, given)
    secret_keys = sorted(name for name in after if _is_secret(provider, name))
    credential_id = _read_credential(after, secret_keys, given)
    after = _checked(ctx, provider, after, has_credential=credential_id is not None)
    secret_keys = [name for name in secret_keys if name in after]
    config = {name: value for name, value in after.items() if name not in (*secret_keys, CREDENTIAL)}
    secrets = {name: after[name] for name in secret_keys}
    wanted = destination_of(provider.id, config)
    destination = channel.destination
    if credential_id is not None:
        destination = await _admitted(ctx, credential_id, wanted, previous=destination)
    elif secrets:
        is_entered = all(name in given and given[name] != MASK for name in secret_keys)
        is_known = is_entered or ctx.principal.may(REVEAL)
        destination = destinations.bound(ctx, previous=destination, wanted=wanted, is_entered=is_known)
    return {
        "config": config,
        # The same secrets stay as they are sealed, so that an update which changes none shows none changed.
        "secrets": _sealed(ctx, channel, secrets),
        "secret_keys": secret_keys,
        "credential_id": credential_id,
        "destination": destination,
    }


def _sealed(ctx: Context, channel: Channel, secrets: Json) -> Sealed | None:
    if not secrets:
        return None
    if channel.secrets is not None and own_secrets(ctx, channel) == secrets:
        return channel.secrets
    return Sealed.of(msgspec.json.encode(secrets))


def _read_credential(after: Json, secret_keys: list[str], given: Json) -> str | None:
    """A credential takes the place of the secrets; secrets that are given take the place of a credential."""
    credential_id = after.get(CREDENTIAL)
    if credential_id is None:
        return None
    if not isinstance(credential_id, str) or not 0 < len(credential_id) <= 64:
        raise InvalidConfig({CREDENTIAL: "must be the id of a credential"})
    named = [name for name in secret_keys if given.get(name) not in {None, MASK}]
    if named and CREDENTIAL in given:
        raise InvalidConfig({CREDENTIAL: f"give either {named[0]} or credential_id"})
    if named:
        after.pop(CREDENTIAL)
        return None
    for name in secret_keys:
        after.pop(name)
    return credential_id


def _checked(ctx: Context, provider: Provider, config: Json, *, has_credential: bool) -> Json:
    """The configuration as it is kept: what was entered, without defaults, which may yet change."""
    if len(msgspec.json.encode(config)) > _MOST_BYTES:
        raise InvalidConfig({"config": f"must be at most {_MOST_BYTES // 1024} KiB"})
    if has_credential:
        # What the credential holds is known when it is used; a test of the channel then says what is missing.
        keys = {name: msgspec.structs.replace(key, required=False) for name, key in provider.config.items()}
        provider = msgspec.structs.replace(provider, config=keys, check=None)
    checked = checked_config(provider, config, ctx.adapter(Egress))
    return {name: checked[name] for name in config if name in checked}


async def _admitted(ctx: Context, credential_id: str, wanted: str, *, previous: str) -> str:
    credential = await ctx.db.get(Credential, credential_id)
    if credential is None:
        raise InvalidConfig({CREDENTIAL: "there is no such credential"})
    return wanted if await destinations.admit(ctx, credential, wanted) else previous


def destination_of(provider_id: str, config: Json) -> str:
    """Where the secrets of a channel go; nothing where the address is the secret, or the credential's."""
    if provider_id == "smtp":
        host = config.get("host")
        return destinations.server_of("smtp", str(host), _smtp_port(config)) if host else ""
    if provider_id == "http":
        return destinations.origin_of(str(config.get("url") or ""))
    service, region = _SERVICES.get(provider_id, ""), config.get("region")
    if provider_id == "mailgun" and region == "eu":
        service = service.replace("api.", "api.eu.")
    if provider_id == "ses" and region:
        service = service.replace("us-east-1", str(region))
    return destinations.origin_of(service) if service else ""


def _smtp_port(config: Json) -> int:
    is_tls = config.get("encryption") in {"tls", "ssl"}
    return int(config.get("port") or (_SMTPS_PORT if is_tls else _SMTP_PORT))


def _is_secret(provider: Provider, name: str) -> bool:
    key = provider.config.get(name)
    return key is not None and key.secret
