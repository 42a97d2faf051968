"""The fields of an approval as the page asks for them, with what was filled in and what is wrong with it."""

from html import escape
from typing import Any

import msgspec

from retinue.kit.fields import CHOICES, Fields, FieldType, options_of

PREFIX = "data."
"""Before the ids of the fields in what the page's form sends."""
_SEVERAL = {FieldType.multi_select, FieldType.checkbox_group}
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


class Filled(msgspec.Struct, frozen=True):
    """What a form was sent with, by the names of its controls, and what is wrong with some of it."""

    texts: dict[str, list[str]] = {}
    problems: dict[str, str] = {}

    def text(self, name: str) -> str:
        return next(iter(self.texts.get(name, ())), "")


def controls(fields: list[dict[str, Any]], filled: Filled) -> str:
    return "".join(_control(one.definition, one.type, filled) for one in Fields(fields).asked)


def _control(declared: dict[str, Any], type: FieldType, filled: Filled) -> str:
    """One field; the answer that rejects needs none of them, so the browser insists on none."""
    name = f"{PREFIX}{declared['id']}"
    label = escape(str(declared.get("label") or declared["id"]) + (" *" if declared.get("required") else ""))
    named = f'id="{escape(name)}" name="{escape(name)}"{_marks(name, filled)}'
    text = escape(filled.text(name))
    if type is FieldType.hidden:
        return f'        <input {named} type="hidden" value="{text}">\n'
    if type is FieldType.checkbox:
        box = f'<input {named} type="checkbox"{" checked" if text else ""}>'
        return _field(f'<label class="choice">{box} {label}</label>', name, filled)
    if type in _SEVERAL:
        boxes = "".join(_box(name, one, filled) for one in options_of(declared))
        group = f'<div role="group" aria-labelledby="{escape(name)}"{_marks(name, filled)}>{boxes}</div>'
        return _field(f'<span class="label" id="{escape(name)}">{label}</span>{group}', name, filled)
    if type is FieldType.textarea:
        control = f'<textarea {named} rows="3">{text}</textarea>'
    elif type in CHOICES:
        options = "".join(_option(one, filled.text(name)) for one in options_of(declared))
        control = f'<select {named}><option value=""></option>{options}</select>'
    else:
        control = f'<input {named} {_INPUT_TYPES.get(type, "")} value="{text}">'
    return _field(f'<label for="{escape(name)}">{label}</label>{control}', name, filled)


def _marks(name: str, filled: Filled) -> str:
    if name not in filled.problems:
        return ""
    return f' aria-invalid="true" aria-describedby="{escape(name)}-problem"'


def _field(content: str, name: str, filled: Filled) -> str:
    problem = filled.problems.get(name, "")
    told = f'<p class="problem" id="{escape(name)}-problem">{escape(problem)}</p>' if problem else ""
    return f'        <div class="field">{content}{told}</div>\n'


def _box(name: str, option: dict[str, Any], filled: Filled) -> str:
    value = str(option["value"])
    checked = " checked" if value in filled.texts.get(name, ()) else ""
    box = f'<input type="checkbox" name="{escape(name)}" value="{escape(value)}"{checked}>'
    return f'<label class="choice">{box} {escape(str(option["label"]))}</label>'


def _option(option: dict[str, Any], chosen: str) -> str:
    value = str(option["value"])
    selected = " selected" if value == chosen else ""
    return f'<option value="{escape(value)}"{selected}>{escape(str(option["label"]))}</option>'
