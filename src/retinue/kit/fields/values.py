"""From what was sent to the value that is kept, for each type of field."""

import functools
import math
import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

import msgspec

from retinue.kit.fields.definitions import FieldType, options_of
from retinue.kit.fields.rules import compiled_pattern, read_day, read_moment
from retinue.kit.schemas import Email

LONGEST_TEXT = 10_000
LONGEST_TEXTAREA = 100_000
LONGEST_SIGNATURE = 300 * 1024
LONGEST_URL = 2048
MOST_FILES = 20

_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_FILE_ID = re.compile(r"file_[a-z2-7]{26}")
_TICKED = {"true": True, "on": True, "yes": True, "1": True}
_UNTICKED = {"false": False, "off": False, "no": False, "0": False}
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]")

Json = dict[str, Any]
Reader = Callable[[Any], Any]


class Wrong(ValueError):
    """Why a value is none for its field."""


def is_missing(type: FieldType, value: Any) -> bool:
    if value is None or value in ("", [], {}):
        return True
    return isinstance(value, str) and type is not FieldType.hidden and not value.strip()


def reader_of(type: FieldType, definition: Json) -> Reader:
    """What turns an answer into the kept value, or says `Wrong`."""
    make = _MAKERS.get(type)
    return make(definition) if make is not None else _ignored


def _ignored(_given: Any) -> Any:
    return None


def _rules(definition: Json) -> Json:
    return {name: rule for name, rule in (definition.get("validation") or {}).items() if rule is not None}


def _text(given: Any) -> str:
    if not isinstance(given, str):
        raise Wrong("must be text")
    return given


def _text_reader(definition: Json, *, longest: int, has_pattern: bool = True) -> Reader:
    rules = _rules(definition)
    least, most = rules.get("min_length", 0), min(rules.get("max_length", longest), longest)
    pattern = compiled_pattern(rules["pattern"]) if has_pattern and rules.get("pattern") else None

    def read(given: Any) -> str:
        text = _text(given)
        if len(text) < least:
            raise Wrong(f"must have at least {least} characters")
        if len(text) > most:
            raise Wrong(f"may have at most {most} characters")
        if pattern is not None and pattern.errors(text, ""):
            raise Wrong("does not have the right form")
        return text

    return read


def _email(given: Any) -> str:
    try:
        return msgspec.convert(_text(given).strip(), Email)
    except msgspec.ValidationError:
        raise Wrong("must be an e-mail address") from None


def _url(given: Any) -> str:
    text = _text(given).strip()
    if len(text) > LONGEST_URL or _BLANKS.search(text) or "\\" in text:
        raise Wrong("must be a web address")
    try:
        parts = urlsplit(text)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        is_good = False
    if not is_good:
        raise Wrong("must be a web address such as https://example.com")
    return text


def _number(given: Any) -> int | float:
    if isinstance(given, str) and _NUMBER.fullmatch(given.strip()):
        text = given.strip()
        given = int(text) if text.lstrip("+-").isdigit() else float(text)
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise Wrong("must be a number")
    if abs(given) > 1e300 or not math.isfinite(given):
        raise Wrong("must be a number")
    return given


def _number_reader(definition: Json) -> Reader:
    rules = _rules(definition)
    least, most, step = rules.get("min"), rules.get("max"), rules.get("step")

    def read(given: Any) -> int | float:
        number = _number(given)
        if least is not None and number < least:
            raise Wrong(f"must be at least {least}")
        if most is not None and number > most:
            raise Wrong(f"must be at most {most}")
        if step is not None and not _is_on_step(number, step, least or 0):
            raise Wrong(f"must be a multiple of {step}" + (f" from {least}" if least else ""))
        return number

    return read


def _is_on_step(number: float, step: float, start: float) -> bool:
    """In decimal, as people write numbers: three steps of 0.1 are 0.3."""
    if abs(number) > 1e20:
        return True
    return (Decimal(repr(number)) - Decimal(repr(start))) % Decimal(repr(step)) == 0


def _rating_reader(definition: Json) -> Reader:
    most = _rules(definition).get("max", 5)

    def read(given: Any) -> int:
        number = _number(given)
        if number != int(number) or not 1 <= number <= most:
            raise Wrong(f"must be a whole number from 1 to {most}")
        return int(number)

    return read


def _choice_reader(definition: Json) -> Reader:
    offered = [option["value"] for option in options_of(definition)]
    known = {_spelled(value): value for value in offered} | {str(value): value for value in offered}

    def read(given: Any) -> Any:
        # Written out, because `True` is 1 to Python, and no answer to a question of ours.
        if isinstance(given, bool) and str(given) not in known:
            given = str(given).lower()
        if not isinstance(given, str | int | float) or len(str(given)) > LONGEST_TEXT:
            raise Wrong("must be one of the options")
        if not known:
            return given
        spelled = str(given) if str(given) in known else _spelled(given)
        if spelled not in known:
            raise Wrong("is not one of the options")
        return known[spelled]

    return read


