"""The conversation engine: validates proposals, applies them to the state and decides what to ask next.

It knows neither HTTP nor records nor models. Wherever a proposal comes from, only values that `Fields`
accepts are kept, and only for fields that the visitor can see.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from retinue.forms.conversation.state import ConversationState, Proposals
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.fields import FieldType
from retinue.kit.schema.fields.validator import FormField
from retinue.kit.schema.fields.values import InvalidAnswer, is_missing

Verify = Callable[[FormField, Any], Awaitable[str | None]]
"""Checks that need the database, such as an uploaded file; returns the problem, or None."""

REQUIRED_MESSAGE = "is required"


class CapturedAnswer(msgspec.Struct, frozen=True):
    field_id: str
    value: Any


class RejectedAnswer(msgspec.Struct, frozen=True):
    field_id: str | None
    message: str


class ProposalsResult(msgspec.Struct):
    """The result of one message; `is_ready` if nothing is left to ask."""

    captured: list[CapturedAnswer] = []
    rejected: list[RejectedAnswer] = []
    skipped: list[str] = []
    ignored: list[str] = []
    """Proposals for fields that cannot be answered here: hidden or unknown ones."""
    is_ready: bool = False
    is_confirmed: bool = False
    is_declined: bool = False
    is_empty_result: bool = False


async def apply_proposals(state: ConversationState, proposals: Proposals, verify: Verify) -> ProposalsResult:
    """Apply the valid proposals to the state and return the result."""
    result = ProposalsResult()
    for field_id, problem in proposals.problems.items():
        result.rejected.append(RejectedAnswer(field_id or None, problem))
    await _apply_answers(state, proposals.answers, verify, result)
    _apply_skips(state, proposals.skips, result)
    if proposals.goes_back:
        previous = state.previous_field()
        if previous is not None:
            state.reopen(previous.id)
    elif proposals.reopened is not None and state.find_input(proposals.reopened) is not None:
        state.reopen(proposals.reopened)
    state.revalidate()
    result.skipped = [id for id in result.skipped if id in state.skipped]
    result.captured = [captured for captured in result.captured if captured.field_id in state.answers]
    is_command = proposals.goes_back or proposals.reopened is not None or proposals.is_confirmed is not None
    result.is_empty_result = not (result.captured or result.skipped or result.rejected or is_command)
    result.is_confirmed = proposals.is_confirmed is True and state.is_confirming and state.asked is None
    result.is_declined = proposals.is_confirmed is False
    _ask_next(state, result)
    return result


def _ask_next(state: ConversationState, result: ProposalsResult) -> None:
    """Choose the next question. The current one stays until it is answered or skipped."""
    current = state.asked_field
    if current is None or state.is_settled(current):
        following = state.next_field()
        state.asked = following.id if following is not None else None
    result.is_ready = state.asked is None
    if not result.is_ready:
        state.is_confirming = False


async def _apply_answers(
    state: ConversationState, answers: JsonObject, verify: Verify, result: ProposalsResult
) -> None:
    """Apply answers in the form's order, rechecking after each one: an answer may reveal another field."""
    pending = dict(answers)
    for id in [id for id in pending if not _is_answerable(state, id)]:
        result.ignored.append(id)
        del pending[id]
    while pending:
        field = next((field for field in state.inputs if field.id in pending), None)
        if field is None:
            return
        value = pending.pop(field.id)
        problem, kept = await validate_answer(field, value, verify)
        if problem is not None:
            result.rejected.append(RejectedAnswer(field.id, problem))
            continue
        if kept is None:
            result.skipped.append(field.id)
            state.answers.pop(field.id, None)
            state.skipped.append(field.id)
            continue
        state.answers[field.id] = kept
        result.captured.append(CapturedAnswer(field.id, kept))


def _is_answerable(state: ConversationState, id: str) -> bool:
    field = state.fields.by_id.get(id)
    return field is not None and field in state.fields.asked and field.type is not FieldType.hidden


async def validate_answer(field: FormField, value: object, verify: Verify) -> tuple[str | None, Any]:
    """Return the problem, or the value to store; both are None if nothing was answered."""
    if is_missing(field.type, value):
        return (REQUIRED_MESSAGE, None) if field.required else (None, None)
    try:
        kept = field.read(value)
    except InvalidAnswer as error:
        return str(error), None
    if field.required and kept is False:
        return REQUIRED_MESSAGE, None
    return await verify(field, kept), kept


def _apply_skips(state: ConversationState, skips: list[str], result: ProposalsResult) -> None:
    for id in skips:
        field = state.find_input(id)
        if field is None:
            result.ignored.append(id)
        elif field.required:
            result.rejected.append(RejectedAnswer(id, REQUIRED_MESSAGE))
        elif id not in {captured.field_id for captured in result.captured}:
            state.answers.pop(id, None)
            state.skipped.append(id)
            result.skipped.append(id)


async def apply_prefill(
    state: ConversationState, prefill: JsonObject, verify: Verify
) -> list[RejectedAnswer]:
    """Apply values known from the start, hidden fields included; return the invalid ones."""
    problems: dict[str, str] = {}
    for field in state.fields.asked:
        value = prefill.get(field.id)
        if is_missing(field.type, value):
            continue
        problem, kept = await validate_answer(field, value, verify)
        if problem is not None:
            problems[field.id] = problem
        else:
            state.prefilled[field.id] = kept
    state.revalidate()
    _ask_next(state, ProposalsResult())
    visible = state.fields.visible(state.answers)
    return [RejectedAnswer(id, problem) for id, problem in problems.items() if id in visible]
