"""Options as people name them: by value, by label, by number, or somewhere in a sentence."""

import re
from typing import Any

import msgspec

from retinue.forms.conversation.words import EVERYTHING, plain

_BETWEEN = re.compile(r"[,;\n+&]|\b(?:and|und|or|et|y)\b", re.IGNORECASE)
_NUMBERED = re.compile(r"(?:option|number|no\.|nr\.|#)?\s*(\d{1,4})\s*[.)]?", re.IGNORECASE | re.ASCII)
_LEAST_BEGINNING = 3

Json = dict[str, Any]


def choose_exactly(text: str, options: list[Json]) -> Any:
    """The value of the option that is named and nothing else; None for none."""
    said = text.strip()
    for option in options:
        if said in (str(option["value"]), option["label"]):
            return option["value"]
    folded = plain(text)
    named = {
        str(option["value"]): option["value"]
        for option in options
        if folded and folded in (plain(str(option["value"])), plain(option["label"]))
    }
    if len(named) == 1:
        return next(iter(named.values()))
    match = _NUMBERED.fullmatch(said)
    if match is not None and 1 <= int(match[1]) <= len(options):
        return options[int(match[1]) - 1]["value"]
    return None


def choose(text: str, options: list[Json]) -> Any:
    """The one option that is meant; None where it is none, or could be several."""
    exact = choose_exactly(text, options)
    if exact is not None:
        return exact
    found = _mentioned(text, options)
    if len(found) == 1:
        return found[0]
    folded = plain(text)
    if len(folded) >= _LEAST_BEGINNING and not found:
        begun = [option["value"] for option in options if plain(option["label"]).startswith(folded)]
        if len(begun) == 1:
            return begun[0]
    return None


def choose_several_exactly(text: str, options: list[Json]) -> list[Any] | None:
    """A JSON list, or options with commas between them; None where any of it is no option."""
    given = list_in(text)
    if given is not None:
        return given
    if plain(text) in EVERYTHING:
        return [option["value"] for option in options]
    whole = choose_exactly(text, options)
    if whole is not None:
        return [whole]
    chosen = [choose_exactly(part, options) for part in _BETWEEN.split(text) if part.strip()]
    return chosen if chosen and None not in chosen else None


def choose_several(text: str, options: list[Json]) -> list[Any] | None:
    exact = choose_several_exactly(text, options)
    if exact is not None:
        return exact
    return _mentioned(text, options) or None


def _mentioned(text: str, options: list[Json]) -> list[Any]:
    """Options whose labels stand in the text; of `light blue` and `blue`, the longer one where it stands."""
    left = f" {plain(text)} "
    found = []
    for option in sorted(options, key=lambda option: -len(option["label"])):
        label = plain(option["label"])
        pattern = rf"(?<!\w){re.escape(label)}(?!\w)"
        if label and re.search(pattern, left):
            left = re.sub(pattern, " ", left)
            found.append(option["value"])
    order = [option["value"] for option in options]
    return sorted(found, key=order.index)


def list_in(text: str) -> list[Any] | None:
    """What a page sends for several boxes."""
    if not text.lstrip().startswith("["):
        return None
    try:
        return msgspec.json.decode(text, type=list[Any])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
