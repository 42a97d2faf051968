"""The texts of replies: accepted and rejected values, and the next question.

All of them are generated here from validated results; a model's own words may only precede them.
"""

import re

from retinue.forms.conversation.answers import ProposalsResult, RejectedAnswer
from retinue.forms.conversation.state import ConversationState
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import CHOICES, FieldType, options_of
from retinue.kit.schema.fields.validator import FormField

MAX_LISTED_OPTIONS = 20
_MAX_VALUE_LENGTH = 80
_MAX_STATIC_LENGTH = 2000
_MAX_MODEL_REPLY_LENGTH = 400
_LINK = re.compile(r"https?:|www\.|\b(?:javascript|data):|\][\[(:]|!\[|<[a-z/!]", re.IGNORECASE)
"""Text that a page might render as a link, image or element, which could leak the answers."""
_BLANKS = re.compile(r"\s+")


CONFIRM_QUESTION = "Is everything right? Say “yes” to send it, or tell me what to change."


def label_of(field: FormField) -> str:
    return (field.definition.get("label") or field.id).strip()


def render_question(state: ConversationState, field: FormField, options: list[JsonObject]) -> str:
    parts = [text for static in state.statics_before(field) if (text := _static_text(static))]
    label = label_of(field)
    question = label if label.endswith(("?", ":", ".", "!")) else f"{label}?"
    hint = "; ".join(
        text for text in (_hint(field), "" if field.required else "optional, or say “skip”") if text
    )
    parts.append(f"{question} ({hint})" if hint else question)
    if field.definition.get("help_text"):
        parts.append(field.definition["help_text"])
    if field.type in CHOICES and options:
        parts.append("\n".join(_option_lines(options)))
    return "\n".join(parts)


def _static_text(field: FormField) -> str:
    definition = field.definition
    texts = (definition.get("label"), definition.get("content"))
    return "\n".join(text.strip() for text in texts if text and text.strip())[:_MAX_STATIC_LENGTH]


def _option_lines(options: list[JsonObject]) -> list[str]:
    lines = [f"{number}. {option['label']}" for number, option in enumerate(options[:MAX_LISTED_OPTIONS], 1)]
    if len(options) > MAX_LISTED_OPTIONS:
        lines.append("…")
    return lines


def _hint(field: FormField) -> str:
    rules = field.definition.get("validation") or {}
    if field.type is FieldType.rating:
        return f"1 to {rules.get('max') or 5}"
    if field.type in {FieldType.number, FieldType.slider}:
        minimum, maximum = rules.get("min"), rules.get("max")
        if minimum is not None and maximum is not None:
            return f"{minimum} to {maximum}"
        if minimum is not None or maximum is not None:
            return f"at least {minimum}" if maximum is None else f"at most {maximum}"
        return ""
    return _HINTS.get(field.type, "")


_HINTS = {
    FieldType.checkbox: "yes or no",
    FieldType.date: "a date such as 2026-11-15",
    FieldType.datetime: "a date and time such as 2026-11-15 08:30",
    FieldType.file: "send a file",
    FieldType.multi_select: "one or more",
    FieldType.checkbox_group: "one or more",
    FieldType.signature: "type your name to sign",
    FieldType.url: "a web address such as https://example.com",
}


def render_value(state: ConversationState, field: FormField, value: object) -> str:
    """Return a value as a visitor would read it: labels instead of values, no image data."""
    if field.type is FieldType.file:
        number = len(value) if isinstance(value, list) else 1
        return "1 file" if number == 1 else f"{number} files"
    if field.type is FieldType.signature and str(value).startswith("data:"):
        return "a drawing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    labels = {str(option["value"]): str(option["label"]) for option in options_of(field.definition)}
    labels |= state.labels.get(field.id, {})
    several = value if isinstance(value, list) else [value]
    text = _BLANKS.sub(" ", ", ".join(labels.get(str(item), str(item)) for item in several))
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[: _MAX_VALUE_LENGTH - 1]}…"


def render_notes(state: ConversationState, result: ProposalsResult) -> list[str]:
    """Return lines about accepted, skipped and rejected answers."""
    lines = []
    if result.captured:
        noted = [_labelled_value(state, answer.field_id, answer.value) for answer in result.captured]
        lines.append(f"Noted: {'; '.join(noted)}.")
    if result.skipped:
        lines.append(f"Skipped: {', '.join(label_of(state.fields.by_id[id]) for id in result.skipped)}.")
    return [*lines, *render_rejections(state, result.rejected)]


def render_rejections(state: ConversationState, rejected: list[RejectedAnswer]) -> list[str]:
    return [_render_rejection(state, answer) for answer in rejected]


def _labelled_value(state: ConversationState, id: str, value: object) -> str:
    field = state.fields.by_id[id]
    return f"{label_of(field).rstrip('?:.! ')}: {render_value(state, field, value)}"


def _render_rejection(state: ConversationState, rejected: RejectedAnswer) -> str:
    field = state.fields.by_id.get(rejected.field_id or "")
    if field is None:
        return f"{rejected.message[:1].upper()}{rejected.message[1:]}."
    return f"{label_of(field).rstrip('?:.! ')}: this {rejected.message}."


def render_summary(state: ConversationState) -> str:
    """Return all answers in the form's order, without hidden fields."""
    given = [field for field in state.inputs if field.id in state.answers]
    return "\n".join(f"- {_labelled_value(state, field.id, state.answers[field.id])}" for field in given)


def safe_model_reply(reply: str, result: ProposalsResult) -> str:
    """Return the model's words, or nothing if they could contradict a rejection or contain a link."""
    text = _BLANKS.sub(" ", reply).strip()
    if result.rejected or result.ignored or len(text) > _MAX_MODEL_REPLY_LENGTH or _LINK.search(text):
        return ""
    return text
