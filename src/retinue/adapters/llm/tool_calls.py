"""Tool calls as models write them: arguments that are no JSON, ids that are missing, doubled or foreign."""

import hashlib
import re
from typing import Any

import msgspec

from retinue.adapters.llm.messages import ToolCall
from retinue.kit.ids import new_id

_LONGEST_EXCERPT = 200
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class ToolCallList:
    """The calls of one reply, each with an id of its own: results are told apart by it."""

    def __init__(self) -> None:
        self._calls: list[ToolCall] = []
        self._ids: set[str] = set()

    def add(self, id: str, name: str, raw_arguments: str) -> ToolCall:
        unique = id if id and id not in self._ids else new_id("call")
        self._ids.add(unique)
        arguments, error = _read_arguments(raw_arguments)
        if not name:
            error = "The call names no tool."
        call = ToolCall(unique, name, arguments if error is None else None, raw_arguments, error)
        self._calls.append(call)
        return call

    def all(self) -> tuple[ToolCall, ...]:
        return tuple(self._calls)


def _read_arguments(raw: str) -> tuple[dict[str, Any], str | None]:
    # A call without arguments is often written as nothing at all.
    if not raw.strip():
        return {}, None
    try:
        return _decode(raw), None
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        excerpt = raw[:_LONGEST_EXCERPT] + ("…" if len(raw) > _LONGEST_EXCERPT else "")
        return {}, f"The arguments are not a JSON object: {excerpt}"


def foreign_id(id: str, shape: re.Pattern[str]) -> str:
    """The id in a form this provider takes, always the same one: a conversation may have begun elsewhere."""
    if shape.fullmatch(id):
        return id
    return hashlib.sha256(id.encode()).hexdigest()[:9]


def replayed_arguments(call: ToolCall) -> str:
    """The arguments for a conversation that goes on: many servers fail on what the model got wrong."""
    return call.raw_arguments if call.arguments else "{}"
