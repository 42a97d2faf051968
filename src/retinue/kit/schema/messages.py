"""Translates msgspec's validation messages into sentences for people; only this module parses them."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "decimal": "a decimal number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "datetime": "a date and time such as 2026-11-15T08:30:00Z",
    "date": "a date such as 2026-11-15",
    "time": "a time such as 08:30:00Z",
    "duration": "a duration such as PT15M",
    "uuid": "a UUID",
    "bytes": "base64 text",
    "null": "null",
}
_UNITS = {
    "str": ("character", "characters"),
    "bytes": ("byte", "bytes"),
    "array": ("item", "items"),
    "object": ("entry", "entries"),
}
_BOUNDS = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}

WRONG_FORM = "does not have the required format"
REQUIRED = "is required"


class FieldRule(msgspec.Struct, frozen=True):
    """A rule of a field that no schema can express, placed next to its type.

    It returns the problem of a value, or nothing. Whoever uses the value checks it too: here it only names
    the problem together with those that the schema finds in other fields.
    """

    problem: Callable[[Any], str]


class PatternMessage(msgspec.Struct, frozen=True):
    """The error message of a pattern, placed next to it in the annotated type."""

    sentence: str


def one_of_message(choices: list[str]) -> str:
    return f"must be one of {', '.join(choices)}"


def _type(match: re.Match[str]) -> str:
    wanted = match["wanted"].split(" | ")
    if "float" in wanted:
        wanted = [kind for kind in wanted if kind != "int"]
    named = list(dict.fromkeys(_KINDS.get(kind, "a value of another type") for kind in wanted))
    listed = " or ".join(filter(None, (", ".join(named[:-1]), named[-1])))
    if match["got"] == "null":
        return f"must be {listed}, not null"
    return f"must be {listed}"


def _length(match: re.Match[str]) -> str:
    kind, number = match["kind"], int(match["number"])
    singular, plural = _UNITS.get(kind, _UNITS["array"])
    if kind == "str" and match["bound"] == ">=" and number == 1:
        return "must not be empty"
    verb = "be" if kind in {"str", "bytes"} else "have"
    bound = _BOUNDS.get(match["bound"] or "", "exactly")
    return f"must {verb} {bound} {number} {singular if number == 1 else plural}"


def _range(match: re.Match[str]) -> str:
    return f"must be {_BOUNDS[match['bound']]} {_plain(match['number'])}"


def _plain(number: str) -> str:
    """Format `1000000.0` and `1e+06` as `1000000`."""
    value = float(number)
    return str(int(value)) if value.is_integer() else number


def _always(sentence: str) -> Callable[[re.Match[str]], str]:
    return lambda _match: sentence


_SENTENCES: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern, re.DOTALL), build)
    for pattern, build in (
        (r"Object missing required field `.+`", _always(REQUIRED)),
        (r"Object contains unknown field `.+`", _always("is not a known field")),
        (r"Expected `(?P<wanted>[^`]+)`, got `(?P<got>[^`]+)`", _type),
        (
            r"Expected `(?P<kind>\w+)` of (?:at least )?length (?P<bound><=|>=|)\s*(?P<number>\d+).*",
            _length,
        ),
        (r"Expected `\w+` (?P<bound><=|>=|<|>) (?P<number>[-+.\deE]+)", _range),
        (
            r"Expected `\w+` that's a multiple of (?P<number>[-+.\deE]+)",
            lambda match: f"must be a multiple of {_plain(match['number'])}",
        ),
        (r"Expected `str` matching regex .*", _always(WRONG_FORM)),
        (r"Expected `datetime` with a timezone component", _always("must have a time zone, such as Z")),
        (r"Expected `datetime` with no timezone component", _always("must not have a time zone")),
        (r"Invalid (?:enum )?value .*", _always("is not one of the allowed values")),
        (r"Invalid RFC3339 encoded datetime", _always(f"must be {_KINDS['datetime']}")),
        (r"Invalid RFC3339 encoded date", _always(f"must be {_KINDS['date']}")),
        (r"Invalid RFC3339 encoded time", _always(f"must be {_KINDS['time']}")),
        (r"Invalid (?:ISO8601 )?duration.*", _always(f"must be {_KINDS['duration']}")),
        (r"Invalid epoch timestamp|Timestamp is out of range", _always(f"must be {_KINDS['datetime']}")),
        (r"Invalid UUID.*", _always("must be a UUID")),
        (r"Invalid decimal string", _always("must be a decimal number")),
        (r"Invalid base64 encoded string", _always("must be base64 text")),
        (r"(?:Integer value|Number) out of range", _always("is out of range for a number")),
    )
)


def human_message(message: str) -> str:
    """Return the message as a phrase that follows the name of the field."""
    for pattern, build in _SENTENCES:
        match = pattern.fullmatch(message)
        if match is not None:
            return build(match)
    # The rest are our own messages, written for people; unknown wording of the library is not shown.
    if "`" in message or "$" in message or message.startswith("Expected"):
        return "is not valid"
    return message[:1].lower() + message[1:]
