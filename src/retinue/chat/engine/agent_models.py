"""Calls to the agent's model, and to its fallbacks until a reply has started."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TypedDict

from msgspec.structs import replace

from retinue.adapters.embedded.models import EmbeddedModels
from retinue.adapters.llm import (
    ChatRequest,
    Delta,
    ModelError,
    ModelReply,
    ModelUsage,
    ReplyFinished,
    TextDelta,
    Timeouts,
)
from retinue.adapters.llm.estimates import CHARACTERS_PER_TOKEN, estimate_tokens
from retinue.agents.models import Agent
from retinue.chat.engine import quotations, time_limits
from retinue.chat.engine.attachment_content import has_images, with_images, without_images
from retinue.chat.engine.budget import Reservation
from retinue.chat.engine.quotations import Quotation, QuotationFinder
from retinue.kit.context import Context
from retinue.providers import model_calls
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.failover import KEY_UNUSABLE_ERRORS
from retinue.providers.model_resolution import can_see, demo_model_for

# The model failed, has no provider or no price, or its key cannot be used right now.
_FAILOVER_ERRORS = (ModelError, ModelNotConfigured, *KEY_UNUSABLE_ERRORS)
# The built-in model chooses a tool by its own grammar; one token is the minimum for its unused text.
_TOOL_DECISION_MAX_TOKENS = 1
_MAX_QUOTED_TOKENS = 1_024


class CallOptions(TypedDict):
    """The options of `model_calls.chat` and `stream`."""

    hold: Reservation
    via: Mapping[str, str]
    has_fallback: bool
    timeouts: Timeouts


class AgentModels:
    """The models of one turn; a model that failed is not called again.

    `quotations` replaces generated text when the built-in model answers; `quoted` is what was quoted.
    """

    def __init__(self, ctx: Context, agent: Agent) -> None:
        self._ctx = ctx
        self._remaining_models = [agent.primary_model, *agent.fallback_models]
        self._via = {"agent_id": agent.id}
        self._timeouts = time_limits.model_timeouts(ctx, agent)
        self.quotations: QuotationFinder | None = None
        self.quoted: Quotation | None = None

    @property
    def wanted(self) -> str:
        return self._remaining_models[0]

    def _call_options(self, reserved: Reservation) -> CallOptions:
        return {
            "hold": reserved,
            "via": self._via,
            "has_fallback": len(self._remaining_models) > 1,
            "timeouts": self._timeouts,
        }

    def is_demo(self, model: str) -> bool:
        """Return whether a model that answered (`local/…`) is the built-in one."""
        provider, _, name = model.partition("/")
        return provider == "local" and self._ctx.adapter(EmbeddedModels).is_demo(name)

    async def reply(self, request: ChatRequest, reserved: Reservation) -> ModelReply:
        """Return the whole reply of the first model that gives one."""
        while True:
            model_request = await self._for_next_model(request)
            try:
                return await self._quote_documents(model_request, reserved) or await model_calls.chat(
                    self._ctx, model_request, **self._call_options(reserved)
                )
            except _FAILOVER_ERRORS:
                self._next_model_or_raise()

    async def stream(self, request: ChatRequest, reserved: Reservation) -> AsyncGenerator[Delta, None]:
        """Stream the reply; once a part of it was sent, no other model is tried."""
        while True:
            has_begun = False
            model_request = await self._for_next_model(request)
            try:
                if (quoted := await self._quote_documents(model_request, reserved)) is not None:
                    for piece in quotations.split_words(quoted.text):
                        yield TextDelta(piece)
                    yield ReplyFinished(quoted)
                    return
                streamed = model_calls.stream(self._ctx, model_request, **self._call_options(reserved))
                async with aclosing(streamed) as deltas:
                    async for delta in deltas:
                        has_begun = True
                        yield delta
            except _FAILOVER_ERRORS:
                if has_begun:
                    raise
                self._next_model_or_raise()
            else:
                return

    async def _for_next_model(self, request: ChatRequest) -> ChatRequest:
        """Return the request for the model to try now, with its images if the model may see."""
        model = self._remaining_models[0]
        if has_images(request):
            is_blind = await can_see(self._ctx, model) is False
            request = without_images(request) if is_blind else await with_images(self._ctx, request)
        return replace(request, model=model)

    async def _quote_documents(self, model_request: ChatRequest, reserved: Reservation) -> ModelReply | None:
        """Return the built-in model's reply from documents, or its tool call; None if neither applies."""
        if self.quotations is None or not self.quotations.is_question:
            return None
        if model_request.response_format != "text":
            return None
        if (model := await demo_model_for(self._ctx, model_request.model)) is None:
            return None
        spent = ModelUsage(0, 0)
        if model_request.tools and model_request.tool_choice != "none":
            decision = await model_calls.chat(
                self._ctx,
                replace(model_request, max_tokens=_TOOL_DECISION_MAX_TOKENS),
                **self._call_options(reserved),
            )
            if decision.tool_calls:
                return decision
            spent = decision.usage or spent
        quotation = await self.quotations.find()
        if quotation is None:
            return None
        self.quoted = quotation
        max_characters = (model_request.max_tokens or _MAX_QUOTED_TOKENS) * CHARACTERS_PER_TOKEN
        text, is_cut = quotations.truncate(quotation.text, max_characters, model_request.stop)
        quoted = ModelReply(
            text=text,
            tool_calls=(),
            finish_reason="length" if is_cut else "stop",
            usage=ModelUsage(spent.prompt_tokens + quotation.tokens, estimate_tokens(len(text))),
            model=model,
        )
        reserved.book_quotation(quoted)
        return quoted

    def _next_model_or_raise(self) -> None:
        """Switch to the next model, or re-raise the current error if there is none."""
        if len(self._remaining_models) == 1:
            raise  # noqa: PLE0704  called where an error is handled
        self._remaining_models.pop(0)
