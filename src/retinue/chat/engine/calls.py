"""Execution of the calls a model requests: tools, sub-agents and web searches."""

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from retinue.adapters.llm import ToolCall
from retinue.agents.capabilities import AttachedAgent
from retinue.chat.engine import prompts
from retinue.chat.engine.budget import MAX_CONCURRENT_CALLS, TurnBudget
from retinue.chat.engine.call_outcomes import (
    CALL_STATUSES,
    DENIAL_REASONS,
    CallRefused,
    SubAgentPart,
    ToolCallOutcome,
    as_sub_agent_part,
    require_valid_input,
    run_in_order,
    to_call_error,
    with_agent,
)
from retinue.chat.engine.call_spans import describe_call, record_approval, start_agent_span, start_call_span
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.own_functions import OwnFunctions
from retinue.chat.engine.parts import (
    CalledTool,
    CallError,
    CallStatus,
    ToolCallFinished,
    TurnFinished,
)
from retinue.chat.engine.sanitizer import sanitize_json, sanitize_text
from retinue.chat.engine.suspended import CallDecision, Delegated, PendingCall, Resumption, SuspendedAgent
from retinue.chat.engine.task import EVERY_FUNCTION, StartSubAgent, TurnTask
from retinue.chat.engine.tool_functions import ToolFunction
from retinue.chat.engine.toolbox import OwnFunction, Toolbox
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.ids import new_id
from retinue.kit.json_types import JsonObject
from retinue.tools.models import ExecutionSource
from retinue.tools.run.execute import execute, require_runnable

_APPROVAL_PREFIX = "apv"
_DENIED = "approval_denied"


