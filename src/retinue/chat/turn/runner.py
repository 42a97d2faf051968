"""One turn, from its stored question to its stored reply."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any, TypeVar

import msgspec
import structlog

from retinue.adapters.llm import ContentPart
from retinue.chat.engine import AgentTurn, Resumption, TurnBudget, TurnTask
from retinue.chat.engine.attached import attachment_parts
from retinue.chat.engine.attachment_content import load_texts
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.parts import CallError, FinishReason, TurnFinished, TurnPart
from retinue.chat.engine.time_limits import turn_seconds
from retinue.chat.errors import ConversationNotFound, TurnTimedOut
from retinue.chat.models import Message, TurnStatus
from retinue.chat.trail import TrailRecorder
from retinue.chat.turn import suspension
from retinue.chat.turn.billing import BudgetReservation
from retinue.chat.turn.conversation_memory import conversation_memory
from retinue.chat.turn.first_token import FirstTokenTimer
from retinue.chat.turn.repeated_attachments import readable_documents
from retinue.chat.turn.request import TurnRequest
from retinue.chat.turn.resent_history import conversation_seed
from retinue.chat.turn.storage import PendingTurn, TurnResult
from retinue.chat.turn.trace import recording_turn, with_trace
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.usage.price_book import load_price_book
from retinue.usage.refusals import record_refusal

log = structlog.get_logger("retinue.chat")

PartListener = Callable[[TurnPart], None]
StoreResult = Callable[[Context, PendingTurn, TurnResult], Coroutine[Any, Any, Message | None]]
T = TypeVar("T")


async def run_turn(
    ctx: Context,
    pending: PendingTurn,
    *,
    on_part: PartListener | None = None,
    trail: TrailRecorder | None = None,
    store: StoreResult = suspension.store_result_or_suspend,
    resumed: Resumption | None = None,
    reservation: BudgetReservation | None = None,
) -> Message:
    """Answer and store the reply; a turn that fails or is cancelled is stored as far as it got.

    `on_part` receives every part as it happens, and makes the model stream. `trail` records the parts and is
    stored with the reply. `resumed` is the state of a turn that waited for approvals. `reservation` holds the
    turn's budgets if they were reserved before the question was stored.
    """
    # ADR 21: records and events of this turn may quote the conversation.
    ctx.quote(pending.conversation_id)
    reservation = reservation or BudgetReservation(ctx)
    timer = FirstTokenTimer(ctx, pending)
    on_part = timer.listening(on_part)
    try:
        with recording_turn(ctx, pending.request, pending.conversation_id, resumed):
            return await _run(ctx, pending, reservation, on_part, trail, _timed(store, timer), resumed)
    finally:
        await reservation.release()


def _timed(store: StoreResult, timer: FirstTokenTimer) -> StoreResult:
    """Return `store` for results that also hold the time until the reply began."""

    async def store_timed(ctx: Context, pending: PendingTurn, result: TurnResult) -> Message | None:
        timed = msgspec.structs.replace(result, first_token_ms=timer.elapsed_ms)
        return await store(ctx, pending, timed)

    return store_timed


async def _run(
    ctx: Context,
    pending: PendingTurn,
    reservation: BudgetReservation,
    on_part: PartListener | None,
    trail: TrailRecorder | None,
    store: StoreResult,
    resumed: Resumption | None,
) -> Message:
    budget = TurnBudget(await load_price_book(ctx), pending.request.token_budget)
    build = functools.partial(
        _build_agent_turn,
        ctx,
        pending,
        resumed=resumed,
        attached=await _load_attached(ctx, pending, resumed),
        is_streaming=on_part is not None,
    )
    turn = build(pending.request, budget)
    steps = trail.steps if trail is not None else None
    try:
        request = await reservation.reserve(pending.request)
        if request is not pending.request or reservation.unpriced is not None or reservation.limits:
            budget = TurnBudget(budget.prices, request.token_budget, reservation.unpriced, reservation.limits)
            turn = build(request, budget)
        async with asyncio.timeout(turn_seconds(ctx, request.agent)):
            async with aclosing(turn.parts()) as parts:
                async for part in parts:
                    if trail is not None:
                        trail.record_part(part)
                    if on_part is not None:
                        on_part(part)
                    if isinstance(part, TurnFinished):
                        answered = part
    except asyncio.CancelledError:
        answered = _cut_off(turn, finish_reason=FinishReason.cancelled)
        result = TurnResult(answered=answered, status=TurnStatus.cancelled, trail=steps)
        await _store_interrupted(ctx, pending, result, store)
        raise
    except Exception as error:
        failure = _to_turn_failure(error, pending, turn_seconds(ctx, pending.request.agent))
        answered = _cut_off(turn, error=CallError(failure.code, failure.message))
        result = TurnResult(answered=answered, status=TurnStatus.failed, error=failure, trail=steps)
        await _store_interrupted(ctx, pending, result, store)
        await record_refusal(ctx, failure)
        raise failure from error
    if trail is not None:
        trail.record_approvals(answered.details)
    result = TurnResult(
        answered=answered, status=TurnStatus.completed, trail=steps, paused=with_trace(turn.paused())
    )
    reply = await _shielded(store(ctx, pending, result))
    if reply is None:
        raise ConversationNotFound
    return reply


async def _load_attached(
    ctx: Context, pending: PendingTurn, resumed: Resumption | None
) -> tuple[ContentPart, ...]:
    """Return the attachments of the message; a resumed turn has them in its conversation."""
    request = pending.request
    if not request.attachments or resumed is not None:
        return ()
    fence = PromptFence.of_seed(ctx, conversation_seed(ctx, request, pending.conversation_id))
    return attachment_parts(request.attachments, await load_texts(ctx, request.attachments), fence)


def _build_agent_turn(
    ctx: Context,
    pending: PendingTurn,
    request: TurnRequest,
    budget: TurnBudget,
    *,
    resumed: Resumption | None,
    attached: tuple[ContentPart, ...],
    is_streaming: bool,
) -> AgentTurn:
    agent, history = request.agent, pending.history
    seed = resumed.standing.seed if resumed is not None else ""
    seed = seed or conversation_seed(ctx, request, pending.conversation_id)
    task = TurnTask(
        agent=agent,
        message=request.message,
        seed=seed,
        history=history.messages,
        context=request.context,
        max_tokens=min((limit for limit in (request.max_tokens, agent.max_tokens) if limit), default=None),
        temperature=agent.temperature if request.temperature is None else request.temperature,
        stop=request.stop,
        depth=request.depth,
        # The caller of an agent used as a tool waits for it, and cannot wait for days.
        may_suspend=request.depth == 0,
        is_streaming=is_streaming,
        resumed=resumed,
        warnings=request.warnings,
        pinned=request.pinned,
        output_schema=request.output_schema,
        reasoning_effort=request.reasoning_effort or agent.reasoning_effort,
        attached=attached,
        asks_before=frozenset(request.asks_before),
        documents=(*history.documents, *readable_documents(request.attachments)),
        memory=conversation_memory(ctx, pending.conversation_id, history, seed, pending.position),
    )
    return AgentTurn(ctx, task, budget)


def _cut_off(turn: AgentTurn, **changes: Any) -> TurnFinished:
    """Return the reply so far, with these changes to its details."""
    answered = turn.current_result()
    return msgspec.structs.replace(answered, details=msgspec.structs.replace(answered.details, **changes))


def _to_turn_failure(error: Exception, pending: PendingTurn, time_limit_s: float) -> RetinueError:
    """Return the error with the conversation that holds the question, for whoever asks it again."""
    failure = _to_retinue_error(error, time_limit_s)
    if pending.request.depth == 0:
        failure.details = {**(failure.details or {}), "conversation_id": pending.conversation_id}
    return failure


def _to_retinue_error(error: Exception, time_limit_s: float) -> RetinueError:
    if isinstance(error, RetinueError):
        return error
    if isinstance(error, TimeoutError):
        return TurnTimedOut(
            f"The agent did not finish within {time_limit_s:g} seconds. Try again, or split the task."
        )
    log.error("turn_failed", exc_info=error)
    return RetinueError()


async def _store_interrupted(
    ctx: Context, pending: PendingTurn, result: TurnResult, store: StoreResult
) -> None:
    """Store what is left of a failed turn; a failure to store must not hide the first error."""
    try:
        await _shielded(store(ctx, pending, result))
    except Exception:
        log.exception("turn_result_not_stored", message_id=pending.reply_id)


async def _shielded(store_coroutine: Coroutine[Any, Any, T]) -> T:
    """Finish storing the reply even if this task is cancelled meanwhile, once or repeatedly."""
    loop = asyncio.get_running_loop()
    task = loop.create_task(store_coroutine)
    while not task.done():
        done_future = loop.create_future()
        task.add_done_callback(functools.partial(_wake, done_future))
        with suppress(asyncio.CancelledError):
            await done_future
    return task.result()


def _wake(done_future: asyncio.Future[None], _task: object) -> None:
    if not done_future.done():
        done_future.set_result(None)
