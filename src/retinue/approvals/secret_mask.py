"""Masking of secrets in the values shown to approvers."""

import re
from typing import Any

from retinue.kit.logging import scrub_secrets
from retinue.kit.text.redaction import MASK

_SECRET_NAME = re.compile(
    r"pass(word|phrase|wd)|secret|token|api[_-]?key|authori[sz]ation|private[_-]?key|credential",
    re.IGNORECASE,
)


def mask_secrets(value: object) -> Any:
    """Return the value with secret texts masked, recognized by their field names."""
    if isinstance(value, dict):
        return {name: _mask_field(str(name), inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [mask_secrets(inner) for inner in value]
    return scrub_secrets(value) if isinstance(value, str) else value


def _mask_field(name: str, value: object) -> Any:
    is_secret = isinstance(value, str) and _SECRET_NAME.search(name) and not name.endswith("_id")
    return MASK if is_secret else mask_secrets(value)
