"""What the platform says: which values were taken, what is wrong with others, and the next question.

All of it is made here, from what the validator said; a model's own words may only stand before it.
"""

import re
from typing import Any

from retinue.forms.conversation.state import State
from retinue.forms.conversation.taking import Rejected, Taken
from retinue.kit.fields import CHOICES, FieldType, options_of
from retinue.kit.fields.checking import Field

MOST_LISTED = 20
_LONGEST_VALUE = 80
_LONGEST_STATIC = 2000
_LONGEST_REPLY = 400
_LINK = re.compile(r"https?:|www\.|\b(?:javascript|data):|\][\[(:]|!\[|<[a-z/!]", re.IGNORECASE)
"""What a page might make a link, an image or an element of: it could carry away what was answered."""
_BLANKS = re.compile(r"\s+")

Json = dict[str, Any]

CONFIRM = "Is everything right? Say “yes” to send it, or tell me what to change."


def label_of(field: Field) -> str:
    return (field.definition.get("label") or field.id).strip()


def question(state: State, field: Field, options: list[Json]) -> str:
    parts = [text for static in state.statics_before(field) if (text := _static_text(static))]
    label = label_of(field)
    asked = label if label.endswith(("?", ":", ".", "!")) else f"{label}?"
    hint = "; ".join(
        text for text in (_hint(field), "" if field.required else "optional, or say “skip”") if text
    )
    parts.append(f"{asked} ({hint})" if hint else asked)
    if field.definition.get("help_text"):
        parts.append(field.definition["help_text"])
    if field.type in CHOICES and options:
        parts.append("\n".join(_listed(options)))
    return "\n".join(parts)


def _static_text(field: Field) -> str:
    definition = field.definition
    texts = (definition.get("label"), definition.get("content"))
    return "\n".join(text.strip() for text in texts if text and text.strip())[:_LONGEST_STATIC]


def _listed(options: list[Json]) -> list[str]:
    lines = [f"{number}. {option['label']}" for number, option in enumerate(options[:MOST_LISTED], 1)]
    if len(options) > MOST_LISTED:
        lines.append("…")
    return lines


def _hint(field: Field) -> str:
    rules = field.definition.get("validation") or {}
    if field.type is FieldType.rating:
        return f"1 to {rules.get('max') or 5}"
    if field.type in {FieldType.number, FieldType.slider}:
        least, most = rules.get("min"), rules.get("max")
        if least is not None and most is not None:
            return f"{least} to {most}"
        if least is not None or most is not None:
            return f"at least {least}" if most is None else f"at most {most}"
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


def shown_value(state: State, field: Field, value: Any) -> str:
    """As a visitor would read it: labels instead of values, and no drawing letter by letter."""
    if field.type is FieldType.file:
        number = len(value) if isinstance(value, list) else 1
        return "1 file" if number == 1 else f"{number} files"
    if field.type is FieldType.signature and str(value).startswith("data:"):
        return "a drawing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    labels = {str(one["value"]): str(one["label"]) for one in options_of(field.definition)}
    labels |= state.labels.get(field.id, {})
    several = value if isinstance(value, list) else [value]
    text = _BLANKS.sub(" ", ", ".join(labels.get(str(one), str(one)) for one in several))
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def notes(state: State, taken: Taken) -> list[str]:
    """What was taken and what was not, by the validator's word."""
    lines = []
    if taken.captured:
        said = [_said_of(state, one.field_id, one.value) for one in taken.captured]
        lines.append(f"Noted: {'; '.join(said)}.")
    if taken.skipped:
        lines.append(f"Skipped: {', '.join(label_of(state.fields.by_id[id]) for id in taken.skipped)}.")
    return [*lines, *complaints(state, taken.rejected)]


def complaints(state: State, rejected: list[Rejected]) -> list[str]:
    return [_complaint(state, one) for one in rejected]


def _said_of(state: State, id: str, value: Any) -> str:
    field = state.fields.by_id[id]
    return f"{label_of(field).rstrip('?:.! ')}: {shown_value(state, field, value)}"


def _complaint(state: State, rejected: Rejected) -> str:
    field = state.fields.by_id.get(rejected.field_id or "")
    if field is None:
        return f"{rejected.message[:1].upper()}{rejected.message[1:]}."
    return f"{label_of(field).rstrip('?:.! ')}: this {rejected.message}."


def summary(state: State) -> str:
    """Everything that was answered, in the form's order, without what is hidden."""
    given = [field for field in state.inputs if field.id in state.answers]
    return "\n".join(f"- {_said_of(state, field.id, state.answers[field.id])}" for field in given)


def own_words(reply: str, taken: Taken) -> str:
    """A model's words, where they cannot be taken for a confirmation of what was refused."""
    text = _BLANKS.sub(" ", reply).strip()
    if taken.rejected or taken.ignored or len(text) > _LONGEST_REPLY or _LINK.search(text):
        return ""
    return text
