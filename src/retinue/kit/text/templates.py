"""Templates: values with `{{paths}}` that are looked up in a scope; nothing is executed.

A text that consists of one path becomes the value found there, with its type; within other text the value
becomes text. A missing value is null, or empty text.
"""

import re
from typing import Any

import msgspec

from retinue.kit.errors import InternalError
from retinue.kit.json_types import JsonObject

MAX_RENDERED_BYTES = 1024 * 1024
MAX_TEMPLATE_DEPTH = 32

_PATH = r"\s*([A-Za-z_][\w-]*(?:\.[\w-]+|\[\d{1,6}\])*)\s*"
_ONE = re.compile(r"\{\{" + _PATH + r"\}\}", re.ASCII)
_STEP = re.compile(r"\.?([\w-]+)|\[(\d+)\]", re.ASCII)


class TemplateTooLarge(InternalError):
    """The rendered template is too large or nested too deeply. Shorten it or insert smaller values."""

    status, code = 422, "template_too_large"


def render(value: Any, scope: JsonObject) -> Any:
    """Return the value with paths in its texts, such as `{{data.items[0].name}}`, replaced from `scope`."""
    return _Renderer(scope).of(value, 0)


def as_text(rendered: object) -> str:
    """Return a rendered value as text: a template that is a single path keeps the type of its value."""
    if rendered is None:
        return ""
    return rendered if isinstance(rendered, str) else msgspec.json.encode(rendered).decode()


def is_template(value: object) -> bool:
    """Return whether a value is a text with paths, which is only known when they are looked up."""
    return isinstance(value, str) and "{{" in value


def lookup_path(path: str, scope: Any) -> Any:
    """Return the value at a dotted path; None if there is none."""
    value = scope
    for name, index in _STEP.findall(path):
        step = name or index
        if isinstance(value, dict):
            value = value.get(step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


class _Renderer:
    """One rendering of a template; the size limit applies to all inserted values together."""

    def __init__(self, scope: JsonObject) -> None:
        self._scope = scope
        self._bytes_left = MAX_RENDERED_BYTES

    def of(self, value: Any, depth: int) -> Any:
        if depth > MAX_TEMPLATE_DEPTH:
            raise TemplateTooLarge
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {name: self.of(inner, depth + 1) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.of(inner, depth + 1) for inner in value]
        return value

    def _text(self, text: str) -> Any:
        if "{{" not in text:
            return text
        whole = _ONE.fullmatch(text)
        if whole is not None:
            value = lookup_path(whole[1], self._scope)
            self._charge(_to_text(value))
            return value
        return _ONE.sub(lambda matched: self._charge(_to_text(lookup_path(matched[1], self._scope))), text)

    def _charge(self, text: str) -> str:
        self._bytes_left -= len(text)
        if self._bytes_left < 0:
            raise TemplateTooLarge
        return text


def _to_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
