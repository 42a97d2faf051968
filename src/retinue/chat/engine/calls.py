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
from retinue.chat.engine.pausing import Decided, Delegated, PendingCall, Resumption, Standing
from retinue.chat.engine.storable import storable, storable_text
from retinue.chat.engine.toolbox import Toolbox
from retinue.chat.words import Answered, CalledTool, CallError, CallStatus, Part, Source, ToolBegan, ToolDone
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

Inner = ToolBegan | ToolDone


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a call; `inner` is what a sub-agent did on the way.

    `waits` is what keeps a call from being done, and then there is nothing to tell the model yet.
    """

    called: CalledTool
    message: Message | None = None
    waits: PendingCall | Delegated | None = None
    inner: tuple[Inner, ...] = ()
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
        self, standing: Standing, decisions: dict[str, Decided]
    ) -> AsyncGenerator[Outcome, None]:
        """The outcomes of calls that waited for an answer, each as it was decided; sub-agents go on."""
        settling = [self._settle_one(one, decisions[one.approval_id]) for one in standing.pending]
        settling += [self._timed(one.call, self._go_on(one, decisions)) for one in standing.delegated]
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
        except RetinueError as error:
            outcome = self._failed(call, _told(error))
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
        if not self._task.may_wait:
            raise Refused("approval_required", "An agent that is used as a tool cannot wait for an approval.")
        check(tool, offer.input_of(arguments))
        pending = PendingCall(call=call, tool_id=tool.id, approval_id=new_id(_APPROVAL_PREFIX))
        called = self._called(
            call,
            tool_id=tool.id,
            input=arguments,
            status=CallStatus.awaiting_approval,
            approval_id=pending.approval_id,
        )
        return Outcome(called=called, waits=pending)

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
        task, context = arguments.get("task"), arguments.get("context")
        if not isinstance(task, str) or not task.strip():
            raise Refused("invalid_arguments", "`task` must say what is to be done.")
        message = f"{task}\n\n{self._fence.around(context)}" if isinstance(context, str) and context else task
        return await self._hand_on(call, helper, message)

    async def _go_on(self, waited: Delegated, decisions: dict[str, Decided]) -> Outcome:
        """With what a sub-agent had stopped at."""
        helper = self._toolbox.find_helper(waited.agent_id)
        if helper is None:
            return self._gone(waited)
        resumed = Resumption(standing=waited, decisions=decisions, text=waited.text, details=waited.details)
        async with self._at_once:
            return await self._hand_on(waited.call, helper, resumed=resumed)

    def _gone(self, waited: Delegated) -> Outcome:
        """Whatever was decided: an agent that may no longer be asked makes no calls."""
        error = CallError("agent_not_found", "The agent that was asked is no longer there.")
        undone = (
            msgspec.structs.replace(call, status=CallStatus.failed, error=error)
            for call in waited.details.tool_calls
        )
        inner = tuple(ToolDone(call, is_inner=True) for call in undone)
        outcome = self._failed(waited.call, error, sub_agent_id=waited.agent_id)
        return msgspec.structs.replace(outcome, inner=inner)

    async def _hand_on(
        self, call: ToolCall, helper: AttachedAgent, message: str = "", resumed: Resumption | None = None
    ) -> Outcome:
        """The turn of a sub-agent, to its end or to where it waits; what it did is told in any case."""
        from retinue.chat.engine.loop import Task, Turn

        agent = helper.agent
        task = Task(
            agent=agent,
            message=message,
            max_tokens=agent.max_tokens,
            temperature=agent.temperature,
            depth=self._task.depth + 1,
            may_wait=self._task.may_wait,
            resumed=resumed,
        )
        turn = Turn(self._ctx, task, self._budget, self._fence)
        inner: list[Inner] = []
        try:
            async with aclosing(turn.parts()) as parts:
                async for part in parts:
                    # One by one, so that those before a failure are there.
                    inner += _as_inner(part, agent.id)
        except RetinueError as error:
            outcome = self._failed(call, _told(error), sub_agent_id=agent.id)
        else:
            outcome = self._answer(call, agent.id, turn.so_far(), turn.standing)
        return msgspec.structs.replace(outcome, inner=tuple(inner))

    def _answer(
        self, call: ToolCall, agent_id: str, answered: Answered, standing: Standing | None
    ) -> Outcome:
        known: dict[str, Any] = {"input": call.arguments or {}, "sub_agent_id": agent_id}
        if standing is None:
            return self._outcome(call, self._called(call, output=answered.text, **known), answered.text)
        waiting = tuple(
            _with_agent(one, agent_id)
            for one in answered.details.tool_calls
            if one.status is CallStatus.awaiting_approval
        )
        waits = Delegated(
            **msgspec.structs.asdict(standing),
            call=call,
            agent_id=agent_id,
            text=answered.text,
            details=msgspec.structs.replace(answered.details, tool_calls=waiting),
        )
        return Outcome(called=self._called(call, status=CallStatus.awaiting_approval, **known), waits=waits)

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

    def _failed(self, call: ToolCall, error: CallError, **known: Any) -> Outcome:
        called = self._called(
            call, input=call.arguments or {}, status=CallStatus.failed, error=error, **known
        )
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


def _told(error: RetinueError) -> CallError:
    if not isinstance(error, Invalid):
        return CallError(error.code, error.message)
    problems = "; ".join(f"{name}: {problem}" for name, problem in (error.details or {}).items())
    return CallError(error.code, f"{error.message} {problems}"[:2000])


def _as_inner(part: Part, agent_id: str) -> tuple[Inner, ...]:
    """What whoever asked a sub-agent is told of it; what it says is its answer's."""
    if isinstance(part, ToolBegan):
        return (msgspec.structs.replace(part, is_inner=True),)
    return (ToolDone(_with_agent(part.call, agent_id), is_inner=True),) if isinstance(part, ToolDone) else ()


def _with_agent(call: CalledTool, agent_id: str) -> CalledTool:
    """A step of a sub-agent, unless one of its own took it."""
    return call if call.sub_agent_id else msgspec.structs.replace(call, sub_agent_id=agent_id)


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
