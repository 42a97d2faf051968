"""The context of a turn: requests stay within the agent's limit, and begin like those before (ADR 32)."""

from collections.abc import Sequence

import msgspec

from retinue.adapters.llm import ModelMessage, ModelUsage, ToolSpec
from retinue.adapters.llm.estimates import CHARACTERS_PER_TOKEN, MESSAGE_TOKENS
from retinue.agents.models import Agent
from retinue.chat.engine import prompts
from retinue.chat.engine.attached import Attachment, user_message
from retinue.chat.engine.budget import TurnBudget
from retinue.chat.engine.compaction_plan import (
    SUMMARY_TIER,
    CompactionPlan,
    CompactionPlanner,
    ContextTooLong,
    max_summary_tokens,
)
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.history_entries import NOT_COMPACTED, Compacted, render, tokens_of
from retinue.chat.engine.memory import ConversationMemory, SummaryOrigin
from retinue.chat.engine.parts import Compaction
from retinue.chat.engine.recall import RECALL_SPEC
from retinue.chat.engine.summaries import Summarizer, SummaryFailed
from retinue.chat.engine.task import TurnTask
from retinue.kit.context import Context
from retinue.kit.tracing import names
from retinue.kit.tracing.recorder import current_span
from retinue.providers.model_resolution import context_window

COMPACTED_WARNING = "history_compacted"
SUMMARY_WARNING = "history_summary_failed"
MAX_DEFAULT_CONTEXT_TOKENS = 64_000
"""Without a limit of its own, an agent can make three requests within the tokens of a turn."""
UNKNOWN_WINDOW_LIMIT = 32_000
# Every limit that follows from a window is higher, so short conversations need not look the model up.
_SMALLEST_DEFAULT = 3_000
_WINDOW_MARGIN = 0.1
# No text has fewer tokens, in relation to its estimate.
_MIN_SCALE = 0.5
_MAX_ATTEMPTS = 3
_RECALL_TOKENS = len(msgspec.json.encode(RECALL_SPEC)) // CHARACTERS_PER_TOKEN


