"""The turn: model and tools in alternation until the model has answered or the budget is spent.

No HTTP and no records here. The parts come as they happen and `Answered` comes last; what a model cannot be
made to do (stop, be brief, give usable arguments) the budget does. Nothing is awaited inside a transaction.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec

from retinue.adapters.llm import ChatReply, ChatRequest, Done, Message, TextDelta, ToolCall
from retinue.agents.capabilities import capabilities
from retinue.agents.models import Agent
from retinue.chat.engine import prompts
from retinue.chat.engine.asking_models import Models
from retinue.chat.engine.budget import (
    MAX_CALLS,
    MAX_DEPTH,
    MAX_REPLY_CHARACTERS,
    MAX_ROUNDS,
    Budget,
    OutOfTokens,
    Reservation,
    estimated_tokens,
)
from retinue.chat.engine.calls import Calls, Outcome
from retinue.chat.engine.pausing import Delegated, Paused, PendingCall, Resumption, Standing
from retinue.chat.engine.storable import storable_call, storable_text
from retinue.chat.engine.toolbox import Toolbox
from retinue.chat.words import (
    Answered,
    CalledTool,
    CallStatus,
    FinishReason,
    Part,
    ReplyDetails,
    Said,
    Source,
    ToolBegan,
    ToolDone,
)
from retinue.kit.context import Context
from retinue.kit.errors import RetinueError
from retinue.knowledge import retrieval
from retinue.knowledge.retrieval import Passage

_PREVIEW_CHARACTERS = 300
_FALLBACK = "model_fallback"


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is to answer; `depth` counts how many agents have handed it on.

    `may_wait` says whether it may stop until people have agreed to a call; `resumed` is one that has stopped,
    to be gone on with.
    """

    agent: Agent
    message: str
    history: tuple[Message, ...] = ()
    context: dict[str, Any] | None = None
    max_tokens: int
    temperature: float
    stop: tuple[str, ...] = ()
    depth: int = 0
    may_wait: bool = True
    is_streaming: bool = False
    resumed: Resumption | None = None


