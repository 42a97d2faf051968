"""Database lookups of a conversation: options from data tables, and uploaded files."""

from datetime import date
from typing import Any

from retinue.forms.conversation.schemas import InputOut
from retinue.forms.conversation.state import ConversationState
from retinue.forms.intake import file_uploads, options
from retinue.forms.open_form import OpenForm
from retinue.forms.schemas import Option, OptionsQuery
from retinue.kit.clock import parse_instant
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import CHOICES, FieldType, options_of
from retinue.kit.schema.fields.validator import FormField

MAX_OPTIONS = 100


_CONFIRM = InputOut(
    field_id=None,
    type="confirm",
    options=[Option(value="yes", label="Yes"), Option(value="no", label="No")],
    required=True,
)


class FormLookups:
    """Lookups for one form, cached while one message is handled."""

    def __init__(self, ctx: Context, form: OpenForm) -> None:
        self.ctx = ctx
        self.form = form
        self._choices: dict[str, list[JsonObject]] = {}

    @property
    def today(self) -> date:
        return parse_instant(self.ctx.now).date()

    async def choices(self, field: FormField) -> list[JsonObject]:
        """Return the options of a choice field; an empty list for other fields."""
        if field.type not in CHOICES:
            return []
        if field.id not in self._choices:
            options_found = options_of(field.definition)
            if not options_found and field.definition.get("data_source") is not None:
                query = OptionsQuery(limit=MAX_OPTIONS)
                rows = await options.list_options(self.ctx, self.form, field.id, query)
                options_found = [{"value": row.value, "label": row.label} for row in rows]
            self._choices[field.id] = options_found
        return self._choices[field.id]

    async def labels(self, state: ConversationState) -> dict[str, dict[str, str]]:
        """Return the labels of chosen rows of data tables."""
        sourced = [
            field
            for field in state.inputs
            if field.id in state.answers and field.definition.get("data_source") is not None
        ]
        return {
            field.id: {str(option["value"]): option["label"] for option in await self.choices(field)}
            for field in sourced
        }

    async def verify(self, field: FormField, value: Any) -> str | None:
        """Return why a well-formed value is invalid, or None; a submission applies the same checks."""
        if field.type is FieldType.file:
            for file_id in value if isinstance(value, list) else [value]:
                if not await file_uploads.is_unclaimed(self.ctx, self.form, field.id, file_id):
                    return "names a file that was not uploaded for this field"
            return None
        errors = await options.find_invalid_choices(self.ctx, self.form, {field.id: value})
        return errors[0].message if errors else None

    async def current_input(self, state: ConversationState) -> InputOut | None:
        """Return the current question in the form a page renders."""
        field = state.asked_field
        if field is None:
            return _CONFIRM if state.is_confirming else None
        offered = [Option(**option) for option in await self.choices(field)]
        return InputOut(field_id=field.id, type=field.type.value, options=offered, required=field.required)
