"""Headers of a tool's HTTP calls, from its configuration and from the input."""

from collections.abc import Mapping
from typing import Any

from retinue.kit.egress import EgressRefused, check_custom_headers
from retinue.kit.errors import Invalid
from retinue.tools.executors.urls import as_text


def header_texts(headers: Mapping[str, Any] | None) -> dict[str, str]:
    """Values as they are sent; a header without a value is left out."""
    return {name: as_text(value) for name, value in (headers or {}).items() if value is not None}


def checked_headers(headers: Mapping[str, Any], field: str) -> dict[str, str]:
    """Headers with something of the input in them: none that frames the message or carries another inside."""
    for name, value in headers.items():
        if isinstance(value, dict | list):
            raise Invalid({f"{field}.{name}": "must be a text, a number or a boolean"})
    texts = header_texts(headers)
    try:
        check_custom_headers(texts)
    except EgressRefused as error:
        raise Invalid({field: error.message}) from None
    return texts


def merged_headers(*layers: Mapping[str, str]) -> dict[str, str]:
    """Later layers win, whatever the case their names are written in."""
    merged: dict[str, tuple[str, str]] = {}
    for layer in layers:
        merged |= {name.lower(): (name, value) for name, value in layer.items()}
    return dict(merged.values())


def content_type(headers: Mapping[str, str]) -> str:
    return next((value for name, value in headers.items() if name.lower() == "content-type"), "")
