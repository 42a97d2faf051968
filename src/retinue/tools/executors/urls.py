"""Input values as parts of a URL: they fill their placeholder and cannot change the rest."""

import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from retinue.kit.egress.destination import MAX_URL_LENGTH
from retinue.kit.errors import Invalid

Pairs = list[tuple[str, str]]


def to_text(value: object) -> str:
    """Return a JSON value as text for a URL, a header or the middle of a text."""
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def encode_segment(value: object, field: str) -> str:
    """Return a value as one path segment, escaped and never empty."""
    if value is None or value == "":
        raise Invalid({field: "is required"})
    if isinstance(value, dict | list):
        raise Invalid({field: "must be text, a number or a boolean"})
    text = to_text(value)
    if len(text) > MAX_URL_LENGTH:
        raise Invalid({field: f"is longer than {MAX_URL_LENGTH} characters"})
    return urllib.parse.quote(text, safe="", errors="replace")


def refuse_path_traversal(path: str, filled: str, field: str) -> None:
    """Refuse values that make a path segment `.` or `..`, which servers resolve to another path."""
    for before, after in zip(path.split("/"), filled.split("/"), strict=True):
        if before != after and urllib.parse.unquote(after.partition("?")[0]) in {".", ".."}:
            raise Invalid({field: "must not make a path segment . or .."})


def query_pairs(query: Mapping[str, Any]) -> Pairs:
    """Return the parameters as pairs; lists repeat the name, nulls are omitted, objects become JSON."""
    pairs: Pairs = []
    for name, value in query.items():
        values: Iterable[Any] = value if isinstance(value, list) else [value]
        pairs += [(name, to_text(item)) for item in values if item is not None]
    return pairs


def add_query(url: str, pairs: Pairs) -> str:
    """Append parameters to a URL and drop its fragment, which is never sent."""
    url = url.partition("#")[0]
    if not pairs:
        return url
    separator = "&" if "?" in url else "?"
    return f"{url}{separator}{urllib.parse.urlencode(pairs, errors='replace')}"
