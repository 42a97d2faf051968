"""What a message says, without any model: commands, labelled answers, and the answer to what was asked."""

import re
from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any

import msgspec

from retinue.forms.conversation.reading import MOST_READ, Heard, Read, read
from retinue.forms.conversation.state import Proposals, State
from retinue.forms.conversation.words import (
    BACK,
    BETWEEN,
    CHANGE,
    OPENERS,
    SKIP,
    plain,
    yes_or_no,
)
from retinue.kit.fields import CHOICES, FieldType
from retinue.kit.fields.checking import Field
from retinue.kit.fields.values import Wrong

Json = dict[str, Any]
Choices = Callable[[Field], Awaitable[list[Json]]]

_LABELLED = re.compile(r"\s*(?:[-*•]\s*)?(.{1,200}?)\s*[:=]\s+(\S.*?)\s*", re.DOTALL)
_FREE = frozenset({FieldType.text, FieldType.textarea, FieldType.signature})
_PLAINLY_SKIP = ("skip", "überspringen", "omitir")


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """A message; `field_id` is what the page that sends it knows it to be about."""

    content: str
    file_ids: tuple[str, ...] = ()
    field_id: str | None = None


class Listener:
    """Understands the messages of one conversation at one moment."""

    def __init__(self, state: State, choices: Choices, today: date) -> None:
        self._state = state
        self._choices = choices
        self._today = today

    async def understand(self, said: Said) -> Proposals:
        if said.file_ids:
            return await self._files(said)
        if said.field_id is not None:
            return await self._literal(said.field_id, said.content)
        return await self._words(said.content)

    async def _files(self, said: Said) -> Proposals:
        field = self._file_field(said.field_id)
        if field is None:
            asked = said.field_id or self._state.asked or ""
            return Proposals(problems={asked: "no file is asked for here"}, is_certain=True)
        value: Any = said.file_ids[0] if len(said.file_ids) == 1 else list(said.file_ids)
        rest = Proposals(is_certain=True)
        is_about_files = said.field_id is not None or self._state.asked == field.id
        if said.content.strip() and not is_about_files:
            rest = await self._words(said.content)
        return msgspec.structs.replace(rest, answers={**rest.answers, field.id: value})

    def _file_field(self, field_id: str | None) -> Field | None:
        if field_id is not None:
            field = self._state.find_input(field_id)
            return field if field is not None and field.type is FieldType.file else None
        asked = self._state.asked_field
        if asked is not None and asked.type is FieldType.file:
            return asked
        takers = [field for field in self._state.inputs if field.type is FieldType.file]
        return takers[0] if len(takers) == 1 else None

    async def _literal(self, field_id: str, content: str) -> Proposals:
        """A page that draws an input knows what it is for: what can be the value as it stands, is."""
        field = self._state.find_input(field_id)
        if field is None:
            return Proposals(problems={field_id: "is not asked for"}, is_certain=True)
        if not _is_right(field, content) and (len(content) <= MOST_READ or field.type in CHOICES):
            found = await self._read(field, content)
            if found is not None and _is_right(field, found.value):
                return Proposals(answers={field.id: found.value}, is_certain=True)
            if self._is_skipping(field, content):
                return Proposals(skips=[field.id], is_certain=True)
        return Proposals(answers={field.id: content}, is_certain=True)

    async def _words(self, content: str) -> Proposals:
        if len(content) <= MOST_READ:
            found = self._command(content) or await self._labelled(content)
            if found is not None:
                return found
        field = self._state.asked_field
        if field is None:
            return Proposals()
        answer = await self._read(field, content)
        if answer is None:
            return Proposals()
        is_certain = answer.is_exact and _is_right(field, answer.value)
        return Proposals(answers={field.id: answer.value}, is_certain=is_certain)

    def _command(self, content: str) -> Proposals | None:
        word = plain(content)
        field = self._state.asked_field
        if field is None and self._state.is_confirming:
            said = yes_or_no(content)
            if said is not None:
                return Proposals(is_confirmed=said, is_certain=True)
        if word in BACK:
            return Proposals(goes_back=True, is_certain=True)
        if field is not None and self._is_skipping(field, content):
            return Proposals(skips=[field.id], is_certain=True)
        return None

    def _is_skipping(self, field: Field, content: str) -> bool:
        """`skip` always says so; `none` may well be the answer to what must be answered."""
        word = plain(content)
        if word not in SKIP:
            return False
        return not field.required or word.startswith(_PLAINLY_SKIP)

    async def _labelled(self, content: str) -> Proposals | None:
        """`change E-mail to a@b.de`, `my name is Ada`, or a line `Name: Ada` for each of several fields."""
        one = await self._about_one(content)
        if one is not None:
            return one
        answers: Json = {}
        is_certain = True
        lines = [line for line in re.split(r"[\n;]", content) if line.strip()]
        for line in lines:
            match = _LABELLED.fullmatch(line)
            field = self._named(match[1]) if match is not None else None
            if match is None or field is None:
                return None
            found = await self._read(field, match[2])
            if found is None:
                return None
            answers[field.id] = found.value
            is_certain = is_certain and _is_right(field, found.value)
        return Proposals(answers=answers, is_certain=is_certain) if answers else None

    async def _about_one(self, content: str) -> Proposals | None:
        words = content.strip()
        is_change, has_opener = False, False
        while True:
            first, _, rest = words.partition(" ")
            word = first.casefold().rstrip(",.!:")
            if word in CHANGE and not is_change:
                is_change = True
            elif word in OPENERS:
                has_opener = True
            else:
                break
            words = rest.strip()
        if not (is_change or has_opener):
            return None
        field, rest = self._beginning(words)
        if field is None:
            return None
        if not plain(rest):
            return Proposals(reopened=field.id, is_certain=True) if is_change else None
        value = _after_between(rest)
        found = await self._read(field, value) if value is not None else None
        if found is None:
            return None
        return Proposals(answers={field.id: found.value}, is_certain=_is_right(field, found.value))

    def _beginning(self, words: str) -> tuple[Field | None, str]:
        """The field whose name the words begin with, the longest name first; and the rest."""
        folded = words.casefold()
        names = [(name, field) for field in self._state.nameable for name in _names(field)]
        for name, field in sorted(names, key=lambda one: -len(one[0])):
            if folded.startswith(name) and not folded[len(name) : len(name) + 1].isalnum():
                return field, words[len(name) :]
        return None, words

    def _named(self, text: str) -> Field | None:
        wanted = plain(text)
        for opener in ("my ", "the "):
            wanted = wanted.removeprefix(opener)
        return next((field for field in self._state.nameable if wanted in _names(field)), None)

    async def _read(self, field: Field, text: str) -> Read | None:
        options = await self._choices(field)
        return read(field, Heard(text, options, self._today))


def _names(field: Field) -> list[str]:
    """Its label and its id, as one would write them."""
    label = plain(field.definition.get("label") or "")
    return [name for name in dict.fromkeys((label, field.id.casefold(), _spaced(field.id))) if name]


def _spaced(id: str) -> str:
    return id.replace("_", " ").casefold()


def _after_between(rest: str) -> str | None:
    """What comes after `to`, `is` and the like."""
    text = rest.strip().lstrip(",")
    folded = text.casefold()
    for word in BETWEEN:
        if folded.startswith(word):
            after = text[len(word) :]
            if word in {"=", ":"} or after[:1].isspace():
                return after.strip() or None
    return None


def is_free(field: Field) -> bool:
    """Whether any words at all are an answer to it."""
    return field.type in _FREE


def _is_right(field: Field, value: Any) -> bool:
    try:
        field.read(value)
    except Wrong:
        return False
    return True
