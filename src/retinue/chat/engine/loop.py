"""The agent loop: model and tools alternate until the model has answered or the budget is spent.

No HTTP and no records here. Parts are yielded as they happen, `TurnFinished` last. The budget enforces what a
model cannot be trusted with: to stop, to be brief, to give valid arguments. No transaction is open while a
model or a tool is awaited.
"""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

import msgspec

from retinue.adapters.llm import (
    ChatRequest,
    ModelMessage,
    ModelReply,
    ReplyFinished,
    TextDelta,
    ToolCall,
)
from retinue.chat.engine import prompts
from retinue.chat.engine.agent_models import AgentModels
from retinue.chat.engine.budget import (
    MAX_ROUNDS,
    MAX_TOOL_CALLS,
    OutOfTokens,
    Reservation,
    TurnBudget,
)
from retinue.chat.engine.call_outcomes import ToolCallOutcome
from retinue.chat.engine.calls import ToolCallRunner
from retinue.chat.engine.context_window import ContextWindow
from retinue.chat.engine.document_search import search_documents
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.parts import (
    UNPAID_WARNING,
    UNPRICED_WARNING,
    CalledTool,
    CallRound,
    CallStatus,
    FinishReason,
    ReplyDetails,
    ReplyText,
    Source,
    ToolCallFinished,
    ToolCallStarted,
    TurnFinished,
    TurnPart,
)
from retinue.chat.engine.reply_text import ReplyBuilder
from retinue.chat.engine.reply_warnings import reply_warnings
from retinue.chat.engine.sanitizer import sanitize_call
from retinue.chat.engine.sources import build_sources
from retinue.chat.engine.structured_output import REPAIR_WARNING, OutputAttempts
from retinue.chat.engine.suspended import Delegated, PendingCall, Resumption, SuspendedAgent, SuspendedTurn
from retinue.chat.engine.task import TurnTask, find_fence
from retinue.chat.engine.toolbox import Toolbox, load_toolbox
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.kit.tracing.recorder import current_trace_id
from retinue.knowledge.retrieval import Passage


