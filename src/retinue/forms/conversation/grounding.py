"""Whether a model's proposal stands in the visitor's own words.

A validator cannot tell an invented name from a real one. What is written down word by word has to be written
by the visitor. A number, a date or a choice may be understood from other words, but only for the question
that was asked; for any other field there must be a trace of it in what the visitor said.
"""

import re
from typing import Any

from retinue.forms.conversation.words import DAYS, MONTHS, NUMBERS
from retinue.kit.fields import CHOICES, FieldType
from retinue.kit.fields.checking import Field

_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d")
_SPOKEN = frozenset({FieldType.text, FieldType.textarea, FieldType.signature})
_COPIED = frozenset({FieldType.email, FieldType.url})
_NUMERIC = frozenset({FieldType.number, FieldType.slider, FieldType.rating})
_DATED = frozenset({FieldType.date, FieldType.datetime})
_TIME_WORDS = frozenset({*MONTHS, *DAYS})


class Words:
    """What a visitor has said so far."""

    def __init__(self, texts: list[str], asked: str | None) -> None:
        self._folded = "\n".join(texts).casefold()
        self._words = set(_WORD.findall(self._folded))
        self._digits = "".join(_DIGITS.findall(self._folded))
        self._asked = asked

    def has(self, field: Field, value: Any, options: list[dict[str, Any]]) -> bool:
        if field.type in _SPOKEN:
            return isinstance(value, str) and self._says(value)
        if field.type in _COPIED:
            return isinstance(value, str) and value.strip().casefold() in self._folded
        if field.type is FieldType.phone:
            digits = "".join(_DIGITS.findall(str(value)))
            return bool(digits) and digits in self._digits
        if field.type in {FieldType.file, FieldType.hidden}:
            return False
        return field.id == self._asked or self._has_trace(field, value, options)

    def _says(self, text: str) -> bool:
        """Whether every word of it was said."""
        words = _WORD.findall(text.casefold())
        return bool(words) and self._words.issuperset(words)

    def _has_trace(self, field: Field, value: Any, options: list[dict[str, Any]]) -> bool:
        if field.type in _NUMERIC:
            digits = "".join(_DIGITS.findall(str(value).removesuffix(".0")))
            is_spelled = any(NUMBERS[word] == value for word in self._words if word in NUMBERS)
            return is_spelled or (bool(digits) and digits in self._digits)
        if field.type in _DATED:
            return bool(self._digits) or not _TIME_WORDS.isdisjoint(self._words)
        if field.type in CHOICES:
            chosen = value if isinstance(value, list) else [value]
            return all(self._names(one, options) for one in chosen)
        # A box is ticked by answering its question.
        return False

    def _names(self, value: Any, options: list[dict[str, Any]]) -> bool:
        labels = [str(one["label"]) for one in options if str(one["value"]) == str(value)]
        named = _WORD.findall(" ".join((str(value), *labels)).casefold())
        return not self._words.isdisjoint(named)
