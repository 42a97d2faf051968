"""Conversion of an answer to its stored value, for each type of field."""

import functools
import math
import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import msgspec

from retinue.kit.json_types import JsonObject
from retinue.kit.network_addresses import split_url
from retinue.kit.schema.base import Email
from retinue.kit.schema.fields.definitions import FieldType, options_of
from retinue.kit.schema.fields.rules import compiled_pattern, parse_datetime, parse_day

MAX_TEXT_LENGTH = 10_000
MAX_TEXTAREA_LENGTH = 100_000
MAX_SIGNATURE_BYTES = 300 * 1024
MAX_URL_LENGTH = 2048
MAX_FILES = 20

_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_FILE_ID = re.compile(r"file_[a-z2-7]{26}")
_TICKED = {"true": True, "on": True, "yes": True, "1": True}
_UNTICKED = {"false": False, "off": False, "no": False, "0": False}
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]")

Reader = Callable[[Any], Any]


class InvalidAnswer(ValueError):
    """An answer is not valid for its field; the message says why."""


def is_missing(type: FieldType, value: object) -> bool:
    if value is None or value in ("", [], {}):
        return True
    return isinstance(value, str) and type is not FieldType.hidden and not value.strip()


def value_reader(type: FieldType, definition: JsonObject) -> Reader:
    """Return the function that converts an answer to its stored value or raises `InvalidAnswer`."""
    make = _READER_FACTORIES.get(type)
    return make(definition) if make is not None else _ignored


def _ignored(_given: object) -> Any:
    return None


def _rules(definition: JsonObject) -> JsonObject:
    return {name: rule for name, rule in (definition.get("validation") or {}).items() if rule is not None}


def _text(raw: object) -> str:
    if not isinstance(raw, str):
        raise InvalidAnswer("must be text")
    return raw


def _text_reader(definition: JsonObject, *, max_length: int, has_pattern: bool = True) -> Reader:
    rules = _rules(definition)
    least, most = rules.get("min_length", 0), min(rules.get("max_length", max_length), max_length)
    pattern = compiled_pattern(rules["pattern"]) if has_pattern and rules.get("pattern") else None

    def read(raw: Any) -> str:
        text = _text(raw)
        if len(text) < least:
            raise InvalidAnswer(f"must have at least {least} characters")
        if len(text) > most:
            raise InvalidAnswer(f"may have at most {most} characters")
        if pattern is not None and pattern.errors(text, ""):
            raise InvalidAnswer("does not have the required format")
        return text

    return read


def _email(raw: object) -> str:
    try:
        return msgspec.convert(_text(raw).strip(), Email)
    except msgspec.ValidationError:
        raise InvalidAnswer("must be an e-mail address") from None


def _url(raw: object) -> str:
    text = _text(raw).strip()
    if len(text) > MAX_URL_LENGTH or _BLANKS.search(text) or "\\" in text:
        raise InvalidAnswer("must be a web address")
    try:
        parts = split_url(text)
        is_good = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        is_good = False
    if not is_good:
        raise InvalidAnswer("must be a web address such as https://example.com")
    return text


def _number(raw: object) -> int | float:
    if isinstance(raw, str) and _NUMBER.fullmatch(raw.strip()):
        text = raw.strip()
        raw = int(text) if text.lstrip("+-").isdigit() else float(text)
    if isinstance(raw, bool) or not isinstance(raw, int | float):
        raise InvalidAnswer("must be a number")
    if abs(raw) > 1e300 or not math.isfinite(raw):
        raise InvalidAnswer("must be a number")
    return raw


def _number_reader(definition: JsonObject) -> Reader:
    rules = _rules(definition)
    least, most, step = rules.get("min"), rules.get("max"), rules.get("step")

    def read(raw: Any) -> int | float:
        number = _number(raw)
        if least is not None and number < least:
            raise InvalidAnswer(f"must be at least {least}")
        if most is not None and number > most:
            raise InvalidAnswer(f"must be at most {most}")
        if step is not None and not _is_on_step(number, step, least or 0):
            raise InvalidAnswer(f"must be a multiple of {step}" + (f" from {least}" if least else ""))
        return number

    return read


def _is_on_step(number: float, step: float, start: float) -> bool:
    """Calculate in decimal: three steps of 0.1 are exactly 0.3."""
    if abs(number) > 1e20:
        return True
    return (Decimal(repr(number)) - Decimal(repr(start))) % Decimal(repr(step)) == 0


def _rating_reader(definition: JsonObject) -> Reader:
    most = _rules(definition).get("max", 5)

    def read(raw: Any) -> int:
        number = _number(raw)
        if number != int(number) or not 1 <= number <= most:
            raise InvalidAnswer(f"must be a whole number from 1 to {most}")
        return int(number)

    return read


