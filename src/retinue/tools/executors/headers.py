"""Headers of a tool's HTTP calls, from its configuration and the input."""

from collections.abc import Mapping
from typing import Any

from retinue.kit.egress import EgressRefused, check_custom_headers
from retinue.kit.errors import Invalid
from retinue.tools.executors.urls import to_text


def header_texts(headers: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the values as text, without headers that are null."""
    return {name: to_text(value) for name, value in (headers or {}).items() if value is not None}


def validate_headers(headers: Mapping[str, Any], field: str) -> dict[str, str]:
    """Return headers that contain input as text; refuse framing headers and header injection."""
    for name, value in headers.items():
        if isinstance(value, dict | list):
            raise Invalid({f"{field}.{name}": "must be text, a number or a boolean"})
    texts = header_texts(headers)
    try:
        check_custom_headers(texts)
    except EgressRefused as error:
        raise Invalid({field: error.message}) from None
    return texts


def merge_headers(*layers: Mapping[str, str]) -> dict[str, str]:
    """Merge the layers; later ones win, and names are compared case-insensitively."""
    merged: dict[str, tuple[str, str]] = {}
    for layer in layers:
        merged |= {name.lower(): (name, value) for name, value in layer.items()}
    return dict(merged.values())


def content_type(headers: Mapping[str, str]) -> str:
    return next((value for name, value in headers.items() if name.lower() == "content-type"), "")
