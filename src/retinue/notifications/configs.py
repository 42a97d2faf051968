"""The configuration of a channel: masking, sealing, and where its secrets may be sent (ADR 8)."""

from collections.abc import Callable

import msgspec
from msgspec import UNSET

from retinue.adapters.notifiers import (
    NOTIFIERS,
    ConfigKey,
    InvalidConfig,
    Notifier,
    find_notifier,
    validate_config,
)
from retinue.credentials import destinations
from retinue.credentials.models import Credential
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.egress import Egress
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.unknown_keys import join_path
from retinue.kit.text.header_masks import MASK, mask_config_headers, restore_masked_headers
from retinue.notifications.models import RECIPIENT_KEYS, Channel, ChannelType
from retinue.notifications.schemas import ConfigKeyOut, NotificationProvider

REVEAL_PERMISSION = "notification_channels:reveal"
CREDENTIAL_KEY = "credential_id"

_MAX_CONFIG_BYTES = 32 * 1024
_SMTP_PORT, _SMTPS_PORT = 587, 465
# Where the secrets of hosted services are sent; for other providers, the configuration says it.
_SERVICE_URLS = {
    "sendgrid": "https://api.sendgrid.com",
    "mailgun": "https://api.mailgun.net",
    "ses": "https://email.us-east-1.amazonaws.com",
    "slack_bot": "https://slack.com",
    "twilio": "https://api.twilio.com",
    "vonage": "https://rest.nexmo.com",
}


def list_providers() -> list[NotificationProvider]:
    return [
        NotificationProvider(
            id=provider.id,
            type=ChannelType(provider.type),
            name=provider.name,
            config_schema={name: _shown_key(key) for name, key in provider.config.items()},
        )
        for provider in NOTIFIERS.values()
    ]


def _shown_key(key: ConfigKey) -> ConfigKeyOut:
    return ConfigKeyOut(
        type=key.type,
        required=key.required,
        secret=True if key.secret else UNSET,
        default=key.default if key.default is not None else UNSET,
        choices=list(key.choices) or UNSET,
    )


def choose_provider(type: ChannelType, named: str | None) -> Notifier:
    """Return the provider by id or alias; `in_app` needs none."""
    provider = find_notifier(
        ChannelType.in_app if type is ChannelType.in_app and named is None else named or ""
    )
    if provider is None:
        ids = ", ".join(notifier.id for notifier in NOTIFIERS.values() if notifier.type == type)
        raise InvalidConfig({"provider": f"must be one of {ids}"})
    if provider.type != type:
        raise InvalidConfig(
            {"provider": f"{provider.id} is a provider of the type {provider.type}, not {type}"}
        )
    return provider


def masked_config(ctx: Context, channel: Channel) -> JsonObject:
    """Return the configuration with secrets masked, and headers too unless the caller may change them."""
    config = mask_config_headers(ctx.principal, channel.config, "notification_channels:write")
    return {**config, **dict.fromkeys(channel.secret_keys, MASK), **_credential_entry(channel)}


def full_config(ctx: Context, channel: Channel) -> JsonObject:
    """Return the configuration as it was entered, secrets included."""
    return {**channel.config, **open_secrets(ctx, channel), **_credential_entry(channel)}


def _credential_entry(channel: Channel) -> JsonObject:
    return {CREDENTIAL_KEY: channel.credential_id} if channel.credential_id else {}


def open_secrets(ctx: Context, channel: Channel) -> JsonObject:
    if channel.secrets is None:
        return {}
    secrets: JsonObject = msgspec.json.decode(channel.secrets.open(ctx.instance.ring))
    return secrets


def merge_config(before: JsonObject, changes: JsonObject) -> JsonObject:
    """Merge the given keys into the existing ones; the mask keeps a value and null removes a key."""
    wanted = restore_masked_headers(changes, before)
    after = {**before, **{name: value for name, value in wanted.items() if value != MASK}}
    return {name: value for name, value in after.items() if value is not None}


