"""Outcomes of tool calls, and their concurrent execution."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from typing import Any

import msgspec

from retinue.adapters.llm import ModelMessage
from retinue.adapters.search import SearchResult
from retinue.chat.engine.parts import (
    CalledTool,
    CallError,
    CallStatus,
    Source,
    ToolCallFinished,
    ToolCallStarted,
    TurnPart,
)
from retinue.chat.engine.sanitizer import sanitize_json
from retinue.chat.engine.suspended import Delegated, PendingCall
from retinue.chat.engine.tool_functions import ToolFunction
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.json_schema import compile_schema
from retinue.tools.models import ExecutionStatus

DENIAL_REASONS = {
    "rejected": "An approver rejected this call.",
    "timeout": "Nobody approved this call in time.",
    "cancelled": "This call was cancelled.",
}
CALL_STATUSES = {
    ExecutionStatus.completed: CallStatus.completed,
    ExecutionStatus.failed: CallStatus.failed,
    ExecutionStatus.timeout: CallStatus.timeout,
}

SubAgentPart = ToolCallStarted | ToolCallFinished


class ToolCallOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a tool call.

    `waiting_on` is what the call waits for; until then there is no `message` for the model.
    `sub_agent_parts` are the steps of a sub-agent.
    """

    called: CalledTool
    message: ModelMessage | None = None
    waiting_on: PendingCall | Delegated | None = None
    sub_agent_parts: tuple[SubAgentPart, ...] = ()
    sources: tuple[Source, ...] = ()


CALL_CODES = {
    "agent_not_found": "The sub-agent is no longer available.",
    "approval_denied": "The call was not approved.",
    "approval_required": "The call needs an approval, for which nobody can wait here.",
    "call_limit": "The turn has made as many calls as it may.",
    "file_not_found": "No such document is attached to the conversation, or it has no such page.",
    "invalid_arguments": "The model's arguments are not valid.",
    "message_not_found": "The conversation has no such message.",
    "not_configured": "The web search is not configured.",
    "not_named": "The address of the page did not stand in the conversation.",
    "not_readable": "The page could not be read.",
    "provider_error": "The web could not be searched.",
    "rate_limited": "The search engine accepts no more queries for now.",
    "timeout": "The call was not decided or not finished in time.",
    "tool_not_found": "The tool is no longer available.",
}
"""The codes of failed calls. A call of a tool also shows the codes of its execution."""


class CallRefused(Exception):
    """A call that is refused; the model receives the reason."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.error = CallError(code, message)


def require_valid_input(function: ToolFunction, arguments: JsonObject) -> None:
    """Check a searched function's input, which no provider has held against its schema."""
    try:
        problems = compile_schema(function.schema, "input_schema").errors(arguments, "input")
    except Invalid:
        return
    if problems:
        shown = "; ".join(f"{path}: {problem}" for path, problem in problems.items())
        raise CallRefused(
            "invalid_arguments", f"The input does not match the function's schema. {shown}"[:2000]
        )


async def run_in_order(
    calls: list[Coroutine[Any, Any, ToolCallOutcome]],
) -> AsyncGenerator[ToolCallOutcome, None]:
    """Run all calls concurrently and yield their outcomes in the order of the calls."""
    running = [asyncio.create_task(call) for call in calls]
    try:
        for task in running:
            yield await task
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def to_call_error(error: RetinueError) -> CallError:
    if not isinstance(error, Invalid):
        return CallError(error.code, error.message)
    problems = "; ".join(f"{name}: {problem}" for name, problem in (error.details or {}).items())
    return CallError(error.code, f"{error.message} {problems}"[:2000])


def as_sub_agent_part(part: TurnPart, agent_id: str) -> tuple[SubAgentPart, ...]:
    """Return the steps of a sub-agent that its caller reports; its text is the call's result."""
    if isinstance(part, ToolCallStarted):
        return (msgspec.structs.replace(part, is_from_sub_agent=True),)
    return (
        (ToolCallFinished(with_agent(part.call, agent_id), is_from_sub_agent=True),)
        if isinstance(part, ToolCallFinished)
        else ()
    )


def with_agent(call: CalledTool, agent_id: str) -> CalledTool:
    """Mark a step as the sub-agent's, unless a sub-agent of its own made it."""
    return call if call.sub_agent_id else msgspec.structs.replace(call, sub_agent_id=agent_id)


def sanitize_page(page: SearchResult) -> SearchResult:
    return msgspec.convert(sanitize_json(msgspec.to_builtins(page)), SearchResult)
