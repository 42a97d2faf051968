"""What of a conversation only the database knows: options of data tables, and files that were uploaded."""

from datetime import date
from typing import Any

from retinue.forms import options, uploading
from retinue.forms.conversation.schemas import InputOut
from retinue.forms.conversation.state import State
from retinue.forms.opening import OpenForm
from retinue.forms.schemas import Option, OptionsQuery
from retinue.kit.clock import moment
from retinue.kit.context import Context
from retinue.kit.fields import CHOICES, FieldType, options_of
from retinue.kit.fields.checking import Field

MOST_OPTIONS = 100

Json = dict[str, Any]

_CONFIRM = InputOut(
    field_id=None,
    type="confirm",
    options=[Option(value="yes", label="Yes"), Option(value="no", label="No")],
    required=True,
)


class Desk:
    """Of one form, for the time of one message: what was looked up once is known."""

    def __init__(self, ctx: Context, form: OpenForm) -> None:
        self.ctx = ctx
        self.form = form
        self._choices: dict[str, list[Json]] = {}

    @property
    def today(self) -> date:
        return moment(self.ctx.now).date()

    async def choices(self, field: Field) -> list[Json]:
        """What can be chosen in a field; nothing for one that is no choice."""
        if field.type not in CHOICES:
            return []
        if field.id not in self._choices:
            own = options_of(field.definition)
            if not own and field.definition.get("data_source") is not None:
                query = OptionsQuery(limit=MOST_OPTIONS)
                found = await options.options(self.ctx, self.form, field.id, query)
                own = [{"value": one.value, "label": one.label} for one in found]
            self._choices[field.id] = own
        return self._choices[field.id]

    async def labels(self, state: State) -> dict[str, dict[str, str]]:
        """What the chosen rows of data tables are called."""
        sourced = [
            field
            for field in state.inputs
            if field.id in state.answers and field.definition.get("data_source") is not None
        ]
        return {
            field.id: {str(one["value"]): one["label"] for one in await self.choices(field)}
            for field in sourced
        }

    async def verify(self, field: Field, value: Any) -> str | None:
        """Why a value that is right in itself is none; the same that a submission would be told."""
        if field.type is FieldType.file:
            for file_id in value if isinstance(value, list) else [value]:
                if not await uploading.is_waiting(self.ctx, self.form, field.id, file_id):
                    return "names a file that was not uploaded for this field"
            return None
        wrong = await options.wrong_choices(self.ctx, self.form, {field.id: value})
        return wrong[0].message if wrong else None

    async def input_of(self, state: State) -> InputOut | None:
        """What is asked at this moment, as a page draws it."""
        field = state.asked_field
        if field is None:
            return _CONFIRM if state.is_confirming else None
        offered = [Option(**one) for one in await self.choices(field)]
        return InputOut(field_id=field.id, type=field.type.value, options=offered, required=field.required)
