"""Using what a model asks for: tools, other agents, the web."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import msgspec
import structlog

from retinue.adapters.llm import Message, ToolCall
from retinue.adapters.search import Found, SearchError
from retinue.agents.capabilities import AttachedAgent
from retinue.agents.searching import search_web
from retinue.chat.engine import prompts
from retinue.chat.engine.budget import MAX_CALLS_AT_ONCE, Budget
from retinue.chat.engine.offers import Offer
from retinue.chat.engine.pausing import Decided, PendingCall
from retinue.chat.engine.storable import storable, storable_text
from retinue.chat.engine.toolbox import Toolbox
from retinue.chat.words import CalledTool, CallError, CallStatus, Source
from retinue.kit.context import Context
from retinue.kit.errors import Invalid, RetinueError
from retinue.kit.ids import new_id
from retinue.tools.execution import check, execute
from retinue.tools.models import ExecutionSource, ExecutionStatus

if TYPE_CHECKING:
    from retinue.chat.engine.loop import Task

log = structlog.get_logger("retinue.chat")


_APPROVAL_PREFIX = "apv"
_DENIED = "approval_denied"


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a call; `inner` is what a sub-agent did on the way.

    `pending` is a call that was not made yet, and then there is nothing to tell the model.
    """

    called: CalledTool
    message: Message | None = None
    pending: PendingCall | None = None
    inner: tuple[CalledTool, ...] = ()
    sources: tuple[Source, ...] = ()


