"""Generation of forms from a description: a model proposes, the usual validation decides."""

import msgspec

from retinue.adapters.llm import ResponseSchema
from retinue.chat.models import ChatChannel
from retinue.forms.errors import FormGenerationFailed
from retinue.forms.schemas import FormCreate, FormPrompt
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import CHOICES, FieldType, read_fields
from retinue.providers.generation import generate_json

_MAX_FIELDS = 50
_TASK = (
    "Write the definition of a web form as JSON: name, description, and fields in the order in which people "
    "are asked. Each field has id (snake_case), type, label, required, and where it helps help_text, "
    "placeholder, options (for select, multi_select, radio and checkbox_group) and validation (min_length, "
    "max_length, min, max). Answer with the JSON alone."
)
_FIELD: JsonObject = {
    "type": "object",
    "required": ["id", "type", "label"],
    "properties": {
        "id": {"type": "string"},
        "type": {"type": "string", "enum": [type.value for type in FieldType]},
        "label": {"type": "string"},
        "required": {"type": "boolean"},
        "help_text": {"type": "string"},
        "placeholder": {"type": "string"},
        "options": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["value", "label"],
                "properties": {"value": {"type": "string"}, "label": {"type": "string"}},
            },
        },
        "validation": {"type": "object"},
    },
}
_FORM: JsonObject = {
    "type": "object",
    "required": ["name", "fields"],
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "fields": {"type": "array", "items": _FIELD},
    },
}


class _GeneratedForm(msgspec.Struct):
    name: str
    fields: list[JsonObject]
    description: str = ""


async def generate_form(ctx: Context, body: FormPrompt) -> FormCreate:
    """Generate a form. Call it before a transaction opens, because the model may be slow."""
    written = await generate_json(
        ctx, _TASK, body.prompt, ResponseSchema("form", _FORM), model=body.model, channel=ChatChannel.form
    )
    try:
        generated = msgspec.json.decode(written, type=_GeneratedForm)
        fields = read_fields([_repair_field(field) for field in generated.fields[:_MAX_FIELDS]])
    except (msgspec.MsgspecError, Invalid) as error:
        raise FormGenerationFailed from error
    if not fields:
        raise FormGenerationFailed
    name = " ".join(generated.name.split())[:100] or "Form"
    return FormCreate(name=name, fields=fields, description=generated.description[:2000])


def _repair_field(field: JsonObject) -> JsonObject:
    """Turn a choice field without options into a text field."""
    if field.get("type") in tuple(CHOICES) and not field.get("options"):
        return {**field, "type": FieldType.text.value}
    return field