class AgentTurn:
    def __init__(
        self, ctx: Context, task: TurnTask, budget: TurnBudget, parent_fence: PromptFence | None = None
    ) -> None:
        self._ctx = ctx
        self._task = task
        self._budget = budget
        self._fence = find_fence(ctx, task, parent_fence)
        self._models = AgentModels(ctx, task.agent)
        self._toolbox = Toolbox()
        self._window = ContextWindow(ctx, task, budget, self._fence)
        self._reply: ModelReply | None = None
        self._output = OutputAttempts(task.output_schema) if task.output_schema is not None else None
        self._text = ReplyBuilder() if self._output is None else self._output.text
        self._called: list[CalledTool] = []
        self._rounds: list[CallRound] = []
        self._tail = ""
        self._sources: list[Source] = []
        self._warnings: list[str] = list(task.warnings)
        self._model = task.agent.primary_model
        self._finish = FinishReason.stop
        self._pending: list[PendingCall] = []
        self._delegated: list[Delegated] = []
        self.standing: SuspendedAgent | None = None
        if task.resumed is not None:
            self._restore(task.resumed)

    def _restore(self, resumed: Resumption) -> None:
        """Restore the state of a suspended agent."""
        details, standing = resumed.details, resumed.standing
        if isinstance(standing, SuspendedTurn):
            self._budget.restore_limits(details, standing)
        self._rounds, self._tail = list(standing.rounds), standing.tail
        self._text.restore(resumed.text)
        self._called = [
            call for call in details.tool_calls if call.status is not CallStatus.awaiting_approval
        ]
        self._sources, self._warnings = list(details.sources), list(details.warnings)
        self._model = details.model
        self._window.report = details.compaction
        self._window.resume(standing.conversation, details.context_tokens)

    @property
    def _needs_repair(self) -> bool:
        return self._output is not None and self._output.needs_repair

    async def parts(self) -> AsyncGenerator[TurnPart, None]:
        conversation, round_number, outcomes = await self._start_or_resume()
        while True:
            if outcomes is not None:
                async with aclosing(self._relay_outcomes(outcomes, conversation)) as parts:
                    async for part in parts:
                        yield part
                if self._is_suspended(conversation, round_number):
                    break
                round_number += 1
            is_last = round_number >= MAX_ROUNDS or self._budget.is_spent or self._needs_repair
            await self._fit_context(conversation)
            if self._task.is_streaming:
                async with aclosing(self._stream_reply(conversation, may_use_tools=not is_last)) as steps:
                    async for text in steps:
                        yield text
            elif (
                reply_text := await self._request_reply(conversation, may_use_tools=not is_last)
            ) is not None:
                yield reply_text
            wanted = self._requested_calls(is_last=is_last)
            for step in self._end_round(wanted, conversation):
                yield step
            if not wanted and not self._needs_repair:
                break
            outcomes = self._call_runner().run(wanted, len(self._sources)) if wanted else None
        yield self.current_result()

    def _end_round(
        self, wanted: tuple[ToolCall, ...], conversation: list[ModelMessage]
    ) -> Iterable[TurnPart]:
        """Add the requested calls to the conversation, or review a structured answer; return the steps."""
        if not wanted:
            return () if self._output is None else self._output.review(self._reply, conversation)
        assert self._reply is not None
        withdrawn = self._text.end_round_with_calls()
        written = tuple(map(self._toolbox.as_written, wanted))
        conversation.append(msgspec.structs.replace(self._reply.message(), tool_calls=written))
        self._rounds.append(CallRound(self._text.length, tuple(call.id for call in wanted)))
        return (*withdrawn, *(ToolCallStarted(call.id, call.name, call.arguments or {}) for call in wanted))

    def _requested_calls(self, *, is_last: bool) -> tuple[ToolCall, ...]:
        """Return the calls requested by the model's last reply; none in the last round."""
        if is_last and not self._needs_repair:
            self._finish = FinishReason.tool_limit
        if is_last or self._reply is None or not self._toolbox.by_name:
            return ()
        made = (sanitize_call(call) for call in self._reply.tool_calls[:MAX_TOOL_CALLS])
        return tuple(map(self._toolbox.requested, made))

    async def _start_or_resume(
        self,
    ) -> tuple[list[ModelMessage], int, AsyncGenerator[ToolCallOutcome, None] | None]:
        """Return the conversation, the round number and, if resumed, the outcomes of the waiting calls."""
        resumed = self._task.resumed
        if resumed is None:
            return await self._build_conversation(), 0, None
        await self._load_toolbox()
        standing = resumed.standing
        settled = self._call_runner().settle(standing, resumed.decisions)
        return list(standing.conversation), standing.round_number, settled

    def _is_suspended(self, conversation: list[ModelMessage], round_number: int) -> bool:
        """Return whether this round waits for approvals, and keep its state if so."""
        if not self._pending and not self._delegated:
            return False
        self._finish = FinishReason.awaiting_approval
        self.standing = SuspendedAgent(
            conversation=tuple(conversation),
            pending=tuple(self._pending),
            round_number=round_number,
            delegated=tuple(self._delegated),
            rounds=tuple(self._rounds),
            tail=self._tail,
            mark=self._fence.mark,
            seed=self._task.seed,
        )
        return True

    def paused(self) -> SuspendedTurn | None:
        """Return the state to store for a suspended turn."""
        if self.standing is None:
            return None
        state = msgspec.structs.asdict(self.standing)
        return SuspendedTurn(**state, **self._budget.remaining_limits())

    def _call_runner(self) -> ToolCallRunner:
        def start(task: TurnTask) -> AgentTurn:
            return AgentTurn(self._ctx, task, self._budget, self._fence)

        return ToolCallRunner(
            self._ctx, self._task, self._toolbox, self._budget, self._fence, start, self._called
        )

    async def _request_reply(
        self, conversation: list[ModelMessage], *, may_use_tools: bool
    ) -> ReplyText | None:
        """Call the model, keep its reply and return its text; None if tokens or space have run out."""
        self._reply = None
        reserved = self._reserve_tokens()
        if reserved is None:
            return None
        length_before = self._text.start_round()
        try:
            request = self._request(conversation, reserved, may_use_tools=may_use_tools)
            reply = await self._models.reply(request, reserved)
            text = self._text.append(reply.text)
            self._accept_reply(reply)
        except RetinueError:
            if not self._ends_unpaid(reserved, length_before):
                raise
            return None
        finally:
            self._settle(reserved, length_before)
        return text

    async def _stream_reply(
        self, conversation: list[ModelMessage], *, may_use_tools: bool
    ) -> AsyncGenerator[ReplyText, None]:
        """Call the model, keep its reply and yield its text in pieces."""
        self._reply = None
        reserved = self._reserve_tokens()
        if reserved is None:
            return
        request = self._request(conversation, reserved, may_use_tools=may_use_tools)
        length_before = self._text.start_round()
        try:
            async with aclosing(self._models.stream(request, reserved)) as deltas:
                async for delta in deltas:
                    if isinstance(delta, TextDelta) and (text := self._text.append(delta.text)):
                        yield text
                    elif isinstance(delta, ReplyFinished):
                        self._accept_reply(delta.reply)
                    if self._is_full():
                        return
        except RetinueError:
            if not self._ends_unpaid(reserved, length_before):
                raise
        finally:
            self._settle(reserved, length_before)

    def _ends_unpaid(self, reserved: Reservation, length_before: int) -> bool:
        """Refund a failed reply without text; return whether the turn ends unpaid with what it has."""
        if self._text.written == length_before:
            reserved.refund()
        if not reserved.is_refused or not (self._text or self._called):
            return False
        self._finish = FinishReason.length
        self._warn(UNPAID_WARNING)
        return True

    def _settle(self, reserved: Reservation, length_before: int) -> None:
        if reserved.used is None:
            reserved.model = self._models.wanted  # cut off: the model that was asked last wrote what there is
        if reserved.is_cut and self._finish is FinishReason.length:
            self._warn(UNPAID_WARNING)
        self._budget.settle(reserved, self._text.written - length_before)

    def _reserve_tokens(self) -> Reservation | None:
        """Reserve tokens for the next model call; None ends the turn with the text so far."""
        try:
            return self._budget.reserve(self._models.wanted, self._window.tokens, self._task.max_tokens)
        except OutOfTokens:
            if not self._text and not self._called:
                raise
        self._finish = FinishReason.length
        return None

    def _accept_reply(self, reply: ModelReply) -> None:
        """Record a reply; one that reached the maximum length ends the turn."""
        self._record_reply(reply)
        self._reply = None if self._is_full() else reply

    def _is_full(self) -> bool:
        if not self._text.is_full:
            return False
        self._finish = FinishReason.length
        return True

    async def _build_conversation(self) -> list[ModelMessage]:
        task, agent = self._task, self._task.agent
        passages: list[Passage] = []
        if agent.knowledge_base_id is not None:
            found = await search_documents(self._ctx, task, self._budget)
            passages, self._models.quotations = found.passages, found.quotations
            self._sources = build_sources(passages)
            self._warn(*found.warnings)
        await self._load_toolbox()
        self._tail = prompts.build_tail(task, passages, self._fence)
        return self._window.build_conversation()

    async def _load_toolbox(self) -> None:
        self._toolbox = await load_toolbox(self._ctx, self._task, has_recall=self._window.has_recall)

    async def _fit_context(self, conversation: list[ModelMessage]) -> None:
        """Keep the next request within the context limit; a compacted history can be read by `recall`."""
        if await self._window.fit(conversation, self._tail, self._toolbox.specs):
            documents = self._window.readable_documents()
            self._task = msgspec.structs.replace(self._task, documents=documents)
            await self._load_toolbox()
        self._warn(*self._window.warnings)

    def _request(
        self, conversation: list[ModelMessage], reserved: Reservation, *, may_use_tools: bool
    ) -> ChatRequest:
        return ChatRequest(
            model=self._models.wanted,
            messages=tuple(conversation),
            tail=self._tail,
            tools=self._toolbox.specs,
            tool_choice="auto" if may_use_tools else "none",
            cache=prompts.build_cache(self._ctx, self._task, conversation),
            temperature=self._task.temperature,
            max_tokens=reserved.reply_limit,
            stop=self._task.stop,
            response_format="text" if self._output is None else self._output.response_format,
            reasoning_effort=self._task.reasoning_effort,
        )

    def _record_reply(self, reply: ModelReply) -> None:
        """Record the model, what the request took and warnings."""
        self._model = reply.model
        self._window.record_usage(reply.usage)
        if reply.finish_reason in {"length", "content_filter"}:
            self._finish = FinishReason(reply.finish_reason)
        if self._models.quoted is not None:
            self._sources = build_sources(self._models.quoted.passages)
        self._warn(*reply_warnings(reply, self._task, is_demo=self._models.is_demo(reply.model)))

    def _warn(self, *warnings: str) -> None:
        self._warnings += [warning for warning in warnings if warning not in self._warnings]

    async def _relay_outcomes(
        self, outcome_stream: AsyncGenerator[ToolCallOutcome, None], conversation: list[ModelMessage]
    ) -> AsyncGenerator[TurnPart, None]:
        """Add the outcomes to the model's conversation, and yield the steps of the calls and sub-agents."""
        # From here on the answer depends on tool output, which documents cannot be quoted for.
        self._models.quotations = None
        waiting: list[CalledTool] = []
        async with aclosing(outcome_stream) as outcomes:
            async for outcome in outcomes:
                for part in outcome.sub_agent_parts:
                    if isinstance(part, ToolCallFinished):
                        self._called.append(part.call)
                    yield part
                if outcome.waiting_on is not None:
                    waiting += self._defer_call(outcome.called, outcome.waiting_on)
                    continue
                self._called.append(outcome.called)
                self._sources += outcome.sources
                if outcome.message is not None:
                    conversation.append(outcome.message)
                yield ToolCallFinished(outcome.called)
        # Pending calls come last: the others are listed in the order in which they finished.
        self._called += waiting

    def _defer_call(self, called: CalledTool, waiting_on: PendingCall | Delegated) -> list[CalledTool]:
        """Keep a pending call or suspended sub-agent; return the calls to list as waiting."""
        if isinstance(waiting_on, PendingCall):
            self._pending.append(waiting_on)
            return [called]
        self._delegated.append(waiting_on)
        return [*waiting_on.details.tool_calls, called]

    def current_result(self) -> TurnFinished:
        """Return the result so far, also for a turn that ends early."""
        agent, totals = self._task.agent, self._budget.totals
        if totals.has_unpriced:
            self._warn(UNPRICED_WARNING)
        if self._output is not None and self._output.is_repaired:
            self._warn(REPAIR_WARNING)
        return TurnFinished(
            text=self._text.text,
            details=ReplyDetails(
                model=self._model,
                finish_reason=self._finish,
                usage=totals.usage,
                sources=tuple(self._sources),
                tool_calls=tuple(self._called),
                warnings=tuple(self._warnings),
                agent_version=agent.version,
                correlation_id=self._ctx.caller.correlation_id,
                usage_by_model=totals.by_model(),
                estimated_cost_usd=totals.estimated_cost_usd,
                trace_id=current_trace_id(),
                output=None if self._output is None else self._output.value,
                compaction=self._window.report,
                context_tokens=self._window.context_tokens,
            ),
            rounds=tuple(self._rounds),
        )
