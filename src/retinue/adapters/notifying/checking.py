"""The configuration of a channel, checked before it is stored and again before it is used."""

import re
from collections.abc import Mapping
from typing import Any

from retinue.adapters.mail.message import recipient
from retinue.adapters.notifying.errors import InvalidConfig
from retinue.adapters.notifying.sending import ConfigKey, Provider
from retinue.kit.egress import Egress, EgressRefused, check_custom_headers, read_destination
from retinue.kit.egress.hosts import parse_host
from retinue.kit.errors import Invalid

CREDENTIAL = "credential_id"

_LONGEST = 8192
_MOST_HEADERS = 50
_PATTERNS = {
    "domain": (re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?", re.ASCII), "must be a domain"),
    "region": (re.compile(r"[a-z]{2}(?:-[a-z]+)+-[0-9]{1,2}", re.ASCII), "must be a region, like eu-west-1"),
    "word": (re.compile(r"[A-Za-z0-9_.-]{1,255}", re.ASCII), "must be one word of letters and digits"),
}


class _Fault(Exception):
    """What is wrong with a value; the message completes a sentence that begins with its key."""


def checked_config(
    provider: Provider, config: Mapping[str, Any], egress: Egress | None = None
) -> dict[str, Any]:
    """The configuration with its defaults; keys that are not known are kept.

    With `credential_id` the secret keys may be missing. Without `egress` an address is only read: whether
    it may be called is then found out when it is.
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
            elif key.required and not (key.secret and config.get(CREDENTIAL)):
                faults[name] = "is required"
            continue
        try:
            checked[name] = _checked(key, value, egress)
        except _Fault as fault:
            faults[name] = str(fault)
    if not isinstance(config.get(CREDENTIAL) or "", str):
        faults[CREDENTIAL] = "must be the id of a credential"
    if not faults and provider.check is not None:
        faults = provider.check(checked, egress)
    if faults:
        raise InvalidConfig(faults)
    return checked


def _checked(key: ConfigKey, value: Any, egress: Egress | None) -> Any:
    """The value as it is stored; a fault says what is wrong with it."""
    if key.type == "integer":
        return _integer(key, value)
    if key.type == "object":
        return _headers(value)
    if not isinstance(value, str):
        raise _Fault("must be text")
    if len(value) > _LONGEST or not value.isprintable():
        raise _Fault(f"must be one line of at most {_LONGEST} characters, without control characters")
    if key.choices:
        return _choice(key, value)
    return _formatted(key, value, egress)


def _integer(key: ConfigKey, value: Any) -> int:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _Fault("must be a whole number")
    if key.format == "port" and not 0 < value < 65536:
        raise _Fault("must be a port from 1 to 65535")
    return value


def _choice(key: ConfigKey, value: str) -> str:
    for choice in key.choices:
        if choice.lower() == value.lower():
            return choice
    raise _Fault(f"must be one of {', '.join(key.choices)}")


def _formatted(key: ConfigKey, value: str, egress: Egress | None) -> str:
    try:
        if key.format == "url":
            _ = read_destination(value) if egress is None else egress.check(value, require_https=True)
        elif key.format == "host":
            parse_host(f"[{value}]" if ":" in value and not value.startswith("[") else value)
        elif key.format == "email" and not recipient(value).isascii():
            raise _Fault("must be a mail address in ASCII before the @")
    except EgressRefused as refused:
        raise _Fault(refused.message) from None
    except Invalid:
        raise _Fault("must be one mail address") from None
    if key.format in _PATTERNS:
        pattern, fault = _PATTERNS[key.format]
        if not pattern.fullmatch(value):
            raise _Fault(fault)
    return value


def _headers(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping) or len(value) > _MOST_HEADERS:
        raise _Fault(f"must be an object of at most {_MOST_HEADERS} headers")
    if not all(isinstance(name, str) and isinstance(text, str) for name, text in value.items()):
        raise _Fault("must have texts for names and values")
    if sum(len(name) + len(text) for name, text in value.items()) > _LONGEST:
        raise _Fault(f"must have at most {_LONGEST} characters in all")
    try:
        check_custom_headers(value)
    except EgressRefused as refused:
        raise _Fault(refused.message) from None
    return dict(value)
