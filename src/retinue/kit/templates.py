"""Values with `{{paths}}` in them: looked up in what is given, never run.

A text that is nothing but one path becomes what stands there, with its type; among other text it is text.
What is not there is null, or nothing.
"""

import re
from typing import Any

import msgspec

from retinue.kit.errors import RetinueError

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 32

_PATH = r"\s*([A-Za-z_][\w-]*(?:\.[\w-]+|\[\d{1,6}\])*)\s*"
_ONE = re.compile(r"\{\{" + _PATH + r"\}\}", re.ASCII)
_STEP = re.compile(r"\.?([\w-]+)|\[(\d+)\]", re.ASCII)


class TemplateTooLarge(RetinueError):
    """What the template becomes is larger than allowed, or nested too deep."""

    status, code = 422, "template_too_large"


def render(value: Any, scope: dict[str, Any]) -> Any:
    """The value with every path in its texts looked up in `scope`: `{{data.items[0].name}}`."""
    return _Rendering(scope).of(value, 0)


def look_up(path: str, scope: Any) -> Any:
    """What stands at a dotted path; None where nothing does."""
    found = scope
    for name, index in _STEP.findall(path):
        step = name or index
        if isinstance(found, dict):
            found = found.get(step)
        elif isinstance(found, list) and step.isdigit() and int(step) < len(found):
            found = found[int(step)]
        else:
            return None
    return found


class _Rendering:
    """One use of a template: what it takes from the scope adds up."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self._scope = scope
        self._left = MAX_BYTES

    def of(self, value: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
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
            found = look_up(whole[1], self._scope)
            self._count(_written(found))
            return found
        return _ONE.sub(lambda matched: self._count(_written(look_up(matched[1], self._scope))), text)

    def _count(self, text: str) -> str:
        self._left -= len(text)
        if self._left < 0:
            raise TemplateTooLarge
        return text


def _written(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
