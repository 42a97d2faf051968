"""Parsers of the values of settings; a `ValueError` completes the sentence that the name begins."""

import ipaddress
import ssl
from collections.abc import Callable
from pathlib import Path

import msgspec

from retinue.kit.machine import available_cores
from retinue.kit.network_addresses import split_url
from retinue.kit.schema.base import Email
from retinue.kit.secrets import Secret

_MAX_TURN_SECONDS = 3600


def choice(*allowed: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return text

    return parse


def boolean(text: str) -> bool:
    lowered = text.lower()
    if lowered in {"1", "on", "true", "yes"}:
        return True
    if lowered in {"0", "off", "false", "no", ""}:
        return False
    raise ValueError("must be on or off")


def comma_separated(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def numbers(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in comma_separated(text))


def argon2_cost(text: str) -> tuple[int, ...]:
    cost = numbers(text)
    if len(cost) != 3 or min(cost) < 1:
        raise ValueError("must be three whole numbers: memory in KiB, passes, lanes")
    return cost


def http_url(text: str) -> str:
    parts = split_url(text)
    if text and (
        parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment
    ):
        raise ValueError("must be a URL such as https://retinue.example.com")
    return text


def networks(text: str) -> tuple[str, ...]:
    for word in comma_separated(text):
        ipaddress.ip_network(word, strict=False)
    return comma_separated(text)


def email_address(text: str) -> str:
    # The same rule as at sign-in; otherwise the administrator could not sign in.
    try:
        return msgspec.convert(text.strip(), Email)
    except msgspec.ValidationError:
        raise ValueError("must be an e-mail address such as ada@example.com") from None


def positive_integer(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError("must be at least 1")
    return number


def process_count(text: str) -> int:
    return available_cores() if text.strip().lower() == "auto" else positive_integer(text)


def fraction(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise ValueError("must be a number from 0 to 1")
    return value


def seconds_of_turn(text: str) -> int:
    number = int(text)
    if not 1 <= number <= _MAX_TURN_SECONDS:
        raise ValueError(f"must be between 1 and {_MAX_TURN_SECONDS}")
    return number


def pem_file(text: str) -> Path | None:
    if not text:
        return None
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(text)
    except OSError:
        raise ValueError("must be a readable file of certificates in PEM format") from None
    return Path(text)


def proxy_url(text: str) -> Secret | None:
    """Return the URL of a proxy; the scheme may be missing, as in other programs."""
    if not text:
        return None
    url = text if "://" in text else f"http://{text}"
    problem = ValueError("must be a URL such as http://proxy.example.com:3128")
    try:
        parts = split_url(url)
        is_valid = parts.scheme == "http" and parts.hostname and parts.port != 0
    except ValueError:
        raise problem from None
    if not is_valid or parts.path not in {"", "/"} or parts.query or parts.fragment:
        raise problem
    return Secret(url)


def host_and_port(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise ValueError("must be host:port, for example 127.0.0.1:9464")
    return host.strip("[]"), int(port)
