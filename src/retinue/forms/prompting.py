"""A form from words: the model proposes, and the same checks decide as for a form that someone wrote."""

from typing import Any

import msgspec

from retinue.adapters.embedded.models import EmbeddedModels
from retinue.adapters.llm import ChatRequest, JsonSchema, Message
from retinue.forms.errors import NoFormWritten
from retinue.forms.schemas import FormCreate, FormPrompt
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.fields import CHOICES, FieldType, read_fields
from retinue.providers import calling
from retinue.providers.catalogue import offered
from retinue.providers.models import ProviderKey
from retinue.providers.resolving import default_model

_MOST_FIELDS = 50
_TASK = (
    "Write the definition of a web form as JSON: name, description, and fields in the order in which people "
    "are asked. Each field has id (snake_case), type, label, required, and where it helps help_text, "
    "placeholder, options (for select, multi_select, radio and checkbox_group) and validation (min_length, "
    "max_length, min, max). Answer with the JSON alone."
)
_FIELD: dict[str, Any] = {
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
_FORM: dict[str, Any] = {
    "type": "object",
    "required": ["name", "fields"],
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "fields": {"type": "array", "items": _FIELD},
    },
}


class _Written(msgspec.Struct):
    name: str
    fields: list[dict[str, Any]]
    description: str = ""


async def write(ctx: Context, body: FormPrompt) -> FormCreate:
    """Before any transaction is open: a model takes its time."""
    request = ChatRequest(
        model=body.model or await _model(ctx),
        messages=(Message(role="system", content=_TASK), Message(role="user", content=body.prompt)),
        temperature=0,
        response_format=JsonSchema("form", _FORM),
    )
    reply = await calling.chat(ctx, request)
    try:
        written = msgspec.json.decode(json_in(reply.text), type=_Written)
        fields = read_fields([_mended(field) for field in written.fields[:_MOST_FIELDS]])
    except (msgspec.MsgspecError, Invalid) as error:
        raise NoFormWritten from error
    if not fields:
        raise NoFormWritten
    name = " ".join(written.name.split())[:100] or "Form"
    return FormCreate(name=name, fields=fields, description=written.description[:2000])


async def _model(ctx: Context) -> str:
    """What was chosen; else an embedded one."""
    return await chosen_model(ctx) or default_model(ctx.settings, ctx.adapter(EmbeddedModels), "chat")


async def chosen_model(ctx: Context) -> str | None:
    """What the instance names; else the first model of the tenant's own default key."""
    if ctx.settings.default_model:
        return ctx.settings.default_model
    keys = await ctx.apart().db.all(ProviderKey, is_active=True)
    for key in sorted(keys, key=lambda key: (not key.is_default, key.priority)):
        if names := sorted(offered(key)):
            return f"{key.provider}/{names[0]}"
    return None


def json_in(text: str) -> str:
    """Some models put the JSON between words or fences."""
    return text[text.find("{") : text.rfind("}") + 1]


def _mended(field: dict[str, Any]) -> dict[str, Any]:
    """A choice without anything to choose from is a question for text."""
    if field.get("type") in CHOICES and not field.get("options"):
        return {**field, "type": FieldType.text.value}
    return field
