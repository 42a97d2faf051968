"""The state of a conversation: answered and skipped fields, and the next question."""

import msgspec

from retinue.forms.models import FormConversation
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import STATIC, Fields, FieldType
from retinue.kit.schema.fields.validator import FormField


class Proposals(msgspec.Struct, kw_only=True):
    """The interpretation of a message, before validation.

    `is_certain`: no model is needed. `reply` is a model's suggested reply.
    """

    answers: JsonObject = {}
    skips: list[str] = []
    reopened: str | None = None
    goes_back: bool = False
    is_confirmed: bool | None = None
    is_certain: bool = False
    reply: str = ""
    problems: dict[str, str] = {}
    """Input that cannot be a value of its field, by field id."""


class ConversationState:
    """Changed in place while one message is handled, then stored."""

    def __init__(
        self,
        fields: Fields,
        *,
        answers: JsonObject,
        skipped: list[str] | None = None,
        asked: str | None = None,
        is_confirming: bool = False,
        prefilled: JsonObject | None = None,
    ) -> None:
        self.fields = fields
        self.answers = dict(answers)
        self.prefilled = dict(prefilled or {})
        self.skipped = list(skipped or [])
        self.asked = asked
        self.is_confirming = is_confirming
        self.labels: dict[str, dict[str, str]] = {}
        self.revalidate()

    @classmethod
    def of(cls, fields: Fields, conversation: FormConversation) -> "ConversationState":
        return cls(
            fields,
            answers=conversation.answers,
            skipped=conversation.skipped,
            asked=conversation.asked,
            is_confirming=conversation.is_confirming,
            prefilled=conversation.prefilled,
        )

    def revalidate(self) -> None:
        """Drop answers to hidden fields, and answers that a changed form no longer accepts."""
        self._drop_invalid()
        self._apply_prefilled()
        inputs = {field.id: field for field in self.inputs}
        self.skipped = [
            id
            for id in dict.fromkeys(self.skipped)
            if id in inputs and id not in self.answers and not inputs[id].required
        ]
        if self.asked is not None and self.asked not in inputs:
            self.asked = None

    def _drop_invalid(self) -> None:
        checked = self.fields.check(self.answers)
        invalid = {error.field for error in checked.errors}
        self.answers = {id: value for id, value in checked.values.items() if id not in invalid}

    def _apply_prefilled(self) -> None:
        """Apply prefilled values as soon as their fields are visible.

        Each is applied once, so that a visitor who withdraws it is asked; hidden fields keep theirs.
        """
        tried: set[str] = set()
        while True:
            visible = self.fields.visible(self.answers)
            ready = self.prefilled.keys() & visible - self.answers.keys() - {*self.skipped} - tried
            if not ready:
                return
            tried |= ready
            for id in ready:
                self.answers[id] = self.prefilled[id]
                if self.fields.by_id[id].type is not FieldType.hidden:
                    del self.prefilled[id]
            self._drop_invalid()

    @property
    def inputs(self) -> list[FormField]:
        """The visible fields a visitor is asked for, given the answers so far; hidden fields are excluded."""
        shown = self.fields.visible(self.answers)
        return [
            field for field in self.fields.asked if field.id in shown and field.type is not FieldType.hidden
        ]

    @property
    def nameable(self) -> list[FormField]:
        """The fields a visitor may mention, including those that another answer would reveal."""
        shown = self.inputs
        rest = [field for field in self.fields.asked if field.type is not FieldType.hidden]
        return [*shown, *(field for field in rest if field not in shown)]

    @property
    def asked_field(self) -> FormField | None:
        return self.fields.by_id[self.asked] if self.asked is not None else None

    def find_input(self, id: str) -> FormField | None:
        return next((field for field in self.inputs if field.id == id), None)

    def is_settled(self, field: FormField) -> bool:
        return field.id in self.answers or field.id in self.skipped

    def next_field(self) -> FormField | None:
        return next((field for field in self.inputs if not self.is_settled(field)), None)

    def previous_field(self) -> FormField | None:
        """Return the last answered or skipped field before the current one."""
        before: FormField | None = None
        for field in self.inputs:
            if field.id == self.asked:
                break
            if self.is_settled(field):
                before = field
        return before

    def reopen(self, id: str) -> None:
        self.answers.pop(id, None)
        self.skipped = [other for other in self.skipped if other != id]
        self.asked, self.is_confirming = id, False

    @property
    def total(self) -> int:
        return len(self.inputs)

    @property
    def completed(self) -> int:
        return sum(self.is_settled(field) for field in self.inputs)

    def statics_before(self, field: FormField) -> list[FormField]:
        """Return the sections and paragraphs directly above a field."""
        visible = self.fields.visible(self.answers)
        above: list[FormField] = []
        for other in self.fields.all:
            if other.id == field.id:
                break
            if other.type in STATIC:
                above.append(other)
            else:
                above = []
        return [other for other in above if other.id in visible]
