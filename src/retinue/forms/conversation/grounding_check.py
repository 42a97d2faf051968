"""Checks that a value proposed by a model is supported by the visitor's own words.

A validator cannot tell an invented name from a real one. Free text must consist of the visitor's words. A
number, date or choice may be inferred for the question that was asked; for any other field, the visitor's
text must contain a trace of it.
"""

import re
from typing import Any

from retinue.forms.conversation.vocabulary import MONTH_NAMES, NUMBER_WORDS, RELATIVE_DAYS
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import CHOICES, FieldType
from retinue.kit.schema.fields.validator import FormField

_WORD = re.compile(r"\w+")
_DIGITS = re.compile(r"\d")
_FREE_TEXT_TYPES = frozenset({FieldType.text, FieldType.textarea, FieldType.signature})
_VERBATIM_TYPES = frozenset({FieldType.email, FieldType.url})
_NUMERIC_TYPES = frozenset({FieldType.number, FieldType.slider, FieldType.rating})
_DATE_TYPES = frozenset({FieldType.date, FieldType.datetime})
_TIME_WORDS = frozenset({*MONTH_NAMES, *RELATIVE_DAYS})


class VisitorText:
    """The visitor's messages so far."""

    def __init__(self, texts: list[str], asked: str | None) -> None:
        self._folded = "\n".join(texts).casefold()
        self._words = set(_WORD.findall(self._folded))
        self._digits = "".join(_DIGITS.findall(self._folded))
        self._asked = asked

    def has(self, field: FormField, value: Any, options: list[JsonObject]) -> bool:
        if field.type in _FREE_TEXT_TYPES:
            return isinstance(value, str) and self._contains_all_words(value)
        if field.type in _VERBATIM_TYPES:
            return isinstance(value, str) and value.strip().casefold() in self._folded
        if field.type is FieldType.phone:
            digits = "".join(_DIGITS.findall(str(value)))
            return bool(digits) and digits in self._digits
        if field.type in {FieldType.file, FieldType.hidden}:
            return False
        return field.id == self._asked or self._has_trace(field, value, options)

    def _contains_all_words(self, text: str) -> bool:
        words = _WORD.findall(text.casefold())
        return bool(words) and self._words.issuperset(words)

    def _has_trace(self, field: FormField, value: object, options: list[JsonObject]) -> bool:
        if field.type in _NUMERIC_TYPES:
            digits = "".join(_DIGITS.findall(str(value).removesuffix(".0")))
            is_spelled = any(NUMBER_WORDS[word] == value for word in self._words if word in NUMBER_WORDS)
            return is_spelled or (bool(digits) and digits in self._digits)
        if field.type in _DATE_TYPES:
            return bool(self._digits) or not _TIME_WORDS.isdisjoint(self._words)
        if field.type in CHOICES:
            chosen = value if isinstance(value, list) else [value]
            return all(self._names_option(item, options) for item in chosen)
        # A checkbox is only ticked by answering its own question.
        return False

    def _names_option(self, value: object, options: list[JsonObject]) -> bool:
        labels = [str(option["label"]) for option in options if str(option["value"]) == str(value)]
        named = _WORD.findall(" ".join((str(value), *labels)).casefold())
        return not self._words.isdisjoint(named)
