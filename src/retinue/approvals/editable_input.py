"""The input of an approval on its page: editable fields as controls, the others as text."""

from html import escape
from typing import Any

import msgspec

from retinue.approvals import summary
from retinue.approvals.decisions import ANY_FIELD
from retinue.approvals.form_controls import SubmittedForm, invalid_attributes, with_problem
from retinue.approvals.models import Approval
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject

EDIT_PREFIX = "edited_input."
_MAX_LINE_LENGTH = 80


def editable_values(approval: Approval) -> JsonObject:
    """Return the fields an approver may change; none after the first approval."""
    if approval.approvals_received:
        return {}
    shown = summary.effective_values(approval)
    names = [*shown] if ANY_FIELD in approval.editable_fields else approval.editable_fields
    return {name: shown.get(name) for name in names}


def render_edit_controls(approval: Approval, filled: SubmittedForm) -> str:
    return "".join(_control(name, value, filled) for name, value in editable_values(approval).items())


def readonly_facts(approval: Approval) -> list[tuple[str, str]]:
    """Return the fields that are shown but cannot be changed."""
    changeable = editable_values(approval)
    return [
        (name, _format_pretty(value))
        for name, value in summary.effective_values(approval).items()
        if name not in changeable
    ]


def parse_edited_input(approval: Approval, texts: dict[str, list[str]]) -> JsonObject | None:
    """Return the changed fields in their original types; raise Invalid (422) for invalid values."""
    edited: JsonObject = {}
    problems: dict[str, str] = {}
    for name, value in editable_values(approval).items():
        sent = texts.get(f"{EDIT_PREFIX}{name}", [])
        if isinstance(value, bool):
            if bool(sent) != value:
                edited[name] = bool(sent)
            continue
        text = sent[0].replace("\r\n", "\n") if sent else None
        if text is None or text == _shown_text(value):
            continue
        try:
            edited[name] = _parse_value(text, value)
        except ValueError as error:
            problems[f"{EDIT_PREFIX}{name}"] = str(error)
    if problems:
        raise Invalid(problems)
    return edited or None


def _control(name: str, value: object, filled: SubmittedForm) -> str:
    id = f"{EDIT_PREFIX}{name}"
    attributes = f'id="{escape(id)}" name="{escape(id)}"{invalid_attributes(id, filled)}'
    label = f'<label for="{escape(id)}">{escape(name)}</label>'
    if isinstance(value, bool):
        is_on = bool(filled.text(id)) if filled.texts else value
        box = f'<input {attributes} type="checkbox"{" checked" if is_on else ""}>'
        return with_problem(f'<label class="choice">{box} {escape(name)}</label>', id, filled)
    text = filled.text(id) if id in filled.texts else _shown_text(value)
    if _is_number(value):
        control = f'<input {attributes} type="number" step="any" value="{escape(text)}">'
    elif isinstance(value, str) and "\n" not in text and len(text) <= _MAX_LINE_LENGTH:
        control = f'<input {attributes} value="{escape(text)}">'
    else:
        rows = min(12, max(3, text.count("\n") + 1))
        # Browsers drop the first line break of a textarea.
        control = f'<textarea {attributes} rows="{rows}">\n{escape(text)}</textarea>'
    return with_problem(label + control, id, filled)


def _shown_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _format_pretty(value)


def _format_pretty(value: object) -> str:
    if isinstance(value, dict | list):
        return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return summary.format_value(value)


def _parse_value(text: str, before: object) -> Any:
    if isinstance(before, str):
        return text
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        if before is None:
            return text
        expected = "a number" if _is_number(before) else "valid JSON"
        raise ValueError(f"must be {expected}") from None
    if _is_number(before) and not _is_number(value):
        raise ValueError("must be a number")
    return value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
