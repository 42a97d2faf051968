"""What approvers are shown of a call: everything but its secrets."""

import re
from typing import Any

from retinue.kit.logging import scrub
from retinue.kit.redaction import MASK

_SECRET = re.compile(
    r"pass(word|phrase|wd)|secret|token|api[_-]?key|authori[sz]ation|private[_-]?key|credential",
    re.IGNORECASE,
)


def masked(value: Any) -> Any:
    """The same JSON value; texts whose name says that they are secret are not shown."""
    if isinstance(value, dict):
        return {name: _masked_field(str(name), inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [masked(inner) for inner in value]
    return scrub(value) if isinstance(value, str) else value


def _masked_field(name: str, value: Any) -> Any:
    is_secret = isinstance(value, str) and _SECRET.search(name) and not name.endswith("_id")
    return MASK if is_secret else masked(value)