async def context_limit(ctx: Context, agent: Agent) -> int:
    """Return how many tokens a request of this agent may take."""
    if agent.max_context_tokens is not None:
        return agent.max_context_tokens
    window = await context_window(ctx, agent.primary_model)
    if window is None:
        return UNKNOWN_WINDOW_LIMIT
    reply_tokens = min(agent.max_tokens or 0, window // 2)
    return min(int(window * (1 - _WINDOW_MARGIN)) - reply_tokens, MAX_DEFAULT_CONTEXT_TOKENS)


def _estimate(conversation: Sequence[ModelMessage], tail: str) -> int:
    return prompts.estimate_prompt_tokens(conversation, tail) + MESSAGE_TOKENS * len(conversation)


class ContextWindow:
    """Builds the conversation of a turn and compacts it when it has become too long.

    `tokens` is what the next request probably takes; `report` and `warnings` tell what was left out.
    `context_tokens` is what the last request and its answer took, by the provider's count.
    """

    def __init__(self, ctx: Context, task: TurnTask, budget: TurnBudget, fence: PromptFence) -> None:
        self._ctx = ctx
        self._task = task
        self._budget = budget
        self._fence = fence
        self._compacted = NOT_COMPACTED if task.memory is None else task.memory.compacted
        self._is_as_sent = False
        self._turn_start = 0
        self._request_count = 0
        self._known_count = 0
        self._known_tokens = 0
        self._has_answered = False
        self.context_tokens = 0
        self.tokens = 0
        self.report: Compaction | None = None
        self.warnings: list[str] = []

    @property
    def has_recall(self) -> bool:
        return self._compacted.number > 0

    def build_conversation(self) -> list[ModelMessage]:
        """Return the agent's prompt, the history and the message to answer."""
        beginning = self._beginning()
        self._turn_start = len(beginning)
        memory = self._task.memory
        last = memory.entries[-1] if memory is not None and memory.entries else None
        if last is not None and last.position > self._compacted.made_at:
            self._known_count, self._known_tokens = len(beginning), last.context_tokens
        return [*beginning, user_message(self._task.message, self._task.attached)]

    def resume(self, conversation: Sequence[ModelMessage], context_tokens: int) -> None:
        """Go on with the conversation of a suspended agent, which stays as it was sent while it fits."""
        self._is_as_sent = True
        self._turn_start = prompts.find_turn_start(conversation)
        answers = [at for at, message in enumerate(conversation) if message.role == "assistant"]
        self._known_count, self._known_tokens = max(answers, default=0) + 1, context_tokens

    def _beginning(self) -> list[ModelMessage]:
        memory, history = self._task.memory, list(self._task.history)
        if memory is not None and self.has_recall:
            history = render(memory.entries, self._compacted, self._fence)
        return prompts.build_beginning(self._task, self._fence, self._compacted, history)

    def record_usage(self, usage: ModelUsage | None) -> None:
        """Remember what a provider counted for the request and its answer, which follows it."""
        self._known_count = self._request_count + 1
        self._known_tokens = 0 if usage is None else usage.prompt_tokens + usage.completion_tokens
        self.context_tokens = self._known_tokens
        self._has_answered = True

    def readable_documents(self) -> tuple[Attachment, ...]:
        """Return the documents that the model may read on in, with those that are now left out."""
        documents = {one.file_id: one for one in (*self._task.documents, *self._compacted.documents)}
        left_out_up_to = max(self._compacted.attachments_up_to, self._compacted.up_to)
        for entry in () if self._task.memory is None else self._task.memory.entries:
            if entry.position <= left_out_up_to:
                documents |= {one.file_id: one for one in entry.attachments if not one.is_image}
        return tuple(documents.values())

    async def fit(self, conversation: list[ModelMessage], tail: str, tools: Sequence[ToolSpec]) -> bool:
        """Estimate the next request, and compact the history if it is too long; return whether it did."""
        self._request_count = len(conversation)
        by_length = self.tokens = _estimate(conversation, tail)
        is_counted = self._estimate_by_count(conversation, tail, by_length)
        memory, agent = self._task.memory, self._task.agent
        if memory is None:
            return False
        is_partly_loaded = self._is_partly_loaded(memory)
        if self.tokens * 2 <= (agent.max_context_tokens or _SMALLEST_DEFAULT) and not is_partly_loaded:
            return False
        limit = await context_limit(self._ctx, agent)
        if self.tokens * 2 <= limit and not is_partly_loaded:
            return False
        schemas = sum(len(msgspec.json.encode(tool)) for tool in tools) // CHARACTERS_PER_TOKEN
        scale = max((self.tokens - schemas) / by_length, _MIN_SCALE) if is_counted else 1.0
        if not is_counted:
            self.tokens += schemas
        if self.tokens <= limit and not is_partly_loaded:
            return False
        if self._is_as_sent:
            self._begin_anew(conversation, scale)
        try:
            await self._compact(memory, limit, scale)
        except ContextTooLong:
            # Calls may have been made already: the provider, who knows its limit exactly, decides.
            if not self._has_answered:
                raise
        conversation[: self._turn_start] = beginning = self._beginning()
        self._turn_start, self._known_count, self._known_tokens = len(beginning), 0, 0
        return True

    def _begin_anew(self, conversation: list[ModelMessage], scale: float) -> None:
        """Begin as a turn would that is asked now: the history may have been compacted since."""
        sent, beginning = conversation[: self._turn_start], self._beginning()
        conversation[: self._turn_start] = beginning
        self.tokens = round(self.tokens - (tokens_of(sent) - tokens_of(beginning)) * scale)
        self._turn_start, self._is_as_sent = len(beginning), False

    def _estimate_by_count(self, conversation: Sequence[ModelMessage], tail: str, by_length: int) -> bool:
        """Estimate the request by what the provider counted; return False if there is no such count.

        Some servers report far fewer tokens than the text can have; their count is not used.
        """
        if not self._known_tokens:
            return False
        counted = self._known_tokens + _estimate(conversation[self._known_count :], tail)
        if counted < by_length * _MIN_SCALE:
            return False
        self.tokens = counted
        return True

    def _is_partly_loaded(self, memory: ConversationMemory) -> bool:
        if self._is_as_sent:
            return False
        first = memory.entries[0].position if memory.entries else 0
        return memory.has_older and self._compacted.up_to < first - 1

    async def _compact(self, memory: ConversationMemory, limit: int, scale: float) -> None:
        """Leave out what is necessary; raise ContextTooLong if that does not suffice."""
        before = self.tokens
        if not self.has_recall:
            self.tokens += _RECALL_TOKENS
        self._adopt(await memory.find_compacted(), scale)
        for _ in range(_MAX_ATTEMPTS):
            if self.tokens <= limit and not self._is_partly_loaded(memory):
                return
            planner = CompactionPlanner(memory.entries, self._compacted, self._fence, scale)
            plan = planner.plan(self.tokens, limit, has_older=self._is_partly_loaded(memory))
            if not await self._carry_out(memory, plan, limit, scale) or SUMMARY_WARNING in self.warnings:
                break
        if self.tokens > limit or self._is_partly_loaded(memory):
            raise ContextTooLong(before, limit)

    async def _carry_out(
        self, memory: ConversationMemory, plan: CompactionPlan, limit: int, scale: float
    ) -> bool:
        """Compact as planned, or as another turn has done meanwhile; return whether more may follow."""
        claim = await memory.claim(self._compacted, plan.reach)
        if isinstance(claim, Compacted):
            self._adopt(claim, scale)
            return True
        try:
            compacted, tiers, origin = await self._left_out(memory, plan, limit, scale)
            if not tiers:
                await claim.abandon()
                return False
            before = self.tokens
            self._adopt(compacted, scale)
            self._report(memory, tiers, before)
            assert self.report is not None
            await claim.finish(compacted, self.report, origin)
        except BaseException:
            await claim.abandon()
            raise
        return True

    async def _left_out(
        self, memory: ConversationMemory, plan: CompactionPlan, limit: int, scale: float
    ) -> tuple[Compacted, tuple[int, ...], SummaryOrigin | None]:
        """Return what is left out after the plan, by which tiers, and who wrote the summary."""
        made = {"number": self._compacted.number + 1, "made_at": memory.question_position}
        compacted = msgspec.structs.replace(plan.compacted, **made)
        if not plan.summarized_up_to:
            return compacted, plan.tiers, None
        agent = self._task.agent
        summarizer = Summarizer(
            self._ctx,
            agent,
            self._budget,
            self._fence,
            max_tokens=max_summary_tokens(limit),
            input_tokens=await self._summary_input(agent, limit) / max(scale, 1),
        )
        try:
            summary = await summarizer.summarize(memory, compacted, plan.summarized_up_to)
        except SummaryFailed:
            self._warn(SUMMARY_WARNING)
            return compacted, plan.tiers, None
        compacted = msgspec.structs.replace(
            compacted, summary=summary.text, up_to=summary.up_to, documents=summary.documents
        )
        return compacted, (*plan.tiers, SUMMARY_TIER), summary.origin

    async def _summary_input(self, agent: Agent, limit: int) -> int:
        """Return what a request for a summary may take: what both models can read."""
        if agent.compaction_model is None:
            return limit
        other = msgspec.structs.replace(agent, primary_model=agent.compaction_model, max_context_tokens=None)
        return min(limit, await context_limit(self._ctx, other))

    def _adopt(self, compacted: Compacted, scale: float) -> None:
        """Use what is left out from now on, and estimate the request again."""
        if compacted.number > self._compacted.number:
            before = tokens_of(self._beginning())
            self._compacted = compacted
            self.tokens = round(self.tokens - (before - tokens_of(self._beginning())) * scale)

    def _report(self, memory: ConversationMemory, tiers: tuple[int, ...], before: int) -> None:
        earlier = self.report
        self.report = Compaction(
            tiers=tiers if earlier is None else tuple(sorted({*earlier.tiers, *tiers})),
            up_to_message_id=memory.message_id(self._compacted.reach),
            tokens_before=before if earlier is None else earlier.tokens_before,
            tokens_after=self.tokens,
        )
        self._warn(COMPACTED_WARNING)
        if (span := current_span()) is not None:
            span.add_event(
                names.COMPACTION_EVENT,
                {
                    names.COMPACTION_TIERS: list(tiers),
                    names.COMPACTION_TOKENS_BEFORE: before,
                    names.COMPACTION_TOKENS_AFTER: self.tokens,
                },
            )

    def _warn(self, warning: str) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)
