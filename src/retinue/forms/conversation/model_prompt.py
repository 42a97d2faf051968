"""The prompt for the extraction model and the schema of its answer.

Text by the form's author or the visitor is fenced with marks that nobody can guess.
"""

import msgspec

from retinue.adapters.llm import ChatRequest, ModelMessage, ResponseSchema
from retinue.chat.engine.fence import PromptFence
from retinue.forms.conversation.reply_text import label_of
from retinue.forms.conversation.state import ConversationState
from retinue.forms.models import FormMessage
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import CHOICES, FieldType
from retinue.kit.schema.fields.validator import FormField

MAX_REPLY_TOKENS = 600
_MAX_OPTIONS = 30
_MAX_FIELDS_LENGTH = 12_000
_MAX_MESSAGE_LENGTH = 8_000
_MAX_EARLIER_MESSAGE_LENGTH = 500

_TASK = (
    "You help a visitor to fill in a form by talking. Read the visitor's last message and answer with one "
    'JSON object and nothing else: {"values": {field id: value}, "skip": [field ids], "reply": "…"}. '
    "values: what the visitor said in the last message, for any of the fields, in the visitor's own words; "
    "leave out what was not said and never guess. Dates are YYYY-MM-DD. skip: optional fields that the "
    "visitor does not want to answer. reply: one short friendly sentence, or the answer to a question of the "
    "visitor's about the form; do not ask for anything and do not say what was stored, the program does both."
)


class ExtractedAnswers(msgspec.Struct):
    """The model's interpretation of a message."""

    values: JsonObject = {}
    skip: list[str] = []
    reply: str = ""


class ExtractionPrompt(msgspec.Struct, kw_only=True):
    state: ConversationState
    options: dict[str, list[JsonObject]]
    history: list[FormMessage]
    visitor_message: str
    persona: str = ""
    tone: str | None = None
    language: str | None = None


def build_request(prompt: ExtractionPrompt) -> ChatRequest:
    fence = PromptFence.of_request()
    system = [prompt.persona, _TASK]
    if prompt.tone:
        system.append(f"The tone of reply: {prompt.tone}.")
    if prompt.language:
        system.append(f"The language of reply: {prompt.language}.")
    system.append(fence.note)
    history = "\n".join(
        f"{entry.role}: {entry.content[:_MAX_EARLIER_MESSAGE_LENGTH]}" for entry in prompt.history
    )
    parts = [f"The fields:\n{fence.around(_fields(prompt))}"]
    if history:
        parts.append(f"The conversation so far:\n{fence.around(history)}")
    parts.append(f"The field that was asked for: {prompt.state.asked or 'none'}")
    parts.append(f"The visitor's last message:\n{fence.around(prompt.visitor_message[:_MAX_MESSAGE_LENGTH])}")
    return ChatRequest(
        model="",
        messages=(
            ModelMessage(role="system", content="\n\n".join(text for text in system if text)),
            ModelMessage(role="user", content="\n\n".join(parts)),
        ),
        temperature=0,
        max_tokens=MAX_REPLY_TOKENS,
        response_format=ResponseSchema("form_answers", _response_schema(prompt)),
    )


def _fields(prompt: ExtractionPrompt) -> str:
    """Return one line per field, unanswered fields first, as far as the limit allows."""
    state = prompt.state
    fields = sorted(state.inputs, key=state.is_settled)
    lines: list[str] = []
    remaining_length = _MAX_FIELDS_LENGTH
    for field in fields:
        line = msgspec.json.encode(_describe_field(prompt, field)).decode()
        remaining_length -= len(line)
        if remaining_length < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _describe_field(prompt: ExtractionPrompt, field: FormField) -> JsonObject:
    described: JsonObject = {
        "id": field.id,
        "type": field.type.value,
        "label": label_of(field)[:200],
        "required": field.required,
    }
    if field.type in CHOICES:
        described["options"] = prompt.options.get(field.id, [])[:_MAX_OPTIONS]
    if field.id in prompt.state.answers and field.type is not FieldType.signature:
        described["answer"] = prompt.state.answers[field.id]
    return described


def _response_schema(prompt: ExtractionPrompt) -> JsonObject:
    fields = [field for field in prompt.state.inputs if field.type is not FieldType.file]
    return {
        "type": "object",
        "required": ["values", "skip", "reply"],
        "additionalProperties": False,
        "properties": {
            "values": {
                "type": "object",
                "additionalProperties": False,
                "properties": {field.id: _field_schema(field) for field in fields},
            },
            "skip": {"type": "array", "items": {"type": "string"}},
            "reply": {"type": "string"},
        },
    }


def _field_schema(field: FormField) -> JsonObject:
    if field.type in {FieldType.number, FieldType.slider, FieldType.rating}:
        return {"type": "number"}
    if field.type is FieldType.checkbox:
        return {"type": "boolean"}
    if field.type in {FieldType.multi_select, FieldType.checkbox_group}:
        return {"type": "array", "items": {"type": "string"}}
    return {"type": "string"}
