"""Matches options as people name them: by value, label or number, or within a sentence."""

import re
from typing import Any

import msgspec

from retinue.forms.conversation.vocabulary import ALL_WORDS, normalize
from retinue.kit.json_types import JsonObject

_SEPARATORS = re.compile(r"[,;\n+&]|\b(?:and|und|or|et|y)\b", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:option|number|no\.|nr\.|#)?\s*(\d{1,4})\s*[.)]?", re.IGNORECASE | re.ASCII)
_MIN_PREFIX_LENGTH = 3


def match_exactly(text: str, options: list[JsonObject]) -> Any:
    """Return the value of the option that the text names and nothing else, or None."""
    stripped = text.strip()
    for option in options:
        if stripped in (str(option["value"]), option["label"]):
            return option["value"]
    folded = normalize(text)
    named = {
        str(option["value"]): option["value"]
        for option in options
        if folded and folded in (normalize(str(option["value"])), normalize(option["label"]))
    }
    if len(named) == 1:
        return next(iter(named.values()))
    match = _NUMBERED.fullmatch(stripped)
    if match is not None and 1 <= int(match[1]) <= len(options):
        return options[int(match[1]) - 1]["value"]
    return None


def match_option(text: str, options: list[JsonObject]) -> Any:
    """Return the one option that is meant; None if there is none or it is ambiguous."""
    exact = match_exactly(text, options)
    if exact is not None:
        return exact
    mentioned = _find_mentioned(text, options)
    if len(mentioned) == 1:
        return mentioned[0]
    folded = normalize(text)
    if len(folded) >= _MIN_PREFIX_LENGTH and not mentioned:
        prefix_matches = [
            option["value"] for option in options if normalize(option["label"]).startswith(folded)
        ]
        if len(prefix_matches) == 1:
            return prefix_matches[0]
    return None


def match_all_exactly(text: str, options: list[JsonObject]) -> list[Any] | None:
    """Return options from a JSON list or a comma-separated text; None if any part is no option."""
    given = parse_json_list(text)
    if given is not None:
        return given
    if normalize(text) in ALL_WORDS:
        return [option["value"] for option in options]
    whole = match_exactly(text, options)
    if whole is not None:
        return [whole]
    chosen = [match_exactly(part, options) for part in _SEPARATORS.split(text) if part.strip()]
    return chosen if chosen and None not in chosen else None


def match_options(text: str, options: list[JsonObject]) -> list[Any] | None:
    exact = match_all_exactly(text, options)
    if exact is not None:
        return exact
    return _find_mentioned(text, options) or None


def _find_mentioned(text: str, options: list[JsonObject]) -> list[Any]:
    """Return options whose labels occur in the text. Longer labels win: `light blue` over `blue`."""
    remaining = f" {normalize(text)} "
    mentioned = []
    for option in sorted(options, key=lambda option: -len(option["label"])):
        label = normalize(option["label"])
        pattern = rf"(?<!\w){re.escape(label)}(?!\w)"
        if label and re.search(pattern, remaining):
            remaining = re.sub(pattern, " ", remaining)
            mentioned.append(option["value"])
    order = [option["value"] for option in options]
    return sorted(mentioned, key=order.index)


def parse_json_list(text: str) -> list[Any] | None:
    """Parse the JSON list that a page sends for several checkboxes."""
    if not text.lstrip().startswith("["):
        return None
    try:
        return msgspec.json.decode(text, type=list[Any])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