def _choice_reader(definition: JsonObject) -> Reader:
    offered = [option["value"] for option in options_of(definition)]
    by_text = {_canonical_text(value): value for value in offered} | {str(value): value for value in offered}

    def read(raw: Any) -> Any:
        # The boolean may select an option "true" or "false".
        if isinstance(raw, bool) and str(raw) not in by_text:
            raw = str(raw).lower()
        if not isinstance(raw, str | int | float) or len(str(raw)) > MAX_TEXT_LENGTH:
            raise InvalidAnswer("must be one of the options")
        if not by_text:
            return raw
        key = str(raw) if str(raw) in by_text else _canonical_text(raw)
        if key not in by_text:
            raise InvalidAnswer("is not one of the options")
        return by_text[key]

    return read


def _canonical_text(value: Any) -> str:
    """Write whole floats without a fraction: a browser receives 2.0 and sends 2."""
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if is_whole else str(value)


def _choices_reader(definition: JsonObject) -> Reader:
    rules = _rules(definition)
    least, most = rules.get("min_selections", 0), rules.get("max_selections")
    read_one = _choice_reader(definition)

    def read(raw: Any) -> list[Any]:
        if not isinstance(raw, list):
            raise InvalidAnswer("must be a list of options")
        if len(raw) > 1000:
            raise InvalidAnswer("has too many options")
        chosen = list({str(value): value for value in map(read_one, raw)}.values())
        if len(chosen) < least:
            raise InvalidAnswer(f"must have at least {least} options")
        if most is not None and len(chosen) > most:
            raise InvalidAnswer(f"may have at most {most} options")
        return chosen

    return read


def _checkbox(raw: object) -> Any:
    if isinstance(raw, bool):
        return raw
    text = _text(raw)
    if len(text) > MAX_TEXT_LENGTH:
        raise InvalidAnswer("must be true or false")
    return {**_TICKED, **_UNTICKED}.get(text.strip().lower(), text)


def _hidden(raw: object) -> Any:
    if not isinstance(raw, str | int | float) or len(str(raw)) > MAX_TEXT_LENGTH:
        raise InvalidAnswer(f"must be text of at most {MAX_TEXT_LENGTH} characters")
    return raw


def _date_reader(definition: JsonObject) -> Reader:
    rules = _rules(definition)
    least = parse_day(rules["min_date"]) if "min_date" in rules else date.min
    most = parse_day(rules["max_date"]) if "max_date" in rules else date.max

    def read(raw: Any) -> str:
        text = _text(raw).strip()
        try:
            day = date.fromisoformat(text) if _DAY.fullmatch(text) else None
        except ValueError:
            day = None
        if day is None:
            raise InvalidAnswer("must be a date such as 2026-11-15")
        if day < least:
            raise InvalidAnswer(f"must not be before {least.isoformat()}")
        if day > most:
            raise InvalidAnswer(f"must not be after {most.isoformat()}")
        return text

    return read


def _datetime_reader(definition: JsonObject) -> Reader:
    rules = _rules(definition)
    least = parse_datetime(rules["min_date"]) if "min_date" in rules else None
    most = parse_datetime(rules["max_date"]) if "max_date" in rules else None

    def read(raw: Any) -> str:
        text = _text(raw).strip()
        try:
            moment = parse_datetime(text) if 16 <= len(text) <= 40 else None
        except ValueError:
            moment = None
        if moment is None:
            raise InvalidAnswer("must be a date and time such as 2026-11-15T08:30:00Z")
        if least is not None and moment < least:
            raise InvalidAnswer(f"must not be before {rules['min_date']}")
        # A maximum without a time includes that whole day.
        last = None if most is None else (moment.date() > most.date() if _is_day(rules) else moment > most)
        if last:
            raise InvalidAnswer(f"must not be after {rules['max_date']}")
        return text

    return read


def _is_day(rules: JsonObject) -> bool:
    return len(rules["max_date"]) == 10


def _file(raw: Any) -> str | list[str]:
    ids = raw if isinstance(raw, list) else [raw]
    if not all(isinstance(id, str) and _FILE_ID.fullmatch(id) for id in ids):
        raise InvalidAnswer("must be the file_id of an uploaded file")
    if len(ids) > MAX_FILES or len(set(ids)) != len(ids):
        raise InvalidAnswer(f"may have at most {MAX_FILES} files, without duplicates")
    return raw  # type: ignore[no-any-return]


def _signature(raw: object) -> str:
    text = _text(raw)
    if len(text.encode("utf-8", "replace")) > MAX_SIGNATURE_BYTES:
        raise InvalidAnswer(f"may have at most {MAX_SIGNATURE_BYTES // 1024} KB")
    return text


def _simple(read: Reader) -> Callable[[JsonObject], Reader]:
    return lambda _definition: read


_READER_FACTORIES: dict[FieldType, Callable[[JsonObject], Reader]] = {
    FieldType.text: functools.partial(_text_reader, max_length=MAX_TEXT_LENGTH),
    FieldType.textarea: functools.partial(_text_reader, max_length=MAX_TEXTAREA_LENGTH, has_pattern=False),
    FieldType.email: _simple(_email),
    FieldType.phone: lambda definition: _text_reader(
        {"validation": {"pattern": _rules(definition).get("pattern")}}, max_length=100
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
