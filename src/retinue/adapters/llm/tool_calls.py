"""Tool calls as models write them: with invalid JSON, and with missing, duplicate or foreign ids."""

import hashlib
import re

import msgspec

from retinue.adapters.llm.messages import ToolCall
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject

_MAX_EXCERPT_LENGTH = 200
_decode = msgspec.json.Decoder(JsonObject).decode


class ToolCallList:
    """The tool calls of one reply; each gets a unique id, which its result refers to."""

    def __init__(self) -> None:
        self._calls: list[ToolCall] = []
        self._ids: set[str] = set()

    def add(self, id: str, name: str, raw_arguments: str) -> ToolCall:
        unique = id if id and id not in self._ids else new_id("call")
        self._ids.add(unique)
        arguments, error = _read_arguments(raw_arguments)
        if not name:
            error = "The call does not name a tool."
        call = ToolCall(unique, name, arguments if error is None else None, raw_arguments, error)
        self._calls.append(call)
        return call

    def all(self) -> tuple[ToolCall, ...]:
        return tuple(self._calls)


def _read_arguments(raw: str) -> tuple[JsonObject, str | None]:
    # Models often write a call without arguments as an empty string.
    if not raw.strip():
        return {}, None
    try:
        return _decode(raw), None
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        excerpt = raw[:_MAX_EXCERPT_LENGTH] + ("…" if len(raw) > _MAX_EXCERPT_LENGTH else "")
        return {}, f"The arguments are not a JSON object: {excerpt}"


def provider_call_id(id: str, shape: re.Pattern[str]) -> str:
    """Return a stable id that the provider accepts; the call may come from another provider."""
    if shape.fullmatch(id):
        return id
    return hashlib.sha256(id.encode()).hexdigest()[:9]


def replayed_arguments(call: ToolCall) -> str:
    """Return the arguments for sending the call back; many servers fail on invalid JSON from the model.

    The keys are sorted: a later turn sends the call again from the database, which does not keep their order.
    """
    return msgspec.json.encode(call.arguments or {}, order="sorted").decode()
