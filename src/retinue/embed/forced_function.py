"""A function of the caller that the model must call: its arguments are a structured reply.

Clients such as LangChain ask for structured replies in this way. The agent's own tools run as usual.
"""

from typing import Any

import msgspec

from retinue.embed.openai_schemas import (
    CalledFunction,
    CallerFunction,
    CompletionAsk,
    CompletionToolCall,
    FunctionChoice,
    FunctionName,
)
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject

_UNSUPPORTED = (
    "is not supported, because the agent uses its own tools; only a function that the request names as the "
    "one to call is"
)
_ANY_OBJECT: JsonObject = {"type": "object"}


class ForcedFunction(msgspec.Struct, frozen=True, kw_only=True):
    """`path` is where its parameters stand in the request; `is_legacy` if it came in `functions`."""

    name: str
    parameters: JsonObject
    path: str
    is_legacy: bool = False

    def reply_fields(self, output: object, message_id: str, *, is_streamed: bool = False) -> dict[str, Any]:
        """Return the fields of a message or of a piece of it that call the function with this output."""
        function = CalledFunction(name=self.name, arguments=msgspec.json.encode(output).decode())
        if self.is_legacy:
            return {"function_call": function}
        call = CompletionToolCall(id=message_id.replace("msg_", "call_", 1), function=function)
        return {"tool_calls": [msgspec.structs.replace(call, index=0) if is_streamed else call]}


def find_forced(body: CompletionAsk) -> ForcedFunction | None:
    """Return the function that the model must call; refuse functions that it may call or not."""
    offered = [tool.function for tool in body.tools or () if tool.function is not None]
    if body.tools:
        return _find("tools", offered, _chosen(body.tool_choice, offered), is_legacy=False)
    if body.functions:
        chosen = body.function_call.name if isinstance(body.function_call, FunctionName) else None
        return _find("functions", body.functions, chosen, is_legacy=True)
    return None


def _chosen(choice: str | FunctionChoice | None, offered: list[CallerFunction]) -> str | None:
    if isinstance(choice, FunctionChoice):
        return choice.function.name if choice.function is not None else None
    # There is nothing to choose from if one function is required.
    return offered[0].name if choice in {"required", "any"} and len(offered) == 1 else None


def _find(
    field: str, offered: list[CallerFunction], chosen: str | None, *, is_legacy: bool
) -> ForcedFunction:
    for position, function in enumerate(offered):
        if function.name == chosen:
            path = f"{field}.{position}.{'parameters' if is_legacy else 'function.parameters'}"
            parameters = _ANY_OBJECT if function.parameters is None else function.parameters
            return ForcedFunction(name=function.name, parameters=parameters, path=path, is_legacy=is_legacy)
    raise Invalid({field: _UNSUPPORTED})
