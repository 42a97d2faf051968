"""How far a conversation is: what was answered, what was skipped, and what comes next."""

from typing import Any

import msgspec

from retinue.forms.models import FormConversation
from retinue.kit.fields import STATIC, Fields, FieldType
from retinue.kit.fields.checking import Field

Json = dict[str, Any]


class Proposals(msgspec.Struct, kw_only=True):
    """What a message seems to say, by whoever read it; nothing of it holds before the validator has seen it.

    `is_certain`: nobody need think about it any further. `reply` is what a model would say to it.
    """

    answers: Json = {}
    skips: list[str] = []
    reopened: str | None = None
    goes_back: bool = False
    is_confirmed: bool | None = None
    is_certain: bool = False
    reply: str = ""
    problems: dict[str, str] = {}
    """Why something that was meant for a field is none for it, whatever it says."""


class State:
    """Changed in place while one message is taken, then stored."""

    def __init__(
        self,
        fields: Fields,
        *,
        answers: Json,
        skipped: list[str] | None = None,
        asked: str | None = None,
        is_confirming: bool = False,
        prefilled: Json | None = None,
    ) -> None:
        self.fields = fields
        self.answers = dict(answers)
        self.prefilled = dict(prefilled or {})
        self.skipped = list(skipped or [])
        self.asked = asked
        self.is_confirming = is_confirming
        self.labels: dict[str, dict[str, str]] = {}
        self.settle()

    @classmethod
    def of(cls, fields: Fields, conversation: FormConversation) -> "State":
        return cls(
            fields,
            answers=conversation.answers,
            skipped=conversation.skipped,
            asked=conversation.asked,
            is_confirming=conversation.is_confirming,
            prefilled=conversation.prefilled,
        )

    def settle(self) -> None:
        """Let go of what is hidden by now, and of what a changed form no longer takes."""
        self._check()
        self._take_prefilled()
        inputs = {field.id: field for field in self.inputs}
        self.skipped = [
            id
            for id in dict.fromkeys(self.skipped)
            if id in inputs and id not in self.answers and not inputs[id].required
        ]
        if self.asked is not None and self.asked not in inputs:
            self.asked = None

    def _check(self) -> None:
        checked = self.fields.check(self.answers)
        wrong = {error.field for error in checked.errors}
        self.answers = {id: value for id, value in checked.values.items() if id not in wrong}

    def _take_prefilled(self) -> None:
        """What was known from the start is taken as soon as its field is shown.

        Once, because whoever takes it back is asked for it; but a hidden field has no other value.
        """
        tried: set[str] = set()
        while True:
            shown = self.fields.visible(self.answers)
            ready = self.prefilled.keys() & shown - self.answers.keys() - {*self.skipped} - tried
            if not ready:
                return
            tried |= ready
            for id in ready:
                self.answers[id] = self.prefilled[id]
                if self.fields.by_id[id].type is not FieldType.hidden:
                    del self.prefilled[id]
            self._check()

    @property
    def inputs(self) -> list[Field]:
        """What a visitor is asked for, with the answers so far; hidden fields never are."""
        shown = self.fields.visible(self.answers)
        return [
            field for field in self.fields.asked if field.id in shown and field.type is not FieldType.hidden
        ]

    @property
    def nameable(self) -> list[Field]:
        """What a visitor may talk about: also what another answer in the same message would show."""
        shown = self.inputs
        rest = [field for field in self.fields.asked if field.type is not FieldType.hidden]
        return [*shown, *(field for field in rest if field not in shown)]

    @property
    def asked_field(self) -> Field | None:
        return self.fields.by_id[self.asked] if self.asked is not None else None

    def find_input(self, id: str) -> Field | None:
        return next((field for field in self.inputs if field.id == id), None)

    def is_done_with(self, field: Field) -> bool:
        return field.id in self.answers or field.id in self.skipped

    def next_field(self) -> Field | None:
        return next((field for field in self.inputs if not self.is_done_with(field)), None)

    def previous_field(self) -> Field | None:
        """The last one before what is asked that was answered or skipped."""
        before: Field | None = None
        for field in self.inputs:
            if field.id == self.asked:
                break
            if self.is_done_with(field):
                before = field
        return before

    def reopen(self, id: str) -> None:
        self.answers.pop(id, None)
        self.skipped = [one for one in self.skipped if one != id]
        self.asked, self.is_confirming = id, False

    @property
    def total(self) -> int:
        return len(self.inputs)

    @property
    def completed(self) -> int:
        return sum(self.is_done_with(field) for field in self.inputs)

    def statics_before(self, field: Field) -> list[Field]:
        """The sections and paragraphs that stand right above a field."""
        shown = self.fields.visible(self.answers)
        above: list[Field] = []
        for one in self.fields.all:
            if one.id == field.id:
                break
            if one.type in STATIC:
                above.append(one)
            else:
                above = []
        return [one for one in above if one.id in shown]
