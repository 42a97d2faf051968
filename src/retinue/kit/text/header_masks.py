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


def unmask_headers(given: Mapping[str, Any], known: Mapping[str, Any]) -> JsonObject:
    """Replace each mask by the stored value of the same header; names are case-insensitive."""
    before = {name.lower(): value for name, value in known.items()}
    return {
        name: before.get(name.lower(), value) if value == MASK else value for name, value in given.items()
    }


def require_entered(headers: Mapping[str, Any], field: str) -> None:
    """Refuse a mask that stands for no stored value: it would be sent as the value."""
    if MASK in headers.values():
        raise Invalid({field: "A masked value matches no stored header. Enter the value itself."})


def mask_config_headers(principal: Principal, config: C, permission: str) -> C:
    """Return a configuration with all headers in it masked, unless the caller has the permission."""
    shown: C = config if principal.may(permission) else _without_values(config)
    return shown


def _without_values(config: object) -> Any:
    if isinstance(config, dict):
        return {name: _without_value(name, value) for name, value in config.items()}
    if isinstance(config, list):
        return [_without_values(item) for item in config]
    return config


def _without_value(name: str, value: object) -> Any:
    if name not in _NAMES:
        return _without_values(value)
    if isinstance(value, dict):
        return mask_headers(value)
    return MASK if value else value


def restore_masked_headers(given: object, known: object) -> Any:
    """Return a configuration sent by a client, with masked headers replaced by their stored values.

    List entries are matched by `id`.
    """
    if isinstance(given, dict) and isinstance(known, dict):
        return {name: _restored_value(name, value, known.get(name)) for name, value in given.items()}
    if isinstance(given, list) and isinstance(known, list):
        before = {item["id"]: item for item in known if _has_id(item)}
        return [
            restore_masked_headers(item, before.get(item["id"])) if _has_id(item) else item for item in given
        ]
    return given


def _restored_value(name: str, value: object, known: object) -> Any:
    if name not in _NAMES or known is None:
        return restore_masked_headers(value, known)
    if isinstance(value, dict) and isinstance(known, dict):
        return unmask_headers(value, known)
    return known if value == MASK else value


def _has_id(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("id"), str)
