"""Cost of a turn: budgets are checked before the model is called and metered with the result."""

from typing import Self

from msgspec.structs import replace

from retinue.adapters.llm.catalogue import find_known_model
from retinue.agents.models import Agent
from retinue.chat.engine.budget import MAX_TURN_TOKENS, MAX_UNLIMITED_REPLY_TOKENS, estimate_tokens
from retinue.chat.engine.parts import TokenUsage
from retinue.chat.engine.prompts import MAX_HISTORY_CHARACTERS
from retinue.chat.models import ChatLog
from retinue.chat.schemas import MAX_MESSAGE_LENGTH
from retinue.chat.turn.request import TurnRequest
from retinue.kit.context import Context
from retinue.usage import enforcement
from retinue.usage.enforcement import BudgetHold, Spender
from retinue.usage.meters import meter, token_prices

_LOCAL_PREFIX = "local/"
# Upper bound for the passages quoted from documents.
_MAX_PASSAGE_CHARACTERS = 10_000


def _spender(ctx: Context, request: TurnRequest) -> Spender:
    user_id = ctx.principal.id if ctx.principal.kind == "user" else ""
    return Spender(agent_id=request.agent.id, user_id=user_id, embed_key_id=request.embed_key_id or "")


async def require_budget(ctx: Context, request: TurnRequest) -> None:
    """Raise a 429 if a spent budget stops this turn; nothing of the turn is stored then."""
    await enforcement.require_budget(
        ctx, _spender(ctx, request), has_cheaper_model=bool(_cheaper_models(request.agent))
    )


class BudgetReservation:
    """The budget hold of one turn, from before its question is stored until its result is."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._budget_hold: BudgetHold | None = None
        self._affordable_request: TurnRequest | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.release()

    async def reserve(self, request: TurnRequest) -> TurnRequest:
        """Return the turn the budgets can pay for: unchanged, with fewer tokens or with a cheaper model."""
        if self._affordable_request is None:
            self._affordable_request = await self._reserve(request)
        return self._affordable_request

    async def _reserve(self, request: TurnRequest) -> TurnRequest:
        agent = request.agent
        models = (agent.primary_model, *agent.fallback_models)
        budget_hold = await enforcement.hold_budgets(
            self._ctx, _spender(self._ctx, request), models, max_turn_tokens(agent)
        )
        self._budget_hold = budget_hold
        if budget_hold.tokens is not None:
            token_budget = (
                budget_hold.tokens
                if request.token_budget is None
                else min(budget_hold.tokens, request.token_budget)
            )
            request = replace(request, token_budget=token_budget)
        if budget_hold.spent is not None:
            cheaper_models = _cheaper_models(agent)
            if not cheaper_models:
                raise enforcement.budget_exceeded(self._ctx, budget_hold.spent)
            request = replace(
                request,
                agent=replace(
                    agent, primary_model=cheaper_models[0], fallback_models=list(cheaper_models[1:])
                ),
            )
        return request

    async def release(self) -> None:
        if self._budget_hold is not None:
            await self._budget_hold.release()


def max_turn_tokens(agent: Agent) -> int:
    """Return the most tokens a turn can use; an agent without tools calls its model only once."""
    if agent.tool_count or agent.sub_agent_count or agent.web_search.enabled:
        return MAX_TURN_TOKENS
    prompt = (
        len(agent.system_prompt) + MAX_HISTORY_CHARACTERS + 2 * MAX_MESSAGE_LENGTH + _MAX_PASSAGE_CHARACTERS
    )
    return min(MAX_TURN_TOKENS, estimate_tokens(prompt) + (agent.max_tokens or MAX_UNLIMITED_REPLY_TOKENS))


def _cheaper_models(agent: Agent) -> list[str]:
    """Return the agent's fallback models that cost less than its primary one, cheapest first."""
    primary_price = sum(token_prices(agent.primary_model))
    cheaper = [
        model
        for model in agent.fallback_models
        if model.startswith(_LOCAL_PREFIX) or sum(token_prices(model)) < primary_price
    ]
    return sorted(cheaper, key=lambda model: (not model.startswith(_LOCAL_PREFIX), sum(token_prices(model))))


def meter_turn(unit: Context, request: TurnRequest, log: ChatLog) -> None:
    """Count a turn in the transaction that stores its end."""
    tokens = log.prompt_tokens + log.completion_tokens
    meter(
        unit,
        {
            "chat_requests": 1,
            "messages": log.message_count,
            "prompt_tokens": log.prompt_tokens,
            "completion_tokens": log.completion_tokens,
            "cost_usd": log.cost_usd,
        },
        agent_id=log.agent_id,
        model=log.model,
        user_id=log.user_id or "",
        embed_key_id=log.embed_key_id or "",
        channel=log.channel,
    )
    enforcement.enqueue_threshold_checks(unit, _spender(unit, request), log.cost_usd, tokens)


def cost_usd(model: str, usage: TokenUsage) -> float:
    """Return the cost at list prices; 0 for models without a known price."""
    provider, _, name = model.partition("/")
    listed = find_known_model(provider, name)
    if listed is None:
        return 0.0
    prompt_cost = usage.prompt_tokens * (listed.input_price_per_mtok or 0)
    return (prompt_cost + usage.completion_tokens * (listed.output_price_per_mtok or 0)) / 1_000_000
