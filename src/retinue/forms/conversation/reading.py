"""From what a visitor wrote to the value that is meant, for each type of field.

Whether it is one is the validator's to say.

`is_exact` is whether the message is that answer and nothing else, so that nobody need think about it.
"""

import re
from collections.abc import Callable
from datetime import date
from typing import Any

import msgspec

from retinue.forms.conversation import choosing, dates
from retinue.forms.conversation.words import NUMBERS, plain, yes_or_no
from retinue.kit.fields import FieldType
from retinue.kit.fields.checking import Field
from retinue.kit.fields.values import Wrong

_EMAIL = re.compile(r"[^\s@<>(),;:\\\"\[\]]+@[^\s@<>(),;:\\\"\[\]]+\.[^\s@<>(),;:\\\"\[\]]+")
_URL = re.compile(r"https?://[^\s<>\"']+", re.IGNORECASE)
_PHONE = re.compile(r"[+(]?\d[\d\s().\-/]{3,}\d", re.ASCII)
_NUMBER = re.compile(r"(?<![\w.,])[+\-−]?\d+(?:[.,]\d+)*(?![\w])", re.ASCII)  # noqa: RUF001  a real minus
_OUT_OF = re.compile(r"(?<!\d)(\d{1,4})\s?(?:/|of|out of|von|sur|de)\s?\d", re.ASCII | re.IGNORECASE)
_STARS = re.compile(r"[★⭐]")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
_TRAILING = ".,;:!?)"
MOST_READ = 1000
"""Nobody looks for a number in a longer text; and whoever writes one keeps nobody busy with it."""

Json = dict[str, Any]


class Read(msgspec.Struct, frozen=True):
    value: Any
    is_exact: bool = False


class Heard(msgspec.Struct, frozen=True):
    """A text, with what is needed to understand it."""

    text: str
    options: list[Json]
    today: date


def read(field: Field, heard: Heard) -> Read | None:
    """What the text says about the field; None for nothing that anyone could understand."""
    if field.type is FieldType.hidden:
        return None
    if len(heard.text) > MOST_READ and field.type in _READERS:
        return _read_long(field, heard.text)
    return _READERS.get(field.type, _verbatim)(field, heard)


def _read_long(field: Field, text: str) -> Read | None:
    """As it stands: only a page sends that much, and then it is a list."""
    if field.type in {FieldType.file, FieldType.checkbox}:
        return None
    if field.type in {FieldType.multi_select, FieldType.checkbox_group}:
        return Read(choosing.list_in(text) or [text.strip()])
    return Read(text.strip())


def _is_right(field: Field, value: Any) -> bool:
    try:
        field.read(value)
    except Wrong:
        return False
    return True


def _verbatim(_field: Field, heard: Heard) -> Read | None:
    text = heard.text.strip()
    return Read(text) if text else None


def _one_in(pattern: re.Pattern[str], heard: Heard) -> Read | None:
    """The one thing of its kind in a sentence; of several, the validator sees all and says no."""
    found = list(dict.fromkeys(match.rstrip(_TRAILING) for match in pattern.findall(heard.text)))
    if len(found) != 1:
        return Read(heard.text.strip()) if heard.text.strip() else None
    return Read(found[0], found[0] == heard.text.strip())


def _email(_field: Field, heard: Heard) -> Read | None:
    return _one_in(_EMAIL, heard)


def _url(_field: Field, heard: Heard) -> Read | None:
    return _one_in(_URL, heard)


def _phone(field: Field, heard: Heard) -> Read | None:
    text = heard.text.strip()
    has_words = any(letter.isalpha() for letter in text)
    if not has_words and _is_right(field, text):
        return Read(text, is_exact=True)
    found = _PHONE.findall(text)
    return Read(found[0].strip()) if len(found) == 1 else Read(text)


def _number(field: Field, heard: Heard) -> Read | None:
    text = heard.text.strip()
    if _is_right(field, text):
        return Read(text, is_exact=True)
    if stars := _STARS.findall(text):
        return Read(len(stars))
    if match := _OUT_OF.search(text):
        return Read(int(match[1]))
    found = [_as_number(match) for match in _NUMBER.findall(text)]
    found += [NUMBERS[word] for word in re.findall(r"[a-z]+", plain(text)) if word in NUMBERS]
    if len(found) == 1:
        return Read(found[0], is_exact=bool(_NUMBER.fullmatch(text)))
    return Read(text) if text else None


def _as_number(written: str) -> int | float | str:
    """`1,200` is more than a thousand, `3,5` is three and a half, `1.200,50` is both."""
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


def _checkbox(_field: Field, heard: Heard) -> Read | None:
    said = yes_or_no(heard.text)
    return Read(said, is_exact=True) if said is not None else None


def _choice(_field: Field, heard: Heard) -> Read | None:
    value = choosing.choose_exactly(heard.text, heard.options)
    if value is not None:
        return Read(value, is_exact=True)
    value = choosing.choose(heard.text, heard.options)
    return Read(value if value is not None else heard.text.strip())


def _choices(_field: Field, heard: Heard) -> Read | None:
    value = choosing.choose_several_exactly(heard.text, heard.options)
    if value is not None:
        return Read(value, is_exact=True)
    value = choosing.choose_several(heard.text, heard.options)
    return Read(value if value is not None else [heard.text.strip()])


def _date(field: Field, heard: Heard) -> Read | None:
    text = heard.text.strip()
    if _is_right(field, text):
        return Read(text, is_exact=True)
    return Read(dates.find_day(text, heard.today) or text)


def _datetime(field: Field, heard: Heard) -> Read | None:
    text = heard.text.strip()
    if _is_right(field, text):
        return Read(text, is_exact=True)
    return Read(dates.find_moment(text, heard.today) or text)


def _no_words(_field: Field, _heard: Heard) -> Read | None:
    """A file is sent, not said."""
    return None


_READERS: dict[FieldType, Callable[[Field, Heard], Read | None]] = {
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
    FieldType.file: _no_words,
}
