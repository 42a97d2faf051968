"""Warnings about names in a request that have no effect."""

from collections.abc import Iterable

IGNORED_FIELD_PREFIX = "ignored_field:"


def ignored_field_warnings(unknown_fields: Iterable[str]) -> tuple[str, ...]:
    return tuple(f"{IGNORED_FIELD_PREFIX}{name}" for name in unknown_fields)
