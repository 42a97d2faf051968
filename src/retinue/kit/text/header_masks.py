"""Masking of header values: only callers who may change them see them, others see the names."""

from collections.abc import Mapping
from typing import Any, TypeVar

from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.principal import Principal

MASK = "••••••••"

_NAMES = frozenset({"headers", "default_headers"})

C = TypeVar("C")


def mask_headers(headers: Mapping[str, Any]) -> dict[str, str]:
    return dict.fromkeys(headers, MASK)


def unmask_headers(headers: Mapping[str, Any], stored_headers: Mapping[str, Any]) -> JsonObject:
    """Replace each mask by the stored value of the same header; names are case-insensitive."""
    before = {name.lower(): value for name, value in stored_headers.items()}
    return {
        name: before.get(name.lower(), value) if value == MASK else value for name, value in headers.items()
    }


def require_entered(headers: Mapping[str, Any], field: str) -> None:
    """Refuse a mask that stands for no stored value: it would be sent as the value."""
    if MASK in headers.values():
        raise Invalid({field: "A masked value matches no stored header. Enter the value itself."})


def mask_config_headers(principal: Principal, config: C, permission: str) -> C:
    """Return a configuration with all headers in it masked, unless the caller has the permission."""
    shown: C = config if principal.may(permission) else mask_all_headers(config)
    return shown


def mask_all_headers(config: object) -> Any:
    """Return a configuration with all headers in it masked."""
    if isinstance(config, dict):
        return {name: _without_value(name, value) for name, value in config.items()}
    if isinstance(config, list):
        return [mask_all_headers(item) for item in config]
    return config


def _without_value(name: str, value: object) -> Any:
    if name not in _NAMES:
        return mask_all_headers(value)
    if isinstance(value, dict):
        return mask_headers(value)
    return MASK if value else value


def restore_masked_headers(config: object, stored_config: object) -> Any:
    """Return a configuration sent by a client, with masked headers replaced by their stored values.

    List entries are matched by `id`.
    """
    if isinstance(config, dict) and isinstance(stored_config, dict):
        return {name: _restored_value(name, value, stored_config.get(name)) for name, value in config.items()}
    if isinstance(config, list) and isinstance(stored_config, list):
        before = {item["id"]: item for item in stored_config if _has_id(item)}
        return [
            restore_masked_headers(item, before.get(item["id"])) if _has_id(item) else item for item in config
        ]
    return config


def _restored_value(name: str, value: object, stored_value: object) -> Any:
    if name not in _NAMES or stored_value is None:
        return restore_masked_headers(value, stored_value)
    if isinstance(value, dict) and isinstance(stored_value, dict):
        return unmask_headers(value, stored_value)
    return stored_value if value == MASK else value


def _has_id(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("id"), str)
