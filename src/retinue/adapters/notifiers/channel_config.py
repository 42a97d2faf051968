"""Validation of a channel's configuration, before it is stored and again before it is used."""

import re
from collections.abc import Mapping
from typing import Any

from retinue.adapters.mail.message import parse_recipient
from retinue.adapters.notifiers.errors import InvalidConfig
from retinue.adapters.notifiers.notifier import ConfigKey, Notifier
from retinue.kit.egress import Egress, EgressRefused, check_custom_headers, read_destination
from retinue.kit.egress.hosts import parse_host
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject

CREDENTIAL_KEY = "credential_id"

_MAX_VALUE_LENGTH = 8192
_MAX_HEADERS = 50
FORMAT_PATTERNS = {
    "domain": (re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?", re.ASCII), "must be a domain"),
    "region": (re.compile(r"[a-z]{2}(?:-[a-z]+)+-[0-9]{1,2}", re.ASCII), "must be a region, like eu-west-1"),
    "word": (re.compile(r"[A-Za-z0-9_.-]{1,255}", re.ASCII), "must be one word without spaces"),
}


class _ConfigFault(Exception):
    """A problem with a value; the message completes a sentence that begins with its key."""


def validate_config(
    provider: Notifier, config: Mapping[str, Any], egress: Egress | None = None
) -> JsonObject:
    """Return the configuration with defaults; unknown keys are kept.

    With `credential_id` the secret keys may be missing. Without `egress` an address is only parsed; whether
    it may be called shows when a message is sent.
    """
    if not isinstance(config, Mapping):
        raise InvalidConfig({"config": "must be an object"})
    checked, faults = dict(config), {}
    for name, key in provider.config.items():
        value = config.get(name)
        if value is None or value == "":
            checked.pop(name, None)
            if key.default is not None:
                checked[name] = key.default
            elif key.required and not (key.secret and config.get(CREDENTIAL_KEY)):
                faults[name] = "is required"
            continue
        try:
            checked[name] = _validate_value(key, value, egress)
        except _ConfigFault as fault:
            faults[name] = str(fault)
    if not isinstance(config.get(CREDENTIAL_KEY) or "", str):
        faults[CREDENTIAL_KEY] = "must be the id of a credential"
    if not faults and provider.check is not None:
        faults = provider.check(checked, egress)
    if faults:
        raise InvalidConfig(faults)
    return checked


def _validate_value(key: ConfigKey, value: object, egress: Egress | None) -> Any:
    """Return the value in the form in which it is stored; raise _ConfigFault if it is invalid."""
    if key.type == "integer":
        return _integer(key, value)
    if key.type == "object":
        return _headers(value)
    if not isinstance(value, str):
        raise _ConfigFault("must be text")
    if len(value) > _MAX_VALUE_LENGTH or not value.isprintable():
        raise _ConfigFault(
            f"must be one line of at most {_MAX_VALUE_LENGTH} characters, without control characters"
        )
    if key.choices:
        return _match_choice(key, value)
    return _validate_format(key, value, egress)


def _integer(key: ConfigKey, value: object) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _ConfigFault("must be a whole number")
    if key.format == "port" and not 0 < value < 65536:
        raise _ConfigFault("must be a port from 1 to 65535")
    return value


def _match_choice(key: ConfigKey, value: str) -> str:
    for choice in key.choices:
        if choice.lower() == value.lower():
            return choice
    raise _ConfigFault(f"must be one of {', '.join(key.choices)}")


def _validate_format(key: ConfigKey, value: str, egress: Egress | None) -> str:
    try:
        if key.format == "url":
            _ = read_destination(value) if egress is None else egress.check(value, require_https=True)
        elif key.format == "host":
            parse_host(f"[{value}]" if ":" in value and not value.startswith("[") else value)
        elif key.format == "email" and not parse_recipient(value).isascii():
            raise _ConfigFault("must be an email address with only ASCII characters before the @")
    except EgressRefused as refused:
        raise _ConfigFault(refused.message) from None
    except Invalid:
        raise _ConfigFault("must be one email address") from None
    if key.format in FORMAT_PATTERNS:
        pattern, fault = FORMAT_PATTERNS[key.format]
        if not pattern.fullmatch(value):
            raise _ConfigFault(fault)
    return value


def _headers(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping) or len(value) > _MAX_HEADERS:
        raise _ConfigFault(f"must be an object of at most {_MAX_HEADERS} headers")
    if not all(isinstance(name, str) and isinstance(text, str) for name, text in value.items()):
        raise _ConfigFault("must have strings for names and values")
    if sum(len(name) + len(text) for name, text in value.items()) > _MAX_VALUE_LENGTH:
        raise _ConfigFault(f"must have at most {_MAX_VALUE_LENGTH} characters in total")
    try:
        check_custom_headers(value)
    except EgressRefused as refused:
        raise _ConfigFault(refused.message) from None
    return dict(value)