class Refused(Exception):
    """A call that is not made; the model reads why."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.error = CallError(code, message)


class Calls:
    def __init__(
        self, ctx: Context, task: "Task", toolbox: Toolbox, budget: Budget, fence: prompts.Fence
    ) -> None:
        self._ctx = ctx
        self._task = task
        self._toolbox = toolbox
        self._budget = budget
        self._fence = fence
        self._at_once = asyncio.Semaphore(MAX_CALLS_AT_ONCE)

    async def run(self, calls: tuple[ToolCall, ...], sources_before: int) -> AsyncGenerator[Outcome, None]:
        """The outcomes in the order of the calls; whoever stops listening stops them all."""
        async with aclosing(_in_order([self._run_one(call, sources_before) for call in calls])) as outcomes:
            async for outcome in outcomes:
                yield outcome

    async def settle(
        self, pending: tuple[PendingCall, ...], decisions: dict[str, Decided]
    ) -> AsyncGenerator[Outcome, None]:
        """The outcomes of calls that waited for an answer, each as it was decided."""
        settling = [self._settle_one(one, decisions[one.approval_id]) for one in pending]
        async with aclosing(_in_order(settling)) as outcomes:
            async for outcome in outcomes:
                yield outcome

    async def _settle_one(self, pending: PendingCall, decided: Decided) -> Outcome:
        arguments = {**(pending.call.arguments or {}), **(decided.edited_input or {})}
        call = msgspec.structs.replace(pending.call, arguments=arguments)
        if decided.decision == "approved":
            outcome = await self._timed(call, self._run_approved(call, pending, arguments))
        else:
            outcome = self._denied(call, pending, decided)
        called = msgspec.structs.replace(outcome.called, approval_id=pending.approval_id)
        return msgspec.structs.replace(outcome, called=called)

    async def _run_approved(self, call: ToolCall, pending: PendingCall, arguments: dict[str, Any]) -> Outcome:
        offer = self._toolbox.by_name.get(call.name)
        if not isinstance(offer, Offer) or offer.attached.tool.id != pending.tool_id:
            raise Refused("tool_not_found", f"The tool {call.name[:100]} is no longer there.")
        async with self._at_once:
            return await self._execute(call, offer, arguments)

    def _denied(self, call: ToolCall, pending: PendingCall, decided: Decided) -> Outcome:
        """The comment is what the call gave, and the model reads it."""
        why = decided.comment or _REASONS[decided.decision]
        is_late = decided.decision == "timeout"
        called = self._called(
            call,
            tool_id=pending.tool_id,
            input=call.arguments,
            output=decided.comment,
            status=CallStatus.timeout if is_late else CallStatus.denied,
            error=CallError("timeout" if is_late else _DENIED, why),
        )
        return self._outcome(call, called, msgspec.to_builtins(called.error))

    async def _run_one(self, call: ToolCall, sources_before: int) -> Outcome:
        async def use() -> Outcome:
            arguments = self._checked(call)
            async with self._at_once:
                return await self._use(call, arguments, sources_before)

        return await self._timed(call, use())

    async def _timed(self, call: ToolCall, using: Coroutine[Any, Any, Outcome]) -> Outcome:
        started = self._ctx.clock.monotonic()
        try:
            outcome = await using
        except Refused as refused:
            outcome = self._failed(call, refused.error)
        except Invalid as invalid:
            problems = "; ".join(f"{name}: {problem}" for name, problem in (invalid.details or {}).items())
            outcome = self._failed(call, CallError(invalid.code, f"{invalid.message} {problems}"[:2000]))
        except RetinueError as error:
            outcome = self._failed(call, CallError(error.code, error.message))
        elapsed_ms = round((self._ctx.clock.monotonic() - started) * 1000)
        called = msgspec.structs.replace(outcome.called, execution_time_ms=elapsed_ms)
        return msgspec.structs.replace(outcome, called=called)

    def _checked(self, call: ToolCall) -> dict[str, Any]:
        if call.name not in self._toolbox.by_name:
            raise Refused("tool_not_found", f"There is no tool {call.name[:100]}.")
        if call.arguments is None:
            raise Refused("invalid_arguments", call.error or "The arguments are not a JSON object.")
        if not self._budget.admits(self._task.agent.id, call.name, call.arguments):
            raise Refused("call_limit", "No more calls like this one: answer with what you have.")
        return call.arguments

    async def _use(self, call: ToolCall, arguments: dict[str, Any], sources_before: int) -> Outcome:
        usable = self._toolbox.by_name[call.name]
        if isinstance(usable, Offer):
            if usable.attached.requires_approval:
                return self._waiting(call, usable, arguments)
            return await self._execute(call, usable, arguments)
        if isinstance(usable, AttachedAgent):
            return await self._delegate(call, usable, arguments)
        return await self._search(call, arguments, sources_before)

    def _waiting(self, call: ToolCall, offer: Offer, arguments: dict[str, Any]) -> Outcome:
        """A call that nobody has agreed to yet; what could not be run anyway is not asked for."""
        tool = offer.attached.tool
        if self._task.depth:
            raise Refused("approval_required", "Only the agent that talks to a person can ask for approval.")
        check(tool, offer.input_of(arguments))
        pending = PendingCall(call=call, tool_id=tool.id, approval_id=new_id(_APPROVAL_PREFIX))
        called = self._called(
            call,
            tool_id=tool.id,
            input=arguments,
            status=CallStatus.awaiting_approval,
            approval_id=pending.approval_id,
        )
        return Outcome(called=called, pending=pending)

    async def _execute(self, call: ToolCall, offer: Offer, arguments: dict[str, Any]) -> Outcome:
        agent, attached = self._task.agent, offer.attached
        finished = await execute(
            self._ctx,
            attached.tool,
            offer.input_of(arguments),
            source=ExecutionSource.agent,
            agent_id=agent.id,
            agent_name=agent.name,
            override=attached.attachment.config_override,
            override_destination=attached.attachment.override_destination,
        )
        output = storable(finished.output)
        error = finished.error and CallError(finished.error.code, storable_text(finished.error.message))
        called = self._called(
            call,
            tool_id=attached.tool.id,
            input=arguments,
            output=output,
            status=_STATUSES[finished.execution.status],
            error=error,
            execution_id=finished.execution.id,
        )
        told = output if error is None else msgspec.to_builtins(error)
        return self._outcome(call, called, told)

    async def _delegate(self, call: ToolCall, helper: AttachedAgent, arguments: dict[str, Any]) -> Outcome:
        from retinue.chat.engine.loop import Task, Turn

        task, context = arguments.get("task"), arguments.get("context")
        if not isinstance(task, str) or not task.strip():
            raise Refused("invalid_arguments", "`task` must say what is to be done.")
        message = f"{task}\n\n{self._fence.around(context)}" if isinstance(context, str) and context else task
        inner = Task(
            agent=helper.agent,
            message=message,
            max_tokens=helper.agent.max_tokens,
            temperature=helper.agent.temperature,
            depth=self._task.depth + 1,
        )
        turn = Turn(self._ctx, inner, self._budget, self._fence)
        async with aclosing(turn.parts()) as parts:
            async for _part in parts:
                pass
        answered = turn.so_far()
        steps = tuple(
            step if step.sub_agent_id else msgspec.structs.replace(step, sub_agent_id=helper.agent.id)
            for step in answered.details.tool_calls
        )
        called = self._called(call, input=arguments, output=answered.text, sub_agent_id=helper.agent.id)
        return self._outcome(call, called, answered.text, inner=steps)

    async def _search(self, call: ToolCall, arguments: dict[str, Any], sources_before: int) -> Outcome:
        query = arguments.get("query")
        if not isinstance(query, str) or not query.strip():
            raise Refused("invalid_arguments", "`query` must say what to look for.")
        try:
            found = [_storable(page) for page in await search_web(self._ctx, self._task.agent, query)]
        except SearchError as error:
            return self._failed(call, CallError(error.code, error.message))
        sources = tuple(
            Source(
                document_name=page.title,
                chunk_preview=page.snippet,
                relevance_score=round(1 / (1 + position), 3),
                url=page.url,
                index=sources_before + position + 1,
            )
            for position, page in enumerate(found)
        )
        output = [
            {"index": source.index, "title": page.title, "url": page.url, "snippet": page.snippet}
            for source, page in zip(sources, found, strict=True)
        ]
        called = self._called(call, input=arguments, output=output)
        return self._outcome(call, called, output, sources=sources)

    def _called(self, call: ToolCall, **known: Any) -> CalledTool:
        return CalledTool(
            id=call.id,
            tool=call.name,
            **{"tool_id": None, "status": CallStatus.completed, **known},
        )

    def _failed(self, call: ToolCall, error: CallError) -> Outcome:
        called = self._called(call, input=call.arguments or {}, status=CallStatus.failed, error=error)
        return self._outcome(call, called, msgspec.to_builtins(error))

    def _outcome(self, call: ToolCall, called: CalledTool, told: Any, **more: Any) -> Outcome:
        is_error = called.status is not CallStatus.completed
        message = prompts.tool_result(call.id, told, self._fence, is_error=is_error)
        return Outcome(called=called, message=message, **more)


async def _in_order(each: list[Coroutine[Any, Any, Outcome]]) -> AsyncGenerator[Outcome, None]:
    """All at once, and what comes of them in their order."""
    running = [asyncio.create_task(one) for one in each]
    try:
        for task in running:
            yield await task
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _storable(page: Found) -> Found:
    return msgspec.convert(storable(msgspec.to_builtins(page)), Found)


_REASONS = {
    "rejected": "An approver rejected this call.",
    "timeout": "Nobody approved this call in time.",
    "cancelled": "Nobody asks for this call any more.",
}
_STATUSES = {
    ExecutionStatus.completed: CallStatus.completed,
    ExecutionStatus.failed: CallStatus.failed,
    ExecutionStatus.timeout: CallStatus.timeout,
}
