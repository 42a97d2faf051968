"""Values from the input as parts of a URL: they fill the place they were given and never leave it."""

import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from retinue.kit.egress.destination import MAX_URL_LENGTH
from retinue.kit.errors import Invalid

Pairs = list[tuple[str, str]]


def as_text(value: Any) -> str:
    """A JSON value as it stands in a URL, a header or in the middle of a text."""
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def encoded(value: Any, field: str) -> str:
    """A value as one segment of a path: nothing in it can end the segment, and there is something in it."""
    if value is None or value == "":
        raise Invalid({field: "is required"})
    if isinstance(value, dict | list):
        raise Invalid({field: "must be a text, a number or a boolean"})
    text = as_text(value)
    if len(text) > MAX_URL_LENGTH:
        raise Invalid({field: f"is longer than {MAX_URL_LENGTH} characters"})
    return urllib.parse.quote(text, safe="", errors="replace")


def refuse_steps(path: str, filled: str, field: str) -> None:
    """Refuse a path in which values came out as `.` or `..`, which a server would follow elsewhere."""
    for before, after in zip(path.split("/"), filled.split("/"), strict=True):
        if before != after and urllib.parse.unquote(after.partition("?")[0]) in {".", ".."}:
            raise Invalid({field: "may not step to another place of the path"})


def query_pairs(query: Mapping[str, Any]) -> Pairs:
    """A list repeats its name, nothing leaves it out, and an object is sent as JSON."""
    pairs: Pairs = []
    for name, value in query.items():
        values: Iterable[Any] = value if isinstance(value, list) else [value]
        pairs += [(name, as_text(item)) for item in values if item is not None]
    return pairs


def with_query(url: str, pairs: Pairs) -> str:
    """The URL with these parameters after its own; a fragment means nothing to a server and goes."""
    url = url.partition("#")[0]
    if not pairs:
        return url
    joint = "&" if "?" in url else "?"
    return f"{url}{joint}{urllib.parse.urlencode(pairs, errors='replace')}"
