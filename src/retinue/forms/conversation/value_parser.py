"""Parsing of a visitor's text into a value, for each field type; validation follows later.

`is_exact`: the message is this answer and nothing else, so that no model is needed.
"""

import re
from collections.abc import Callable
from datetime import date
from typing import Any

import msgspec

from retinue.forms.conversation import dates, option_matcher
from retinue.forms.conversation.vocabulary import NUMBER_WORDS, normalize, parse_yes_no
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import FieldType
from retinue.kit.schema.fields.validator import FormField
from retinue.kit.schema.fields.values import InvalidAnswer

_EMAIL = re.compile(r"[^\s@<>(),;:\\\"\[\]]+@[^\s@<>(),;:\\\"\[\]]+\.[^\s@<>(),;:\\\"\[\]]+")
_URL = re.compile(r"https?://[^\s<>\"']+", re.IGNORECASE)
_PHONE = re.compile(r"[+(]?\d[\d\s().\-/]{3,}\d", re.ASCII)
_NUMBER = re.compile(r"(?<![\w.,])[+\-−]?\d+(?:[.,]\d+)*(?![\w])", re.ASCII)  # noqa: RUF001  a real minus
_OUT_OF = re.compile(r"(?<!\d)(\d{1,4})\s?(?:/|of|out of|von|sur|de)\s?\d", re.ASCII | re.IGNORECASE)
_STARS = re.compile(r"[★⭐]")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_TRAILING = ".,;:!?)"
MAX_PARSED_LENGTH = 1000
"""Longer texts are not parsed, to bound the work."""


class ParsedValue(msgspec.Struct, frozen=True):
    value: Any
    is_exact: bool = False


class ParseInput(msgspec.Struct, frozen=True):
    """A text with the context needed to parse it."""

    text: str
    options: list[JsonObject]
    today: date


def parse_value(field: FormField, source: ParseInput) -> ParsedValue | None:
    """Return the value in the text for this field, or None if there is none."""
    if field.type is FieldType.hidden:
        return None
    if len(source.text) > MAX_PARSED_LENGTH and field.type in _PARSERS:
        return _parse_long(field, source.text)
    return _PARSERS.get(field.type, _verbatim)(field, source)


def _parse_long(field: FormField, text: str) -> ParsedValue | None:
    """Take a long text verbatim; for multiple choices it is a JSON list sent by a page."""
    if field.type in {FieldType.file, FieldType.checkbox}:
        return None
    if field.type in {FieldType.multi_select, FieldType.checkbox_group}:
        return ParsedValue(option_matcher.parse_json_list(text) or [text.strip()])
    return ParsedValue(text.strip())


def is_answer(field: FormField, value: object) -> bool:
    try:
        field.read(value)
    except InvalidAnswer:
        return False
    return True


def _verbatim(_field: FormField, source: ParseInput) -> ParsedValue | None:
    text = source.text.strip()
    return ParsedValue(text) if text else None


def _find_single(pattern: re.Pattern[str], source: ParseInput) -> ParsedValue | None:
    """Return the only match in the text; with several, the whole text, which validation rejects."""
    matches = list(dict.fromkeys(match.rstrip(_TRAILING) for match in pattern.findall(source.text)))
    if len(matches) != 1:
        return ParsedValue(source.text.strip()) if source.text.strip() else None
    return ParsedValue(matches[0], matches[0] == source.text.strip())


def _email(_field: FormField, source: ParseInput) -> ParsedValue | None:
    return _find_single(_EMAIL, source)


def _url(_field: FormField, source: ParseInput) -> ParsedValue | None:
    return _find_single(_URL, source)


def _phone(field: FormField, source: ParseInput) -> ParsedValue | None:
    text = source.text.strip()
    has_words = any(letter.isalpha() for letter in text)
    if not has_words and is_answer(field, text):
        return ParsedValue(text, is_exact=True)
    matches = _PHONE.findall(text)
    return ParsedValue(matches[0].strip()) if len(matches) == 1 else ParsedValue(text)


