"""Form controls for the fields of an approval, with the entered values and their problems."""

from html import escape

import msgspec

from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import CHOICES, Fields, FieldType, options_of

FIELD_PREFIX = "data."
"""Prefix of the field ids in the page's form."""
_MULTIPLE_CHOICE_TYPES = {FieldType.multi_select, FieldType.checkbox_group}
_INPUT_TYPES = {
    FieldType.number: 'type="number" step="any"',
    FieldType.rating: 'type="number"',
    FieldType.slider: 'type="number" step="any"',
    FieldType.email: 'type="email"',
    FieldType.url: 'type="url"',
    FieldType.phone: 'type="tel"',
    FieldType.date: 'type="date"',
    FieldType.datetime: 'type="datetime-local"',
}


class SubmittedForm(msgspec.Struct, frozen=True):
    """The submitted texts by control name, and the problems found in them."""

    texts: dict[str, list[str]] = {}
    problems: dict[str, str] = {}

    def text(self, name: str) -> str:
        return next(iter(self.texts.get(name, ())), "")


def render_controls(fields: list[JsonObject], filled: SubmittedForm) -> str:
    return "".join(_control(field.definition, field.type, filled) for field in Fields(fields).asked)


def _control(declared: JsonObject, type: FieldType, filled: SubmittedForm) -> str:
    """Render one field; never `required` for the browser, because rejecting needs no values."""
    name = f"{FIELD_PREFIX}{declared['id']}"
    label = escape(str(declared.get("label") or declared["id"]) + (" *" if declared.get("required") else ""))
    attributes = f'id="{escape(name)}" name="{escape(name)}"{invalid_attributes(name, filled)}'
    text = escape(filled.text(name))
    if type is FieldType.hidden:
        return f'        <input {attributes} type="hidden" value="{text}">\n'
    if type is FieldType.checkbox:
        box = f'<input {attributes} type="checkbox"{" checked" if text else ""}>'
        return with_problem(f'<label class="choice">{box} {label}</label>', name, filled)
    if type in _MULTIPLE_CHOICE_TYPES:
        boxes = "".join(_checkbox(name, option, filled) for option in options_of(declared))
        invalid = invalid_attributes(name, filled)
        group = f'<div role="group" aria-labelledby="{escape(name)}"{invalid}>{boxes}</div>'
        return with_problem(f'<span class="label" id="{escape(name)}">{label}</span>{group}', name, filled)
    if type is FieldType.textarea:
        control = f'<textarea {attributes} rows="3">{text}</textarea>'
    elif type in CHOICES:
        options = "".join(_option(option, filled.text(name)) for option in options_of(declared))
        control = f'<select {attributes}><option value=""></option>{options}</select>'
    else:
        control = f'<input {attributes} {_INPUT_TYPES.get(type, "")} value="{text}">'
    return with_problem(f'<label for="{escape(name)}">{label}</label>{control}', name, filled)


def invalid_attributes(name: str, filled: SubmittedForm) -> str:
    if name not in filled.problems:
        return ""
    return f' aria-invalid="true" aria-describedby="{escape(name)}-problem"'


def with_problem(content: str, name: str, filled: SubmittedForm) -> str:
    problem = filled.problems.get(name, "")
    problem_html = f'<p class="problem" id="{escape(name)}-problem">{escape(problem)}</p>' if problem else ""
    return f'        <div class="field">{content}{problem_html}</div>\n'


def _checkbox(name: str, option: JsonObject, filled: SubmittedForm) -> str:
    value = str(option["value"])
    checked = " checked" if value in filled.texts.get(name, ()) else ""
    box = f'<input type="checkbox" name="{escape(name)}" value="{escape(value)}"{checked}>'
    return f'<label class="choice">{box} {escape(str(option["label"]))}</label>'


def _option(option: JsonObject, chosen: str) -> str:
    value = str(option["value"])
    selected = " selected" if value == chosen else ""
    return f'<option value="{escape(value)}"{selected}>{escape(str(option["label"]))}</option>'
