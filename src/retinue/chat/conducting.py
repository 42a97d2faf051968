"""One turn from its stored question to its stored reply, whoever listens."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from contextlib import aclosing, suppress
from typing import Any, TypeVar

import msgspec
import structlog

from retinue.chat import pausing
from retinue.chat.asking import Ask
from retinue.chat.engine import MAX_SECONDS, Budget, Resumption, Task, Turn
from retinue.chat.errors import ConversationNotFound, TurnTimedOut
from retinue.chat.models import Message, TurnStatus
from retinue.chat.spending import Paying
from retinue.chat.turns import Begun, Ending
from retinue.chat.words import Answered, CallError, FinishReason, Part
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError

log = structlog.get_logger("retinue.chat")

Hear = Callable[[Part], None]
Trail = list[int | str]
Store = Callable[[Context, Begun, Ending], Coroutine[Any, Any, Message | None]]
T = TypeVar("T")


async def conduct(
    ctx: Context,
    begun: Begun,
    *,
    hear: Hear | None = None,
    trail: Trail | None = None,
    store: Store = pausing.finish,
    resumed: Resumption | None = None,
) -> Message:
    """Answer, and store the reply; a turn that fails or is cut off is stored as far as it came.

    `hear` is told every part as it happens, and makes the model stream. `trail` is stored with the reply.
    `resumed` is what a turn that has waited for approvals goes on from.
    """
    paying = Paying(ctx)
    try:
        return await _conduct(ctx, begun, paying, hear, trail, store, resumed)
    finally:
        await paying.give_back()


async def _conduct(
    ctx: Context,
    begun: Begun,
    paying: Paying,
    hear: Hear | None,
    trail: Trail | None,
    store: Store,
    resumed: Resumption | None,
) -> Message:
    turn = _turn(ctx, begun, begun.ask, resumed, is_streaming=hear is not None)
    try:
        ask = await paying.take(begun.ask)
        if ask is not begun.ask:
            turn = _turn(ctx, begun, ask, resumed, is_streaming=hear is not None)
        async with asyncio.timeout(MAX_SECONDS):
            async with aclosing(turn.parts()) as parts:
                async for part in parts:
                    if hear is not None:
                        hear(part)
    except asyncio.CancelledError:
        answered = _cut(turn, finish_reason=FinishReason.cancelled)
        ending = Ending(answered=answered, status=TurnStatus.cancelled, trail=trail)
        await _store_early(ctx, begun, ending, store)
        raise
    except Exception as error:
        failure = _explained(error)
        answered = _cut(turn, error=CallError(failure.code, failure.message))
        ending = Ending(answered=answered, status=TurnStatus.failed, error=failure, trail=trail)
        await _store_early(ctx, begun, ending, store)
        raise failure from error
    answered = turn.so_far()
    if trail is not None:
        trail += [f"a{call.approval_id}" for call in answered.details.questions()]
    ending = Ending(answered=answered, status=TurnStatus.completed, trail=trail, paused=turn.paused())
    reply = await _undisturbed(store(ctx, begun, ending))
    if reply is None:
        raise ConversationNotFound
    return reply


def _turn(ctx: Context, begun: Begun, ask: Ask, resumed: Resumption | None, *, is_streaming: bool) -> Turn:
    agent = ask.agent
    task = Task(
        agent=agent,
        message=ask.message,
        history=begun.history,
        context=ask.context,
        max_tokens=min(ask.max_tokens or agent.max_tokens, agent.max_tokens),
        temperature=agent.temperature if ask.temperature is None else ask.temperature,
        stop=ask.stop,
        depth=ask.depth,
        # Whoever called an agent as a tool waits for its answer, and could not wait for days.
        may_wait=ask.depth == 0,
        is_streaming=is_streaming,
        resumed=resumed,
    )
    return Turn(ctx, task, Budget(ask.token_budget))


def _cut(turn: Turn, **known: Any) -> Answered:
    """What was said until the turn ended early, with what is known of that end."""
    answered = turn.so_far()
    return msgspec.structs.replace(answered, details=msgspec.structs.replace(answered.details, **known))


def _explained(error: Exception) -> RetinueError:
    if isinstance(error, RetinueError):
        return error
    if isinstance(error, TimeoutError):
        return TurnTimedOut(f"The agent did not finish within {MAX_SECONDS:g} seconds.")
    log.error("a turn failed unexpectedly", exc_info=error)
    return RetinueError()


async def _store_early(ctx: Context, begun: Begun, ending: Ending, store: Store) -> None:
    """What is left of a turn that failed; a second failure must not hide the first one."""
    try:
        await _undisturbed(store(ctx, begun, ending))
    except Exception:
        log.exception("the end of a turn could not be stored", message_id=begun.reply_id)


async def _undisturbed(storing: Coroutine[Any, Any, T]) -> T:
    """What was said is stored to the end, whoever leaves, stops the turn or stops it twice meanwhile."""
    loop = asyncio.get_running_loop()
    task = loop.create_task(storing)
    while not task.done():
        over = loop.create_future()
        task.add_done_callback(functools.partial(_wake, over))
        with suppress(asyncio.CancelledError):
            await over
    return task.result()


def _wake(over: asyncio.Future[None], _task: object) -> None:
    if not over.done():
        over.set_result(None)
