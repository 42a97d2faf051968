"""Asking the agent's model, and its fallbacks while nothing was said yet."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec.structs import replace

from retinue.adapters.llm import ChatReply, ChatRequest, Delta, ModelError
from retinue.agents.models import Agent
from retinue.kit.context import Context
from retinue.providers import calling
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.failover import UNUSABLE

# It failed, nobody serves it, or the key for it may not be used as things are.
_CANNOT_ANSWER = (ModelError, ModelNotConfigured, *UNUSABLE)


class Models:
    """The models of one turn: one that has failed is not asked again in it."""

    def __init__(self, ctx: Context, agent: Agent) -> None:
        self._ctx = ctx
        self._left = [agent.primary_model, *agent.fallback_models]
        self._via = {"agent_id": agent.id}

    @property
    def wanted(self) -> str:
        return self._left[0]

    async def reply(self, request: ChatRequest) -> ChatReply:
        """The whole reply of the first one that gives one."""
        while True:
            try:
                return await calling.chat(self._ctx, replace(request, model=self._left[0]), via=self._via)
            except _CANNOT_ANSWER:
                self._give_up()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Delta, None]:
        """The reply as it comes; once a part of it has come, no other model is asked."""
        while True:
            has_begun = False
            asked = replace(request, model=self._left[0])
            try:
                async with aclosing(calling.stream(self._ctx, asked, via=self._via)) as deltas:
                    async for delta in deltas:
                        has_begun = True
                        yield delta
            except _CANNOT_ANSWER:
                if has_begun:
                    raise
                self._give_up()
            else:
                return

    def _give_up(self) -> None:
        """Go on to the next model; where there is none the error is the turn's."""
        if len(self._left) == 1:
            raise  # noqa: PLE0704  called where an error is handled
        self._left.pop(0)
