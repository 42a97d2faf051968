"""Parsing of messages without a model: commands, labelled answers, and the answer to the question."""

import re
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any

import msgspec

from retinue.forms.conversation.state import ConversationState, Proposals
from retinue.forms.conversation.value_parser import (
    MAX_PARSED_LENGTH,
    ParsedValue,
    ParseInput,
    is_answer,
    parse_value,
)
from retinue.forms.conversation.vocabulary import (
    BACK_PHRASES,
    CHANGE_VERBS,
    FILLER_WORDS,
    SKIP_PHRASES,
    VALUE_CONNECTORS,
    normalize,
    parse_yes_no,
)
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import CHOICES, FieldType
from retinue.kit.schema.fields.validator import FormField

Choices = Callable[[FormField], Awaitable[list[JsonObject]]]

_LABELLED = re.compile(r"\s*(?:[-*•]\s*)?(.{1,200}?)\s*[:=]\s+(\S.*?)\s*", re.DOTALL)
_FREE_TEXT_TYPES = frozenset({FieldType.text, FieldType.textarea, FieldType.signature})
_EXPLICIT_SKIP_PREFIXES = ("skip", "überspringen", "omitir")


class VisitorMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message; `field_id` is set if the client knows which field it answers."""

    content: str
    file_ids: tuple[str, ...] = ()
    field_id: str | None = None


class MessageParser:
    """Parses a message against the current state of a conversation."""

    def __init__(self, state: ConversationState, choices: Choices, today: date) -> None:
        self._state = state
        self._choices = choices
        self._today = today

    async def parse_message(self, message: VisitorMessage) -> Proposals:
        if message.file_ids:
            return await self._parse_files(message)
        if message.field_id is not None:
            return await self._parse_for_field(message.field_id, message.content)
        return await self._parse_text(message.content)

    async def _parse_files(self, message: VisitorMessage) -> Proposals:
        field = self._file_field(message.field_id)
        if field is None:
            asked = message.field_id or self._state.asked or ""
            return Proposals(problems={asked: "no file is asked for here"}, is_certain=True)
        value: Any = message.file_ids[0] if len(message.file_ids) == 1 else list(message.file_ids)
        rest = Proposals(is_certain=True)
        is_about_files = message.field_id is not None or self._state.asked == field.id
        if message.content.strip() and not is_about_files:
            rest = await self._parse_text(message.content)
        return msgspec.structs.replace(rest, answers={**rest.answers, field.id: value})

    def _file_field(self, field_id: str | None) -> FormField | None:
        if field_id is not None:
            field = self._state.find_input(field_id)
            return field if field is not None and field.type is FieldType.file else None
        asked = self._state.asked_field
        if asked is not None and asked.type is FieldType.file:
            return asked
        file_fields = [field for field in self._state.inputs if field.type is FieldType.file]
        return file_fields[0] if len(file_fields) == 1 else None

    async def _parse_for_field(self, field_id: str, content: str) -> Proposals:
        """Parse an answer to a known field. Content that is valid as it stands is taken verbatim."""
        field = self._state.find_input(field_id)
        if field is None:
            return Proposals(problems={field_id: "is not asked for"}, is_certain=True)
        if not is_answer(field, content) and (len(content) <= MAX_PARSED_LENGTH or field.type in CHOICES):
            parsed = await self._read(field, content)
            if parsed is not None and is_answer(field, parsed.value):
                return Proposals(answers={field.id: parsed.value}, is_certain=True)
            if self._is_skipping(field, content):
                return Proposals(skips=[field.id], is_certain=True)
        return Proposals(answers={field.id: content}, is_certain=True)

    async def _parse_text(self, content: str) -> Proposals:
        if len(content) <= MAX_PARSED_LENGTH:
            proposals = self._parse_command(content) or await self._parse_labelled(content)
            if proposals is not None:
                return proposals
        field = self._state.asked_field
        if field is None:
            return Proposals()
        answer = await self._read(field, content)
        if answer is None:
            return Proposals()
        is_certain = answer.is_exact and is_answer(field, answer.value)
        return Proposals(answers={field.id: answer.value}, is_certain=is_certain)

    def _parse_command(self, content: str) -> Proposals | None:
        word = normalize(content)
        field = self._state.asked_field
        if field is None and self._state.is_confirming:
            is_yes = parse_yes_no(content)
            if is_yes is not None:
                return Proposals(is_confirmed=is_yes, is_certain=True)
        if word in BACK_PHRASES:
            return Proposals(goes_back=True, is_certain=True)
        if field is not None and self._is_skipping(field, content):
            return Proposals(skips=[field.id], is_certain=True)
        return None

    def _is_skipping(self, field: FormField, content: str) -> bool:
        """Return whether the field is skipped.

        `none` may be the answer to a required field; `skip` is not.
        """
        word = normalize(content)
        if word not in SKIP_PHRASES:
            return False
        return not field.required or word.startswith(_EXPLICIT_SKIP_PREFIXES)

    async def _parse_labelled(self, content: str) -> Proposals | None:
        """Parse `change E-mail to a@b.de`, `my name is Ada`, or lines such as `Name: Ada`."""
        single = await self._parse_single_field(content)
        if single is not None:
            return single
        answers: JsonObject = {}
        is_certain = True
        lines = [line for line in re.split(r"[\n;]", content) if line.strip()]
        for line in lines:
            match = _LABELLED.fullmatch(line)
            field = self._find_by_label(match[1]) if match is not None else None
            if match is None or field is None:
                return None
            parsed = await self._read(field, match[2])
            if parsed is None:
                return None
            answers[field.id] = parsed.value
            is_certain = is_certain and is_answer(field, parsed.value)
        return Proposals(answers=answers, is_certain=is_certain) if answers else None

    async def _parse_single_field(self, content: str) -> Proposals | None:
        words = content.strip()
        is_change, has_opener = False, False
        while True:
            first, _, rest = words.partition(" ")
            word = first.casefold().rstrip(",.!:")
            if word in CHANGE_VERBS and not is_change:
                is_change = True
            elif word in FILLER_WORDS:
                has_opener = True
            else:
                break
            words = rest.strip()
        if not (is_change or has_opener):
            return None
        field, rest = self._match_field_prefix(words)
        if field is None:
            return None
        if not normalize(rest):
            return Proposals(reopened=field.id, is_certain=True) if is_change else None
        value = _value_after_connector(rest)
        parsed = await self._read(field, value) if value is not None else None
        if parsed is None:
            return None
        return Proposals(answers={field.id: parsed.value}, is_certain=is_answer(field, parsed.value))

    def _match_field_prefix(self, words: str) -> tuple[FormField | None, str]:
        """Return the field whose name the words begin with, longest name first, and the remaining words."""
        folded = words.casefold()
        names = [(name, field) for field in self._state.nameable for name in _field_names(field)]
        for name, field in sorted(names, key=lambda pair: -len(pair[0])):
            if folded.startswith(name) and not folded[len(name) : len(name) + 1].isalnum():
                return field, words[len(name) :]
        return None, words

    def _find_by_label(self, text: str) -> FormField | None:
        label = normalize(text)
        for opener in ("my ", "the "):
            label = label.removeprefix(opener)
        return next((field for field in self._state.nameable if label in _field_names(field)), None)

    async def _read(self, field: FormField, text: str) -> ParsedValue | None:
        options = await self._choices(field)
        return parse_value(field, ParseInput(text, options, self._today))


def _field_names(field: FormField) -> list[str]:
    """Return the label and the id of a field as people would write them."""
    label = normalize(field.definition.get("label") or "")
    return [name for name in dict.fromkeys((label, field.id.casefold(), _spaced(field.id))) if name]


def _spaced(id: str) -> str:
    return id.replace("_", " ").casefold()


def _value_after_connector(rest: str) -> str | None:
    """Return the text after `to`, `is` and the like."""
    text = rest.strip().lstrip(",")
    folded = text.casefold()
    for word in VALUE_CONNECTORS:
        if folded.startswith(word):
            after = text[len(word) :]
            if word in {"=", ":"} or after[:1].isspace():
                return after.strip() or None
    return None


def accepts_any_text(field: FormField) -> bool:
    """Return whether any text is a valid answer."""
    return field.type in _FREE_TEXT_TYPES
