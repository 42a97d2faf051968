"""Generation of forms from a description: a model proposes, the usual validation decides."""

import msgspec

from retinue.adapters.embedded.models import EmbeddedModels
from retinue.adapters.llm import ChatRequest, ModelMessage, ResponseSchema
from retinue.adapters.llm.catalogue import find_known_model, kind_of_model
from retinue.chat.models import ChatChannel
from retinue.forms.errors import FormGenerationFailed
from retinue.forms.schemas import FormCreate, FormPrompt
from retinue.kit.context import Context
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import CHOICES, FieldType, read_fields
from retinue.providers import model_calls
from retinue.providers.catalogue import models_of_key
from retinue.providers.model_resolution import default_model
from retinue.providers.models import ProviderKey
from retinue.usage.single_call import SingleCall, spender_of

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
    request = ChatRequest(
        model=body.model or await _generation_model(ctx),
        messages=(ModelMessage(role="system", content=_TASK), ModelMessage(role="user", content=body.prompt)),
        temperature=0,
        response_format=ResponseSchema("form", _FORM),
    )
    hold = SingleCall(spender_of(ctx), channel=ChatChannel.form)
    reply = await model_calls.chat(ctx, request, hold=hold)
    try:
        generated = msgspec.json.decode(extract_json(reply.text), type=_GeneratedForm)
        fields = read_fields([_repair_field(field) for field in generated.fields[:_MAX_FIELDS]])
    except (msgspec.MsgspecError, Invalid) as error:
        raise FormGenerationFailed from error
    if not fields:
        raise FormGenerationFailed
    name = " ".join(generated.name.split())[:100] or "Form"
    return FormCreate(name=name, fields=fields, description=generated.description[:2000])


async def _generation_model(ctx: Context) -> str:
    """Return the default model, else an embedded one."""
    return await find_default_model(ctx) or default_model(ctx.settings, ctx.adapter(EmbeddedModels), "chat")


async def find_default_model(ctx: Context) -> str | None:
    """Return the instance's default model, else a chat model of the tenant's default key."""
    if ctx.settings.default_model:
        return ctx.settings.default_model
    keys = await ctx.detached().db.all(ProviderKey, is_active=True)
    for key in sorted(keys, key=lambda key: (not key.is_default, key.priority)):
        names = [name for name in models_of_key(key) if kind_of_model(name) == "chat"]
        if names:
            # A key may offer a hundred models; one that is known writes better forms than the first by name.
            chosen = min(names, key=lambda name: (find_known_model(key.provider, name) is None, name))
            return f"{key.provider}/{chosen}"
    return None


def extract_json(text: str) -> str:
    """Return the JSON object in a text; some models wrap it in words or code fences."""
    return text[text.find("{") : text.rfind("}") + 1]


def _repair_field(field: JsonObject) -> JsonObject:
    """Turn a choice field without options into a text field."""
    if field.get("type") in tuple(CHOICES) and not field.get("options"):
        return {**field, "type": FieldType.text.value}
    return field