def _spelled(value: Any) -> str:
    """A browser has one kind of number: it gets 2.0, and sends 2."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)


def _choices_reader(definition: Json) -> Reader:
    rules = _rules(definition)
    least, most = rules.get("min_selections", 0), rules.get("max_selections")
    read_one = _choice_reader(definition)

    def read(given: Any) -> list[Any]:
        if not isinstance(given, list):
            raise Wrong("must be a list of options")
        if len(given) > 1000:
            raise Wrong("has too many options")
        chosen = list({str(value): value for value in map(read_one, given)}.values())
        if len(chosen) < least:
            raise Wrong(f"must have at least {least} options")
        if most is not None and len(chosen) > most:
            raise Wrong(f"may have at most {most} options")
        return chosen

    return read


def _checkbox(given: Any) -> Any:
    if isinstance(given, bool):
        return given
    text = _text(given)
    if len(text) > LONGEST_TEXT:
        raise Wrong("must be true or false")
    return {**_TICKED, **_UNTICKED}.get(text.strip().lower(), text)


def _hidden(given: Any) -> Any:
    if not isinstance(given, str | int | float) or len(str(given)) > LONGEST_TEXT:
        raise Wrong(f"must be text of at most {LONGEST_TEXT} characters")
    return given


def _date_reader(definition: Json) -> Reader:
    rules = _rules(definition)
    least = read_day(rules["min_date"]) if "min_date" in rules else date.min
    most = read_day(rules["max_date"]) if "max_date" in rules else date.max

    def read(given: Any) -> str:
        text = _text(given).strip()
        try:
            day = date.fromisoformat(text) if _DAY.fullmatch(text) else None
        except ValueError:
            day = None
        if day is None:
            raise Wrong("must be a date such as 2026-11-15")
        if day < least:
            raise Wrong(f"must not be before {least.isoformat()}")
        if day > most:
            raise Wrong(f"must not be after {most.isoformat()}")
        return text

    return read


def _datetime_reader(definition: Json) -> Reader:
    rules = _rules(definition)
    least = read_moment(rules["min_date"]) if "min_date" in rules else None
    most = read_moment(rules["max_date"]) if "max_date" in rules else None

    def read(given: Any) -> str:
        text = _text(given).strip()
        try:
            moment = read_moment(text) if 16 <= len(text) <= 40 else None
        except ValueError:
            moment = None
        if moment is None:
            raise Wrong("must be a date and time such as 2026-11-15T08:30:00Z")
        if least is not None and moment < least:
            raise Wrong(f"must not be before {rules['min_date']}")
        # A last day is that whole day.
        last = None if most is None else (moment.date() > most.date() if _is_day(rules) else moment > most)
        if last:
            raise Wrong(f"must not be after {rules['max_date']}")
        return text

    return read


def _is_day(rules: Json) -> bool:
    return len(rules["max_date"]) == 10


def _file(given: Any) -> str | list[str]:
    ids = given if isinstance(given, list) else [given]
    if not all(isinstance(id, str) and _FILE_ID.fullmatch(id) for id in ids):
        raise Wrong("must be the file_id of an uploaded file")
    if len(ids) > MOST_FILES or len(set(ids)) != len(ids):
        raise Wrong(f"may have at most {MOST_FILES} files, each once")
    return given  # type: ignore[no-any-return]


def _signature(given: Any) -> str:
    text = _text(given)
    if len(text.encode("utf-8", "replace")) > LONGEST_SIGNATURE:
        raise Wrong(f"may have at most {LONGEST_SIGNATURE // 1024} KB")
    return text


def _simple(read: Reader) -> Callable[[Json], Reader]:
    return lambda _definition: read


_MAKERS: dict[FieldType, Callable[[Json], Reader]] = {
    FieldType.text: functools.partial(_text_reader, longest=LONGEST_TEXT),
    FieldType.textarea: functools.partial(_text_reader, longest=LONGEST_TEXTAREA, has_pattern=False),
    FieldType.email: _simple(_email),
    FieldType.phone: lambda definition: _text_reader(
        {"validation": {"pattern": _rules(definition).get("pattern")}}, longest=100
    ),
    FieldType.number: _number_reader,
    FieldType.slider: _number_reader,
    FieldType.rating: _rating_reader,
    FieldType.select: _choice_reader,
    FieldType.radio: _choice_reader,
    FieldType.multi_select: _choices_reader,
    FieldType.checkbox_group: _choices_reader,
    FieldType.checkbox: _simple(_checkbox),
    FieldType.hidden: _simple(_hidden),
    FieldType.date: _date_reader,
    FieldType.datetime: _datetime_reader,
    FieldType.file: _simple(_file),
    FieldType.url: _simple(_url),
    FieldType.signature: _simple(_signature),
}
