"""The task of a turn, and the interface of a sub-agent's turn."""

from collections.abc import AsyncGenerator, Callable
from typing import Protocol

import msgspec

from retinue.adapters.llm import ContentPart, ModelMessage, ReasoningEffort
from retinue.agents.models import Agent
from retinue.agents.pinned import PinnedConfiguration
from retinue.chat.engine.attached import Attachment
from retinue.chat.engine.fence import PromptFence
from retinue.chat.engine.memory import ConversationMemory
from retinue.chat.engine.parts import TurnFinished, TurnPart
from retinue.chat.engine.suspended import Resumption, SuspendedAgent
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject

EVERY_FUNCTION = "*"


class TurnTask(msgspec.Struct, frozen=True, kw_only=True):
    """The message an agent answers, and the settings for it.

    `seed` names the conversation for its fence and the provider's cache. `depth` counts the agents that
    delegated it. `may_suspend` says whether the turn may be suspended for approvals; `resumed` is the
    suspended turn to continue. `warnings` are those that its reply begins with. `pinned` is the configuration
    of `agent` if it is not the one in use. With `output_schema`, the reply is a JSON object that matches it.
    `named_addresses` are web pages that the agents which delegated it may read.
    `memory` is the conversation's storage; without it the history is never compacted.
    Functions of `asks_before` that write wait for an approval: an earlier version of this turn ran them, or
    may have run any (`EVERY_FUNCTION`).
    `attached` stands behind the message; `documents` are those that the model may read further in.
    """

    agent: Agent
    message: str
    seed: str
    history: tuple[ModelMessage, ...] = ()
    context: JsonObject | None = None
    max_tokens: int | None
    temperature: float | None
    stop: tuple[str, ...] = ()
    depth: int = 0
    may_suspend: bool = True
    is_streaming: bool = False
    resumed: Resumption | None = None
    warnings: tuple[str, ...] = ()
    pinned: PinnedConfiguration | None = None
    output_schema: JsonObject | None = None
    reasoning_effort: ReasoningEffort | None = None
    named_addresses: frozenset[str] = frozenset()
    attached: tuple[ContentPart, ...] = ()
    asks_before: frozenset[str] = frozenset()
    documents: tuple[Attachment, ...] = ()
    memory: ConversationMemory | None = None


def find_fence(ctx: Context, task: TurnTask, parent_fence: PromptFence | None) -> PromptFence:
    """Return the fence of the conversation; a suspended agent keeps the one that its prompt has."""
    if task.resumed is None:
        return PromptFence.of_seed(ctx, task.seed)
    if task.resumed.standing.mark:
        return PromptFence.of_mark(task.resumed.standing.mark)
    return parent_fence or PromptFence.of_seed(ctx, task.seed)


class SubAgentTurn(Protocol):
    """The turn of a sub-agent."""

    standing: SuspendedAgent | None
    """The suspended state, if it waits for approvals."""

    def parts(self) -> AsyncGenerator[TurnPart, None]: ...

    def current_result(self) -> TurnFinished: ...


StartSubAgent = Callable[[TurnTask], SubAgentTurn]
