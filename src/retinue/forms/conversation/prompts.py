"""What a model reads of a conversation, and the form in which it answers.

Everything that the form's author or the visitor wrote stands between marks that nobody can guess.
"""

from typing import Any

import msgspec

from retinue.adapters.llm import ChatRequest, JsonSchema, Message
from retinue.chat.engine.prompts import Fence
from retinue.forms.conversation.phrasing import label_of
from retinue.forms.conversation.state import State
from retinue.forms.models import FormMessage
from retinue.kit.fields import CHOICES, FieldType
from retinue.kit.fields.checking import Field

MAX_TOKENS = 600
_MOST_OPTIONS = 30
_LONGEST_FIELDS = 12_000
_LONGEST_SAID = 8_000
_LONGEST_EARLIER = 500

_TASK = (
    "You help a visitor to fill in a form by talking. Read the visitor's last message and answer with one "
    'JSON object and nothing else: {"values": {field id: value}, "skip": [field ids], "reply": "…"}. '
    "values: what the visitor said in the last message, for any of the fields, in the visitor's own words; "
    "leave out what was not said and never guess. Dates are YYYY-MM-DD. skip: optional fields that the "
    "visitor does not want to answer. reply: one short friendly sentence, or the answer to a question of the "
    "visitor's about the form; do not ask for anything and do not say what was stored, the program does both."
)

Json = dict[str, Any]


class Answer(msgspec.Struct):
    """What a model makes of a message."""

    values: Json = {}
    skip: list[str] = []
    reply: str = ""


class Question(msgspec.Struct, kw_only=True):
    state: State
    options: dict[str, list[Json]]
    earlier: list[FormMessage]
    said: str
    persona: str = ""
    tone: str | None = None
    language: str | None = None


def request_for(question: Question) -> ChatRequest:
    fence = Fence()
    system = [question.persona, _TASK]
    if question.tone:
        system.append(f"The tone of reply: {question.tone}.")
    if question.language:
        system.append(f"The language of reply: {question.language}.")
    system.append(fence.note)
    earlier = "\n".join(f"{one.role}: {one.content[:_LONGEST_EARLIER]}" for one in question.earlier)
    parts = [f"The fields:\n{fence.around(_fields(question))}"]
    if earlier:
        parts.append(f"The conversation so far:\n{fence.around(earlier)}")
    parts.append(f"The field that was asked for: {question.state.asked or 'none'}")
    parts.append(f"The visitor's last message:\n{fence.around(question.said[:_LONGEST_SAID])}")
    return ChatRequest(
        model="",
        messages=(
            Message(role="system", content="\n\n".join(text for text in system if text)),
            Message(role="user", content="\n\n".join(parts)),
        ),
        temperature=0,
        max_tokens=MAX_TOKENS,
        response_format=JsonSchema("form_answers", _schema(question)),
    )


def _fields(question: Question) -> str:
    """One line for each, those that are not answered yet first where there are too many."""
    state = question.state
    fields = sorted(state.inputs, key=state.is_done_with)
    lines: list[str] = []
    room = _LONGEST_FIELDS
    for field in fields:
        line = msgspec.json.encode(_described(question, field)).decode()
        room -= len(line)
        if room < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _described(question: Question, field: Field) -> Json:
    described: Json = {
        "id": field.id,
        "type": field.type.value,
        "label": label_of(field)[:200],
        "required": field.required,
    }
    if field.type in CHOICES:
        described["options"] = question.options.get(field.id, [])[:_MOST_OPTIONS]
    if field.id in question.state.answers and field.type is not FieldType.signature:
        described["answer"] = question.state.answers[field.id]
    return described


def _schema(question: Question) -> Json:
    fields = [field for field in question.state.inputs if field.type is not FieldType.file]
    return {
        "type": "object",
        "required": ["values", "skip", "reply"],
        "additionalProperties": False,
        "properties": {
            "values": {
                "type": "object",
                "additionalProperties": False,
                "properties": {field.id: _kind(field) for field in fields},
            },
            "skip": {"type": "array", "items": {"type": "string"}},
            "reply": {"type": "string"},
        },
    }


def _kind(field: Field) -> Json:
    if field.type in {FieldType.number, FieldType.slider, FieldType.rating}:
        return {"type": "number"}
    if field.type is FieldType.checkbox:
        return {"type": "boolean"}
    if field.type in {FieldType.multi_select, FieldType.checkbox_group}:
        return {"type": "array", "items": {"type": "string"}}
    return {"type": "string"}