def _number(field: FormField, source: ParseInput) -> ParsedValue | None:
    text = source.text.strip()
    if is_answer(field, text):
        return ParsedValue(text, is_exact=True)
    if stars := _STARS.findall(text):
        return ParsedValue(len(stars))
    if match := _OUT_OF.search(text):
        return ParsedValue(int(match[1]))
    numbers = [_parse_written_number(match) for match in _NUMBER.findall(text)]
    numbers += [NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", normalize(text)) if word in NUMBER_WORDS]
    if len(numbers) == 1:
        return ParsedValue(numbers[0], is_exact=bool(_NUMBER.fullmatch(text)))
    return ParsedValue(text) if text else None


def _parse_written_number(written: str) -> int | float | str:
    """Parse `1,200` as 1200, `3,5` as 3.5 and `1.200,50` as 1200.5."""
    text = written.replace("−", "-")  # noqa: RUF001  a real minus
    unsigned = text.lstrip("+-")
    if "," in unsigned and "." in unsigned:
        decimal = max(unsigned.rfind(","), unsigned.rfind("."))
        whole = re.sub(r"[.,]", "", unsigned[:decimal])
        unsigned = f"{whole}.{unsigned[decimal + 1 :]}"
    elif _THOUSANDS.fullmatch(unsigned):
        unsigned = unsigned.replace(",", "")
    elif unsigned.count(",") == 1:
        unsigned = unsigned.replace(",", ".")
    elif unsigned.count(".") > 1:
        unsigned = unsigned.replace(".", "")
    signed = f"-{unsigned}" if text.startswith("-") else unsigned
    try:
        return float(signed) if "." in signed else int(signed)
    except ValueError:
        return written


def _checkbox(_field: FormField, source: ParseInput) -> ParsedValue | None:
    is_yes = parse_yes_no(source.text)
    return ParsedValue(is_yes, is_exact=True) if is_yes is not None else None


def _choice(_field: FormField, source: ParseInput) -> ParsedValue | None:
    value = option_matcher.match_exactly(source.text, source.options)
    if value is not None:
        return ParsedValue(value, is_exact=True)
    value = option_matcher.match_option(source.text, source.options)
    return ParsedValue(value if value is not None else source.text.strip())


def _choices(_field: FormField, source: ParseInput) -> ParsedValue | None:
    value = option_matcher.match_all_exactly(source.text, source.options)
    if value is not None:
        return ParsedValue(value, is_exact=True)
    value = option_matcher.match_options(source.text, source.options)
    return ParsedValue(value if value is not None else [source.text.strip()])


def _date(field: FormField, source: ParseInput) -> ParsedValue | None:
    text = source.text.strip()
    if is_answer(field, text):
        return ParsedValue(text, is_exact=True)
    return ParsedValue(dates.find_date(text, source.today) or text)


def _datetime(field: FormField, source: ParseInput) -> ParsedValue | None:
    text = source.text.strip()
    if is_answer(field, text):
        return ParsedValue(text, is_exact=True)
    return ParsedValue(dates.find_datetime(text, source.today) or text)


def _parse_nothing(_field: FormField, _given: ParseInput) -> ParsedValue | None:
    """Return None: files are uploaded, not written."""
    return None


_PARSERS: dict[FieldType, Callable[[FormField, ParseInput], ParsedValue | None]] = {
    FieldType.email: _email,
    FieldType.url: _url,
    FieldType.phone: _phone,
    FieldType.number: _number,
    FieldType.slider: _number,
    FieldType.rating: _number,
    FieldType.checkbox: _checkbox,
    FieldType.select: _choice,
    FieldType.radio: _choice,
    FieldType.multi_select: _choices,
    FieldType.checkbox_group: _choices,
    FieldType.date: _date,
    FieldType.datetime: _datetime,
    FieldType.file: _parse_nothing,
}
