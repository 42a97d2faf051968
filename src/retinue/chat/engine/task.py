"""The task of a turn, and the interface of a sub-agent's turn."""

from collections.abc import AsyncGenerator, Callable
from typing import Protocol

import msgspec

from retinue.adapters.llm import ModelMessage
from retinue.agents.models import Agent
from retinue.chat.engine.parts import TurnFinished, TurnPart
from retinue.chat.engine.suspended import Resumption, SuspendedAgent
from retinue.kit.json_types import JsonObject


class TurnTask(msgspec.Struct, frozen=True, kw_only=True):
    """The message an agent answers, and the settings for it.

    `seed` names the conversation for its fence and the provider's cache. `depth` counts the agents that
    delegated it. `may_suspend` says whether the turn may be suspended for approvals; `resumed` is the
    suspended turn to continue. `warnings` are those that its reply begins with.
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


class SubAgentTurn(Protocol):
    """The turn of a sub-agent."""

    standing: SuspendedAgent | None
    """The suspended state, if it waits for approvals."""

    def parts(self) -> AsyncGenerator[TurnPart, None]: ...

    def current_result(self) -> TurnFinished: ...


StartSubAgent = Callable[[TurnTask], SubAgentTurn]
