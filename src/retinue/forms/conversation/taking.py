"""The engine: proposals in, the validator's word on each, and how far the conversation is after it.

It knows neither HTTP nor records nor models. Whoever proposes, only what `Fields` takes is kept, and only for
fields that a visitor can see.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from retinue.forms.conversation.state import Proposals, State
from retinue.kit.fields import FieldType
from retinue.kit.fields.checking import Field
from retinue.kit.fields.values import Wrong, is_missing

Verify = Callable[[Field, Any], Awaitable[str | None]]
"""What only the database knows: why a right value is still none, such as a file that nobody uploaded."""

REQUIRED = "is required"


class Captured(msgspec.Struct, frozen=True):
    field_id: str
    value: Any


class Rejected(msgspec.Struct, frozen=True):
    field_id: str | None
    message: str


class Taken(msgspec.Struct):
    """What became of one message; `is_ready` when nothing is left to ask."""

    captured: list[Captured] = []
    rejected: list[Rejected] = []
    skipped: list[str] = []
    ignored: list[str] = []
    """Proposals for what nobody may answer here: hidden fields, and fields that do not exist."""
    is_ready: bool = False
    is_confirmed: bool = False
    is_declined: bool = False
    is_nothing: bool = False


async def take(state: State, proposals: Proposals, verify: Verify) -> Taken:
    """Change the state by what holds of the proposals, and say what did."""
    taken = Taken()
    for field_id, problem in proposals.problems.items():
        taken.rejected.append(Rejected(field_id or None, problem))
    await _take_answers(state, proposals.answers, verify, taken)
    _take_skips(state, proposals.skips, taken)
    if proposals.goes_back:
        previous = state.previous_field()
        if previous is not None:
            state.reopen(previous.id)
    elif proposals.reopened is not None and state.find_input(proposals.reopened) is not None:
        state.reopen(proposals.reopened)
    state.settle()
    taken.skipped = [id for id in taken.skipped if id in state.skipped]
    taken.captured = [one for one in taken.captured if one.field_id in state.answers]
    is_command = proposals.goes_back or proposals.reopened is not None or proposals.is_confirmed is not None
    taken.is_nothing = not (taken.captured or taken.skipped or taken.rejected or is_command)
    taken.is_confirmed = proposals.is_confirmed is True and state.is_confirming and state.asked is None
    taken.is_declined = proposals.is_confirmed is False
    _go_on(state, taken)
    return taken


def _go_on(state: State, taken: Taken) -> None:
    """What is asked next: what was asked stays until it is answered or skipped."""
    current = state.asked_field
    if current is None or state.is_done_with(current):
        following = state.next_field()
        state.asked = following.id if following is not None else None
    taken.is_ready = state.asked is None
    if not taken.is_ready:
        state.is_confirming = False


async def _take_answers(state: State, answers: dict[str, Any], verify: Verify, taken: Taken) -> None:
    """In the form's order, again after each round: an answer may show the field of another."""
    pending = dict(answers)
    for id in [id for id in pending if not _is_answerable(state, id)]:
        taken.ignored.append(id)
        del pending[id]
    while pending:
        field = next((field for field in state.inputs if field.id in pending), None)
        if field is None:
            return
        value = pending.pop(field.id)
        problem, kept = await judge(field, value, verify)
        if problem is not None:
            taken.rejected.append(Rejected(field.id, problem))
            continue
        if kept is None:
            taken.skipped.append(field.id)
            state.answers.pop(field.id, None)
            state.skipped.append(field.id)
            continue
        state.answers[field.id] = kept
        taken.captured.append(Captured(field.id, kept))


def _is_answerable(state: State, id: str) -> bool:
    field = state.fields.by_id.get(id)
    return field is not None and field in state.fields.asked and field.type is not FieldType.hidden


async def judge(field: Field, value: Any, verify: Verify) -> tuple[str | None, Any]:
    """Why a value is none, or the value as it is kept; None for both where nothing was answered."""
    if is_missing(field.type, value):
        return (REQUIRED, None) if field.required else (None, None)
    try:
        kept = field.read(value)
    except Wrong as wrong:
        return str(wrong), None
    if field.required and kept is False:
        return REQUIRED, None
    return await verify(field, kept), kept


def _take_skips(state: State, skips: list[str], taken: Taken) -> None:
    for id in skips:
        field = state.find_input(id)
        if field is None:
            taken.ignored.append(id)
        elif field.required:
            taken.rejected.append(Rejected(id, REQUIRED))
        elif id not in {one.field_id for one in taken.captured}:
            state.answers.pop(id, None)
            state.skipped.append(id)
            taken.skipped.append(id)


async def prefill(state: State, given: dict[str, Any], verify: Verify) -> list[Rejected]:
    """What is known before anything is asked: by the rules of a submission, hidden fields included."""
    wrong: dict[str, str] = {}
    for field in state.fields.asked:
        value = given.get(field.id)
        if is_missing(field.type, value):
            continue
        problem, kept = await judge(field, value, verify)
        if problem is not None:
            wrong[field.id] = problem
        else:
            state.prefilled[field.id] = kept
    state.settle()
    _go_on(state, Taken())
    shown = state.fields.visible(state.answers)
    return [Rejected(id, problem) for id, problem in wrong.items() if id in shown]
