"""What models and tools say, as values that every database can keep."""

from typing import Any

import msgspec

from retinue.adapters.llm import ToolCall
from retinue.kit.ids import new_id

_LONGEST_NAME = 128
_LONGEST_ARGUMENTS = 100_000
_NUL = b"\\u0000"


def storable_text(text: str) -> str:
    return text.replace("\0", "") if "\0" in text else text


def storable(value: Any) -> Any:
    """A JSON value without NUL and half characters; nearly always the very same one."""
    try:
        is_clean = _NUL not in msgspec.json.encode(value)
    except UnicodeEncodeError:
        is_clean = False
    return value if is_clean else _cleaned(value)


def storable_call(call: ToolCall) -> ToolCall:
    """Cut to size as well, and with an id that is still its own: results are told apart by it."""
    is_odd = "\0" in call.id or len(call.id) > _LONGEST_NAME
    is_long = len(call.raw_arguments) > _LONGEST_ARGUMENTS
    return msgspec.structs.replace(
        call,
        id=new_id("call") if is_odd else call.id,
        name=storable_text(call.name)[:_LONGEST_NAME],
        arguments=None if is_long else storable(call.arguments),
        error=f"The arguments have more than {_LONGEST_ARGUMENTS} characters."
        if is_long
        else storable(call.error),
    )


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return storable_text(value).encode(errors="replace").decode()
    if isinstance(value, dict):
        return {_cleaned(name): _cleaned(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(inner) for inner in value]
    return value