async def build_config_fields(
    ctx: Context,
    channel: Channel,
    provider: Notifier,
    new_config: JsonObject,
    *,
    are_secrets_pending: bool = False,
) -> JsonObject:
    """Return the channel's fields for a new or changed configuration.

    With `are_secrets_pending`, secrets may be missing: the channel reports that whenever it is used.

    ADR 8: secrets stay bound to the destination they were entered for, unless the caller knows them.
    """
    before = full_config(ctx, channel)
    after = merge_config(before, new_config)
    _report_unknown_keys(ctx, channel, provider, new_config)
    secret_keys = sorted(name for name in after if _is_secret(provider, name))
    credential_id = _read_credential(after, secret_keys, new_config)
    if credential_id is not None:
        # A credential's content is only read when it is used; a channel test then reports what is missing.
        provider = _with_optional_keys(provider, lambda _: True)
    elif are_secrets_pending and any(key.required and name not in after for name, key in _secrets(provider)):
        provider = _with_optional_keys(provider, lambda key: key.secret)
    after = _validate_config(ctx, provider, after)
    secret_keys = [name for name in secret_keys if name in after]
    config = {name: value for name, value in after.items() if name not in (*secret_keys, CREDENTIAL_KEY)}
    secrets = {name: after[name] for name in secret_keys}
    wanted = destination_of(provider.id, config)
    destination = channel.destination
    if credential_id is not None:
        destination = await _admit_credential(ctx, credential_id, wanted, previous=destination)
    elif secrets:
        is_entered = all(name in new_config and new_config[name] != MASK for name in secret_keys)
        is_known = is_entered or ctx.principal.may(REVEAL_PERMISSION)
        destination = destinations.resolve_binding(
            ctx, previous=destination, wanted=wanted, is_entered=is_known
        )
    return {
        "config": config,
        # Unchanged secrets keep their sealed value, so that `updated` events do not report them as changed.
        "secrets": _seal_secrets(ctx, channel, secrets),
        "secret_keys": secret_keys,
        "credential_id": credential_id,
        "destination": destination,
    }


def _seal_secrets(ctx: Context, channel: Channel, secrets: JsonObject) -> Sealed | None:
    if not secrets:
        return None
    if channel.secrets is not None and open_secrets(ctx, channel) == secrets:
        return channel.secrets
    return Sealed.of(msgspec.json.encode(secrets))


def _read_credential(after: JsonObject, secret_keys: list[str], config: JsonObject) -> str | None:
    """Return the credential id, if any. Credential and secrets replace each other; the later entry wins."""
    credential_id = after.get(CREDENTIAL_KEY)
    if credential_id is None:
        return None
    if not isinstance(credential_id, str) or not 0 < len(credential_id) <= 64:
        raise InvalidConfig({CREDENTIAL_KEY: "must be the id of a credential"})
    named = [name for name in secret_keys if config.get(name) not in (None, MASK)]
    if named and CREDENTIAL_KEY in config:
        raise InvalidConfig({CREDENTIAL_KEY: f"cannot be combined with {named[0]}; send only one of them"})
    if named:
        after.pop(CREDENTIAL_KEY)
        return None
    for name in secret_keys:
        after.pop(name)
    return credential_id


def _secrets(provider: Notifier) -> list[tuple[str, ConfigKey]]:
    return [(name, key) for name, key in provider.config.items() if key.secret]


def _with_optional_keys(provider: Notifier, is_optional: Callable[[ConfigKey], bool]) -> Notifier:
    keys = {
        name: msgspec.structs.replace(key, required=key.required and not is_optional(key))
        for name, key in provider.config.items()
    }
    return msgspec.structs.replace(provider, config=keys, check=None)


def _report_unknown_keys(ctx: Context, channel: Channel, provider: Notifier, config: JsonObject) -> None:
    known = (*provider.config, *RECIPIENT_KEYS.get(channel.type, ()), CREDENTIAL_KEY)
    if ctx.caller.ignored is not None:
        ctx.caller.ignored.report([join_path("config", name) for name in config if name not in known])


def _validate_config(ctx: Context, provider: Notifier, config: JsonObject) -> JsonObject:
    """Return the validated configuration without defaults, so that later default changes apply to it."""
    if len(msgspec.json.encode(config)) > _MAX_CONFIG_BYTES:
        raise InvalidConfig({"config": f"must be at most {_MAX_CONFIG_BYTES // 1024} KiB"})
    checked = validate_config(provider, config, ctx.adapter(Egress))
    return {name: checked[name] for name in config if name in checked}


async def _admit_credential(ctx: Context, credential_id: str, destination: str, *, previous: str) -> str:
    credential = await ctx.db.get(Credential, credential_id)
    if credential is None:
        raise InvalidConfig({CREDENTIAL_KEY: "there is no such credential"})
    return destination if await destinations.admit(ctx, credential, destination) else previous


def destination_of(provider_id: str, config: JsonObject) -> str:
    """Return where the channel's secrets are sent; empty if the URL is secret or the credential's."""
    if provider_id == "smtp":
        host = config.get("host")
        return destinations.server_of("smtp", str(host), _smtp_port(config)) if host else ""
    if provider_id == "http":
        return destinations.origin_of(str(config.get("url") or ""))
    service, region = _SERVICE_URLS.get(provider_id, ""), config.get("region")
    if provider_id == "mailgun" and region == "eu":
        service = service.replace("api.", "api.eu.")
    if provider_id == "ses" and region:
        service = service.replace("us-east-1", str(region))
    return destinations.origin_of(service) if service else ""


def _smtp_port(config: JsonObject) -> int:
    is_tls = config.get("encryption") in {"tls", "ssl"}
    return int(config.get("port") or (_SMTPS_PORT if is_tls else _SMTP_PORT))


def _is_secret(provider: Notifier, name: str) -> bool:
    key = provider.config.get(name)
    return key is not None and key.secret