class Turn:
    __slots__ = (
        "_budget",
        "_called",
        "_ctx",
        "_delegated",
        "_fence",
        "_finish",
        "_is_new_paragraph",
        "_length",
        "_model",
        "_models",
        "_pending",
        "_reply",
        "_said",
        "_sources",
        "_task",
        "_toolbox",
        "_warnings",
        "standing",
    )

    def __init__(self, ctx: Context, task: Task, budget: Budget, fence: prompts.Fence | None = None) -> None:
        self._ctx = ctx
        self._task = task
        self._budget = budget
        self._fence = fence or prompts.Fence()
        self._models = Models(ctx, task.agent)
        self._toolbox = Toolbox()
        self._reply: ChatReply | None = None
        self._said: list[str] = []
        self._length = 0
        self._is_new_paragraph = False
        self._called: list[CalledTool] = []
        self._sources: list[Source] = []
        self._warnings: list[str] = []
        self._model = task.agent.primary_model
        self._finish = FinishReason.stop
        self._pending: list[PendingCall] = []
        self._delegated: list[Delegated] = []
        self.standing: Standing | None = None
        if task.resumed is not None:
            self._take_up(task.resumed)

    def _take_up(self, resumed: Resumption) -> None:
        """Stand where the agent was left."""
        details = resumed.details
        if isinstance(resumed.standing, Paused):
            self._budget.go_on(details.usage, resumed.standing)
            self._fence = prompts.Fence(resumed.standing.mark)
        self._said, self._length = [resumed.text] if resumed.text else [], len(resumed.text)
        self._called = [
            call for call in details.tool_calls if call.status is not CallStatus.awaiting_approval
        ]
        self._sources, self._warnings = list(details.sources), list(details.warnings)
        self._model = details.model

    async def parts(self) -> AsyncGenerator[Part, None]:
        conversation, round_number, outcomes = await self._start()
        while True:
            if outcomes is not None:
                async with aclosing(self._tell(outcomes, conversation)) as parts:
                    async for part in parts:
                        yield part
                if self._has_stopped(conversation, round_number):
                    break
                round_number += 1
            is_last = round_number >= MAX_ROUNDS or self._budget.is_spent
            if self._task.is_streaming:
                async with aclosing(self._listen(conversation, may_use_tools=not is_last)) as steps:
                    async for said in steps:
                        yield said
            elif (whole := await self._ask(conversation, may_use_tools=not is_last)) is not None:
                yield whole
            wanted = self._wanted(is_last=is_last)
            if not wanted:
                break
            assert self._reply is not None
            conversation.append(msgspec.structs.replace(self._reply.message(), tool_calls=wanted))
            for call in wanted:
                yield ToolBegan(call.id, call.name, call.arguments or {})
            outcomes = self._calls().run(wanted, len(self._sources))
        yield self.so_far()

    def _wanted(self, *, is_last: bool) -> tuple[ToolCall, ...]:
        """The calls that the model's last reply asks for, where any can be made."""
        if is_last:
            self._finish = FinishReason.tool_limit
        if is_last or self._reply is None or not self._toolbox.by_name:
            return ()
        return tuple(storable_call(call) for call in self._reply.tool_calls[:MAX_CALLS])

    async def _start(self) -> tuple[list[Message], int, AsyncGenerator[Outcome, None] | None]:
        """What the model reads, the round that this is, and what comes of the calls that had waited in it."""
        resumed = self._task.resumed
        if resumed is None:
            return await self._opening(), 0, None
        await self._open_toolbox()
        standing = resumed.standing
        settled = self._calls().settle(standing, resumed.decisions)
        return list(standing.conversation), standing.round_number, settled

    def _has_stopped(self, conversation: list[Message], round_number: int) -> bool:
        """Whether calls of this round wait for approvals, its sub-agents' included; it ends here then."""
        if not self._pending and not self._delegated:
            return False
        self._finish = FinishReason.awaiting_approval
        self.standing = Standing(
            conversation=tuple(conversation),
            pending=tuple(self._pending),
            round_number=round_number,
            delegated=tuple(self._delegated),
        )
        return True

    def paused(self) -> Paused | None:
        """What is to be kept of a turn that has stopped."""
        if self.standing is None:
            return None
        where = msgspec.structs.asdict(self.standing)
        return Paused(**where, mark=self._fence.mark, **self._budget.left())

    def _calls(self) -> Calls:
        return Calls(self._ctx, self._task, self._toolbox, self._budget, self._fence)

    async def _ask(self, conversation: list[Message], *, may_use_tools: bool) -> Said | None:
        """What the model says; its reply is kept, none when tokens or room are spent."""
        self._reply = None
        reserved = self._reserved(conversation)
        if reserved is None:
            return None
        length_before = self._begin_saying()
        try:
            request = self._request(conversation, reserved, may_use_tools=may_use_tools)
            reply = await self._models.reply(request)
            said = self._say(reply.text)
            self._hear_out(reply, reserved)
        except RetinueError:
            self._spare(reserved, length_before)
            raise
        finally:
            self._budget.settle(reserved, self._length - length_before)
        return said

    async def _listen(
        self, conversation: list[Message], *, may_use_tools: bool
    ) -> AsyncGenerator[Said, None]:
        """The same, piece by piece."""
        self._reply = None
        reserved = self._reserved(conversation)
        if reserved is None:
            return
        request = self._request(conversation, reserved, may_use_tools=may_use_tools)
        length_before = self._begin_saying()
        try:
            async with aclosing(self._models.stream(request)) as deltas:
                async for delta in deltas:
                    if isinstance(delta, TextDelta) and (said := self._say(delta.text)):
                        yield said
                    elif isinstance(delta, Done):
                        self._hear_out(delta.reply, reserved)
                    if self._is_full():
                        return
        except RetinueError:
            self._spare(reserved, length_before)
            raise
        finally:
            self._budget.settle(reserved, self._length - length_before)

    def _begin_saying(self) -> int:
        """What comes after what was said is a paragraph of its own; how much was said."""
        self._is_new_paragraph = bool(self._said)
        return self._length

    def _spare(self, reserved: Reservation, length_before: int) -> None:
        """A model that failed before it said anything costs nothing."""
        if self._length == length_before:
            reserved.took = (0, 0)

    def _reserved(self, conversation: list[Message]) -> Reservation | None:
        """Tokens for the next question; where there are none left, what was said so far is the reply."""
        characters = sum(len(message.text()) for message in conversation)
        try:
            return self._budget.reserve(estimated_tokens(characters), self._task.max_tokens)
        except OutOfTokens:
            if not self._said and not self._called:
                raise
        self._finish = FinishReason.length
        return None

    def _hear_out(self, reply: ChatReply, reserved: Reservation) -> None:
        """Keep a reply that the turn may go on from; one that filled all the room is its end."""
        self._note(reply, reserved)
        self._reply = None if self._is_full() else reply

    def _is_full(self) -> bool:
        if self._length < MAX_REPLY_CHARACTERS:
            return False
        self._finish = FinishReason.length
        return True

    async def _opening(self) -> list[Message]:
        task, agent = self._task, self._task.agent
        passages: list[Passage] = []
        if agent.knowledge_base_id is not None:
            passages = await retrieval.search(self._ctx, agent.knowledge_base_id, task.message)
            self._sources = [_source(number, passage) for number, passage in enumerate(passages, 1)]
        await self._open_toolbox()
        # What another agent hands on may have been anyone's words.
        has_material = bool(passages or self._toolbox.by_name or task.depth)
        return [
            prompts.instructions(agent.system_prompt, self._fence, task.context, has_material=has_material),
            *prompts.recent(task.history),
            prompts.question(task.message, passages, self._fence),
        ]

    async def _open_toolbox(self) -> None:
        agent = self._task.agent
        if agent.tool_count or agent.sub_agent_count or agent.web_search.enabled:
            able = await capabilities(self._ctx, agent)
            self._toolbox = Toolbox.of(agent, able, may_delegate=self._task.depth < MAX_DEPTH)

    def _request(
        self, conversation: list[Message], reserved: Reservation, *, may_use_tools: bool
    ) -> ChatRequest:
        return ChatRequest(
            model=self._models.wanted,
            messages=tuple(conversation),
            tools=self._toolbox.specs if may_use_tools else (),
            temperature=self._task.temperature,
            max_tokens=reserved.reply_tokens,
            stop=self._task.stop,
        )

    def _say(self, text: str) -> Said | None:
        """What comes after a tool was used is a paragraph of its own."""
        text = storable_text(text)
        if not text:
            return None
        if self._is_new_paragraph:
            self._is_new_paragraph = False
            text = f"\n\n{text}"
        text = text[: MAX_REPLY_CHARACTERS - self._length]
        self._length += len(text)
        self._said.append(text)
        return Said(text)

    def _note(self, reply: ChatReply, reserved: Reservation) -> None:
        """Who replied, and what it took; where the provider does not say, an estimate."""
        if reply.usage is not None:
            reserved.took = reply.usage.prompt_tokens, reply.usage.completion_tokens
        else:
            reserved.took = reserved.prompt_tokens, estimated_tokens(len(reply.text))
        self._model = reply.model
        if reply.finish_reason in {"length", "content_filter"}:
            self._finish = FinishReason(reply.finish_reason)
        if not _is_same(reply.model, self._task.agent.primary_model) and _FALLBACK not in self._warnings:
            self._warnings.append(_FALLBACK)

    async def _tell(
        self, calling: AsyncGenerator[Outcome, None], conversation: list[Message]
    ) -> AsyncGenerator[Part, None]:
        """Tell the model what came of each call, and whoever listens what sub-agents did on the way."""
        waiting: list[CalledTool] = []
        async with aclosing(calling) as outcomes:
            async for outcome in outcomes:
                for part in outcome.inner:
                    if isinstance(part, ToolDone):
                        self._called.append(part.call)
                    yield part
                if outcome.waits is not None:
                    waiting += self._put_off(outcome.called, outcome.waits)
                    continue
                self._called.append(outcome.called)
                self._sources += outcome.sources
                if outcome.message is not None:
                    conversation.append(outcome.message)
                yield ToolDone(outcome.called)
        # Last, because the others are done in the order in which they stand.
        self._called += waiting

    def _put_off(self, called: CalledTool, waits: PendingCall | Delegated) -> list[CalledTool]:
        """Keep what a call waits for; what the reply says of it until then."""
        if isinstance(waits, PendingCall):
            self._pending.append(waits)
            return [called]
        self._delegated.append(waits)
        return [*waits.details.tool_calls, called]

    def so_far(self) -> Answered:
        """What the turn has come to, also when it ends early."""
        agent = self._task.agent
        return Answered(
            text="".join(self._said),
            details=ReplyDetails(
                model=self._model,
                finish_reason=self._finish,
                usage=self._budget.usage,
                sources=tuple(self._sources),
                tool_calls=tuple(self._called),
                warnings=tuple(self._warnings),
                agent_version=agent.version,
                correlation_id=self._ctx.caller.correlation_id,
            ),
        )


def _source(number: int, passage: Passage) -> Source:
    return Source(
        document_name=passage.document_name,
        chunk_preview=passage.text[:_PREVIEW_CHARACTERS],
        relevance_score=passage.score,
        document_id=passage.document_id,
        chunk_id=passage.chunk_id,
        page=passage.page,
        index=number,
    )


def _is_same(answered: str, wanted: str) -> bool:
    """Whether the model that answered is the one that was named, with its provider or without."""
    return answered == wanted or answered.partition("/")[2] == wanted