class ToolCallRunner:
    def __init__(
        self,
        ctx: Context,
        task: TurnTask,
        toolbox: Toolbox,
        budget: TurnBudget,
        fence: PromptFence,
        start_sub_agent: StartSubAgent,
        called: Sequence[CalledTool],
    ) -> None:
        self._ctx = ctx
        self._task = task
        self._toolbox = toolbox
        self._budget = budget
        self._fence = fence
        self._start_sub_agent = start_sub_agent
        self._own = OwnFunctions(ctx, task, toolbox, called, fence, budget)
        self._concurrency = asyncio.Semaphore(MAX_CONCURRENT_CALLS)

    async def run(
        self, calls: tuple[ToolCall, ...], sources_before: int
    ) -> AsyncGenerator[ToolCallOutcome, None]:
        """Yield the outcomes in the order of the calls; closing the generator cancels all of them."""
        async with aclosing(
            run_in_order([self._run_one(call, sources_before) for call in calls])
        ) as outcomes:
            async for outcome in outcomes:
                yield outcome

    async def settle(
        self, standing: SuspendedAgent, decisions: dict[str, CallDecision]
    ) -> AsyncGenerator[ToolCallOutcome, None]:
        """Yield the outcomes of calls that waited for decisions, and resume suspended sub-agents."""
        settling = [self._settle_one(call, decisions[call.approval_id]) for call in standing.pending]
        settling += [
            self._timed(suspended.call, self._resume_sub_agent(suspended, decisions))
            for suspended in standing.delegated
        ]
        async with aclosing(run_in_order(settling)) as outcomes:
            async for outcome in outcomes:
                yield outcome

    async def _settle_one(self, pending: PendingCall, decided: CallDecision) -> ToolCallOutcome:
        arguments = {**(pending.call.arguments or {}), **(decided.edited_input or {})}
        call = msgspec.structs.replace(pending.call, arguments=arguments)
        record_approval(self._ctx, pending, decided)
        if decided.decision == "approved":
            outcome = await self._timed(call, self._run_approved(call, pending, arguments))
        else:
            outcome = self._denied_outcome(call, pending, decided)
        called = msgspec.structs.replace(outcome.called, approval_id=pending.approval_id)
        return msgspec.structs.replace(outcome, called=called)

    async def _run_approved(
        self, call: ToolCall, pending: PendingCall, arguments: JsonObject
    ) -> ToolCallOutcome:
        offer = self._toolbox.by_name.get(call.name)
        if not isinstance(offer, ToolFunction) or offer.attached.tool.id != pending.tool_id:
            raise CallRefused("tool_not_found", f"The tool {call.name[:100]} is no longer available.")
        async with self._concurrency:
            return await self._execute(call, offer, arguments)

    def _denied_outcome(self, call: ToolCall, pending: PendingCall, decided: CallDecision) -> ToolCallOutcome:
        """Return the outcome of a call that was not approved; the approver's comment is its output."""
        is_late = decided.is_late
        reason = decided.comment or DENIAL_REASONS["timeout" if is_late else decided.decision]
        called = self._build_called_tool(
            call,
            tool_id=pending.tool_id,
            input=call.arguments,
            output=decided.comment,
            status=CallStatus.timeout if is_late else CallStatus.denied,
            error=CallError("timeout" if is_late else _DENIED, reason),
        )
        return self._build_outcome(call, called, msgspec.to_builtins(called.error))

    async def _run_one(self, call: ToolCall, sources_before: int) -> ToolCallOutcome:
        async def use() -> ToolCallOutcome:
            arguments = self._validate(call)
            async with self._concurrency:
                return await self._use(call, arguments, sources_before)

        return await self._timed(call, use())

    async def _timed(
        self, call: ToolCall, call_coroutine: Coroutine[Any, Any, ToolCallOutcome]
    ) -> ToolCallOutcome:
        started = self._ctx.clock.monotonic()
        with start_call_span(call) as span:
            try:
                outcome = await call_coroutine
            except CallRefused as refused:
                outcome = self._failed_outcome(call, refused.error)
            except RetinueError as error:
                outcome = self._failed_outcome(call, to_call_error(error))
            describe_call(span, outcome)
        elapsed_ms = round((self._ctx.clock.monotonic() - started) * 1000)
        called = msgspec.structs.replace(outcome.called, execution_time_ms=elapsed_ms)
        return msgspec.structs.replace(outcome, called=called)

    def _validate(self, call: ToolCall) -> JsonObject:
        if call.name not in self._toolbox.by_name:
            raise CallRefused("tool_not_found", f"There is no tool {call.name[:100]}.")
        if call.arguments is None:
            raise CallRefused("invalid_arguments", call.error or "The arguments are not a JSON object.")
        if (searched := self._toolbox.searched.get(call.name)) is not None:
            require_valid_input(searched, call.arguments)
        if not self._budget.admits(self._task.agent.id, call.name, call.arguments):
            raise CallRefused(
                "call_limit", "The limit for calls is reached. Answer with the information you have."
            )
        return call.arguments

    async def _use(self, call: ToolCall, arguments: JsonObject, sources_before: int) -> ToolCallOutcome:
        usable = self._toolbox.by_name[call.name]
        if isinstance(usable, ToolFunction):
            if usable.requires_approval(arguments) or self._asks_again(usable, arguments):
                return self._request_approval(call, usable, arguments)
            return await self._execute(call, usable, arguments)
        if isinstance(usable, AttachedAgent):
            return await self._delegate(call, usable, arguments)
        return await self._use_own(call, usable, arguments, sources_before)

    def _asks_again(self, function: ToolFunction, arguments: JsonObject) -> bool:
        asks = {function.name, EVERY_FUNCTION} & self._task.asks_before
        return bool(asks) and not function.only_reads(arguments)

    async def _use_own(
        self, call: ToolCall, function: OwnFunction, arguments: JsonObject, sources_before: int
    ) -> ToolCallOutcome:
        result = await self._own.run(function, arguments, sources_before)
        called = self._build_called_tool(call, input=arguments, output=result.output)
        return self._build_outcome(call, called, result.output, sources=result.sources)

    def _request_approval(
        self, call: ToolCall, offer: ToolFunction, arguments: JsonObject
    ) -> ToolCallOutcome:
        """Suspend the call until it is approved; a call that could not run anyway is refused first."""
        tool = offer.attached.tool
        if not self._task.may_suspend:
            raise CallRefused(
                "approval_required", "An agent that is used as a tool cannot wait for an approval."
            )
        require_runnable(tool, offer.tool_input(arguments))
        pending = PendingCall(
            call=call,
            tool_id=tool.id,
            approval_id=new_id(_APPROVAL_PREFIX),
            requested_at=self._ctx.clock.time(),
        )
        called = self._build_called_tool(
            call,
            tool_id=tool.id,
            input=arguments,
            status=CallStatus.awaiting_approval,
            approval_id=pending.approval_id,
        )
        return ToolCallOutcome(called=called, waiting_on=pending)

    async def _execute(self, call: ToolCall, offer: ToolFunction, arguments: JsonObject) -> ToolCallOutcome:
        agent, attached = self._task.agent, offer.attached
        finished = await execute(
            self._ctx,
            attached.tool,
            offer.tool_input(arguments),
            source=ExecutionSource.agent,
            agent_id=agent.id,
            agent_name=agent.name,
            override=attached.attachment.config_override,
            override_destination=attached.attachment.override_destination,
        )
        output = sanitize_json(finished.output)
        images = self._budget.admit_images(finished.images)
        error = finished.error and CallError(finished.error.code, sanitize_text(finished.error.message))
        called = self._build_called_tool(
            call,
            tool_id=attached.tool.id,
            input=arguments,
            output=output,
            status=CALL_STATUSES[finished.execution.status],
            error=error,
            execution_id=finished.execution.id,
            images=images,
        )
        result_for_model = output if error is None else msgspec.to_builtins(error)
        return self._build_outcome(call, called, result_for_model)

    async def _delegate(
        self, call: ToolCall, sub_agent: AttachedAgent, arguments: JsonObject
    ) -> ToolCallOutcome:
        task, context = arguments.get("task"), arguments.get("context")
        if not isinstance(task, str) or not task.strip():
            raise CallRefused("invalid_arguments", "`task` must say what is to be done.")
        message = f"{task}\n\n{self._fence.around(context)}" if isinstance(context, str) and context else task
        return await self._run_sub_agent(call, sub_agent, message)

    async def _resume_sub_agent(
        self, suspended: Delegated, decisions: dict[str, CallDecision]
    ) -> ToolCallOutcome:
        """Resume a suspended sub-agent."""
        sub_agent = self._toolbox.find_sub_agent(suspended.agent_id)
        if sub_agent is None:
            return self._sub_agent_gone(suspended)
        resumed = Resumption(
            standing=suspended, decisions=decisions, text=suspended.text, details=suspended.details
        )
        async with self._concurrency:
            return await self._run_sub_agent(suspended.call, sub_agent, resumed=resumed)

    def _sub_agent_gone(self, suspended: Delegated) -> ToolCallOutcome:
        """Fail the calls of a sub-agent that is no longer attached, whatever was decided."""
        error = CallError("agent_not_found", "The sub-agent is no longer available.")
        undone = (
            msgspec.structs.replace(call, status=CallStatus.failed, error=error)
            for call in suspended.details.tool_calls
        )
        sub_agent_parts = tuple(ToolCallFinished(call, is_from_sub_agent=True) for call in undone)
        outcome = self._failed_outcome(suspended.call, error, sub_agent_id=suspended.agent_id)
        return msgspec.structs.replace(outcome, sub_agent_parts=sub_agent_parts)

    async def _run_sub_agent(
        self, call: ToolCall, sub_agent: AttachedAgent, message: str = "", resumed: Resumption | None = None
    ) -> ToolCallOutcome:
        """Run a sub-agent until it ends or is suspended; its steps are reported in either case."""
        agent = sub_agent.agent
        task = TurnTask(
            agent=agent,
            message=message,
            seed=f"{self._task.seed}/{agent.id}",
            max_tokens=agent.max_tokens,
            temperature=agent.temperature,
            depth=self._task.depth + 1,
            may_suspend=self._task.may_suspend,
            resumed=resumed,
            output_schema=agent.output_schema,
            reasoning_effort=agent.reasoning_effort,
            asks_before=self._task.asks_before,
            named_addresses=self._own.addresses_named() if agent.web_search.enabled else frozenset(),
        )
        turn = self._start_sub_agent(task)
        sub_agent_parts: list[SubAgentPart] = []
        try:
            with start_agent_span(agent):
                async with aclosing(turn.parts()) as parts:
                    async for part in parts:
                        # Collected one by one, so that the steps before a failure are kept.
                        sub_agent_parts += as_sub_agent_part(part, agent.id)
        except RetinueError as error:
            outcome = self._failed_outcome(call, to_call_error(error), sub_agent_id=agent.id)
        else:
            outcome = self._sub_agent_outcome(call, agent.id, turn.current_result(), turn.standing)
        return msgspec.structs.replace(outcome, sub_agent_parts=tuple(sub_agent_parts))

    def _sub_agent_outcome(
        self, call: ToolCall, agent_id: str, answered: TurnFinished, standing: SuspendedAgent | None
    ) -> ToolCallOutcome:
        fields: JsonObject = {"input": call.arguments or {}, "sub_agent_id": agent_id}
        if standing is None:
            return self._build_outcome(
                call, self._build_called_tool(call, output=answered.text, **fields), answered.text
            )
        waiting = tuple(
            with_agent(called, agent_id)
            for called in answered.details.tool_calls
            if called.status is CallStatus.awaiting_approval
        )
        waiting_on = Delegated(
            **msgspec.structs.asdict(standing),
            call=call,
            agent_id=agent_id,
            text=answered.text,
            details=msgspec.structs.replace(answered.details, tool_calls=waiting),
        )
        return ToolCallOutcome(
            called=self._build_called_tool(call, status=CallStatus.awaiting_approval, **fields),
            waiting_on=waiting_on,
        )

    def _build_called_tool(self, call: ToolCall, **fields: Any) -> CalledTool:
        return CalledTool(
            id=call.id,
            tool=call.name,
            found_by_search=call.name in self._toolbox.searched,
            **{"tool_id": None, "status": CallStatus.completed, **fields},
        )

    def _failed_outcome(self, call: ToolCall, error: CallError, **fields: Any) -> ToolCallOutcome:
        called = self._build_called_tool(
            call, input=call.arguments or {}, status=CallStatus.failed, error=error, **fields
        )
        return self._build_outcome(call, called, msgspec.to_builtins(error))

    def _build_outcome(
        self, call: ToolCall, called: CalledTool, result_for_model: object, **more: Any
    ) -> ToolCallOutcome:
        is_error = called.status is not CallStatus.completed
        message = prompts.tool_message(
            call.id, result_for_model, self._fence, called.images, is_error=is_error
        )
        return ToolCallOutcome(called=called, message=message, **more)
