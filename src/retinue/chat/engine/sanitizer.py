"""Cleaning of model and tool output into values that every database can store."""

from typing import Any

import msgspec

from retinue.adapters.llm import ToolCall
from retinue.kit.ids import new_id

_MAX_NAME_LENGTH = 128
_MAX_ARGUMENTS_LENGTH = 100_000
_NUL = b"\\u0000"


def sanitize_text(text: str) -> str:
    return text.replace("\0", "") if "\0" in text else text


def sanitize_json(value: object) -> Any:
    """Return the value without NUL characters and lone surrogates; unchanged if it has none."""
    try:
        is_clean = _NUL not in msgspec.json.encode(value)
    except UnicodeEncodeError:
        is_clean = False
    return value if is_clean else _clean(value)


def sanitize_call(call: ToolCall) -> ToolCall:
    """Clean and limit a tool call; an unusable id is replaced by a unique one, which pairs its result."""
    is_invalid_id = "\0" in call.id or len(call.id) > _MAX_NAME_LENGTH
    is_long = len(call.raw_arguments) > _MAX_ARGUMENTS_LENGTH
    return msgspec.structs.replace(
        call,
        id=new_id("call") if is_invalid_id else call.id,
        name=sanitize_text(call.name)[:_MAX_NAME_LENGTH],
        arguments=None if is_long else sanitize_json(call.arguments),
        error=f"The arguments have more than {_MAX_ARGUMENTS_LENGTH} characters."
        if is_long
        else sanitize_json(call.error),
    )


def _clean(value: object) -> Any:
    if isinstance(value, str):
        return sanitize_text(value).encode(errors="replace").decode()
    if isinstance(value, dict):
        return {_clean(name): _clean(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner) for inner in value]
    return value
