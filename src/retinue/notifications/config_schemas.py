"""The schema of each provider's configuration, for the API reference."""

from retinue.adapters.notifiers import NOTIFIERS, ConfigKey, Notifier
from retinue.adapters.notifiers.channel_config import CREDENTIAL_KEY, FORMAT_PATTERNS
from retinue.kit.context.config_schemas import ConfigSchema
from retinue.kit.json_types import JsonObject
from retinue.notifications.models import RECIPIENT_KEYS, ChannelType

_FORMATS = {"url": "uri", "email": "email"}
_FIELDS = ("ChannelCreate.config", "ChannelUpdate.config")


def _property(key: ConfigKey) -> JsonObject:
    schema: JsonObject = {"type": key.type}
    if key.choices:
        schema["enum"] = list(key.choices)
    if key.default is not None:
        schema["default"] = key.default
    if key.secret:
        schema["writeOnly"] = True
    if key.format == "port":
        schema |= {"minimum": 1, "maximum": 65535}
    elif key.format == "headers":
        schema["additionalProperties"] = {"type": "string"}
    elif key.format in FORMAT_PATTERNS:
        schema["pattern"] = f"^{FORMAT_PATTERNS[key.format][0].pattern}$"
    elif key.format in _FORMATS:
        schema["format"] = _FORMATS[key.format]
    return schema


def _schema(provider: Notifier) -> JsonObject:
    """Return the keys of a provider; with a credential, none of them is required."""
    properties = {name: _property(key) for name, key in provider.config.items()}
    if not properties:
        return {"type": "object", "properties": {}}
    for name in RECIPIENT_KEYS.get(ChannelType(provider.type), ())[:1]:
        properties[name] = {"type": "string"}
    properties[CREDENTIAL_KEY] = {"type": "string", "minLength": 1, "maxLength": 64}
    required = [name for name, key in provider.config.items() if key.required]
    return {
        "type": "object",
        "properties": properties,
        "if": {"required": [CREDENTIAL_KEY]},
        "else": {"required": required},
    }


CONFIG_SCHEMAS = tuple(
    ConfigSchema(
        fields=_FIELDS,
        kind=provider.id,
        schema=_schema(provider),
        name=f"{provider.id.title().replace('_', '')}ChannelConfig",
        description=f"Configuration of a channel with `provider` `{provider.id}` ({provider.name}).",
    )
    for provider in NOTIFIERS.values()
)
