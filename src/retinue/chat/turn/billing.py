"""Cost of a turn: budgets are checked before the model is called and metered with the result."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Self

from msgspec.structs import replace

from retinue.adapters.llm.estimates import estimate_texts, estimate_tokens
from retinue.agents.models import Agent
from retinue.chat.engine.parts import ModelSpending
from retinue.chat.models import ChatLog
from retinue.chat.turn.monthly_budget import reserve_turn
from retinue.chat.turn.request import TurnRequest
from retinue.chat.turn.turn_tokens import max_turn_tokens
from retinue.kit.context import Context
from retinue.kit.metrics import declarations as metrics
from retinue.providers.model_resolution import full_model_id, is_embedded
from retinue.providers.turn_budgets import hold_turn, require_affordable
from retinue.service_accounts import token_budget as machine_tokens
from retinue.service_accounts.errors import AccountTokensSpent
from retinue.usage import enforcement, unpriced
from retinue.usage.allowance import SpendingLimit
from retinue.usage.enforcement import BudgetCache, BudgetHold, Spender
from retinue.usage.meters import meter
from retinue.usage.price_book import PriceBook, load_price_book
from retinue.usage.single_call import SingleCall
from retinue.usage.spending_of_work import report_spending
from retinue.usage.unpriced import UnpricedRule

_LOCAL_PREFIX = "local/"


def _spender(ctx: Context, request: TurnRequest) -> Spender:
    return Spender(
        agent_id=request.agent.id,
        user_id=ctx.principal.owner_id,
        embed_key_id=request.embed_key_id or "",
    )


async def require_budget(ctx: Context, request: TurnRequest) -> None:
    """Raise if a spent budget stops this turn, or one that refuses its model; nothing is stored then."""
    await machine_tokens.require_tokens(ctx)
    if not await ctx.state(BudgetCache).of(ctx):
        return
    agent, _ = await _priced_agent(ctx, request)
    if await is_embedded(ctx, agent.primary_model):
        return
    prices = await load_price_book(ctx)
    await enforcement.require_budget(
        ctx, _spender(ctx, request), has_cheaper_model=bool(_cheaper_models(agent, prices))
    )


async def _priced_agent(ctx: Context, request: TurnRequest) -> tuple[Agent, UnpricedRule | None]:
    """Return the agent without the models that a budget refuses because their price is unknown."""
    agent, spender = request.agent, _spender(ctx, request)
    rule = await unpriced.find_rule(ctx, spender)
    if rule is None:
        return agent, None
    priced, refused = await find_priced_models(ctx, agent, rule)
    if refused is not None:
        await unpriced.announce_refusal(ctx, spender, refused)
        raise enforcement.count_refusal(rule.refusal(refused))
    if len(priced) < len(agent.fallback_models) + 1:
        agent = replace(agent, primary_model=priced[0], fallback_models=priced[1:])
    return agent, rule


async def find_priced_models(ctx: Context, agent: Agent, rule: UnpricedRule) -> tuple[list[str], str | None]:
    """Return the agent's models with a price; and the id of its first model if the rule refuses its turns."""
    prices, models = await load_price_book(ctx), (agent.primary_model, *agent.fallback_models)
    ids = {model: await full_model_id(ctx, model) for model in models}
    priced = [model for model in models if prices.find(ids[model]) is not None]
    is_refused = not priced or (priced[0] != agent.primary_model and not rule.may_fall_back)
    return priced, ids[agent.primary_model] if is_refused else None


class BudgetReservation:
    """The budget hold of one turn, from before its question is stored until its result is."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._budget_hold: BudgetHold | None = None
        self._release_own_tokens: Callable[[], Awaitable[None]] | None = None
        self._is_reserved = False
        self._affordable_agent: Agent | None = None
        self._token_cap: int | None = None
        self.unpriced: UnpricedRule | None = None
        """The rule of a budget that refuses models without a price, once reserved."""
        self.limits: Sequence[SpendingLimit] = ()
        """The rest of each blocking budget for the turn, once reserved."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.release()

    async def reserve(self, request: TurnRequest) -> TurnRequest:
        """Return the turn the budgets can pay for: unchanged, or with a cheaper model.

        Raise if they cannot even pay for the message.
        """
        if not self._is_reserved:
            await self._reserve(request)
            self._is_reserved = True
        if self._affordable_agent is not None:
            request = replace(request, agent=self._affordable_agent)
        return request if self._token_cap is None else _capped(request, self._token_cap)

    async def require_affordable(self, request: TurnRequest) -> None:
        """Raise if what is known of the message by now costs more than the budgets have left."""
        if self.limits:
            agent = self._affordable_agent or request.agent
            models = (agent.primary_model, *agent.fallback_models)
            await require_affordable(self._ctx, self.limits, models, _least_prompt_tokens(request))

    def single_call(self, request: TurnRequest, *, channel: str = "") -> SingleCall:
        """Return the hold of a call that prepares the turn: these budgets pay for it, too."""
        return SingleCall(_spender(self._ctx, request), channel=channel, shared=self._budget_hold)

    async def _reserve(self, request: TurnRequest) -> None:
        ctx = self._ctx
        if ctx.principal.kind == "service_account" and ctx.principal.tokens_left is not None:
            account = await machine_tokens.load_spender(ctx.reader())
            left, self._release_own_tokens = await reserve_turn(
                ctx, request.agent, account, AccountTokensSpent
            )
            self._token_cap = left
        if not await ctx.state(BudgetCache).of(ctx):
            return
        agent, self.unpriced = await _priced_agent(ctx, request)
        self._affordable_agent = None if agent is request.agent else agent
        models = (agent.primary_model, *agent.fallback_models)
        budget_hold = await hold_turn(ctx, _spender(ctx, request), models, max_turn_tokens(agent))
        self._budget_hold, self.limits = budget_hold, budget_hold.limits
        await self.require_affordable(request)
        if budget_hold.spent is not None:
            cheaper_models = _cheaper_models(agent, await load_price_book(ctx))
            if not cheaper_models:
                raise enforcement.count_refusal(enforcement.budget_exceeded(ctx, budget_hold.spent))
            self._affordable_agent = replace(
                agent, primary_model=cheaper_models[0], fallback_models=list(cheaper_models[1:])
            )

    async def release(self) -> None:
        if self._budget_hold is not None:
            await self._budget_hold.release()
        if self._release_own_tokens is not None:
            release, self._release_own_tokens = self._release_own_tokens, None
            await release()


def _capped(request: TurnRequest, tokens: int) -> TurnRequest:
    """Return the request with at most this many tokens."""
    cap = tokens if request.token_budget is None else min(tokens, request.token_budget)
    return replace(request, token_budget=cap)


def _least_prompt_tokens(request: TurnRequest) -> int:
    """Return what the first prompt takes at least: the message, its files and the agent's instructions."""
    attached = sum(one.shown_characters for one in request.attachments)
    return estimate_texts((request.message, request.agent.system_prompt)) + estimate_tokens(attached)


def _cheaper_models(agent: Agent, prices: PriceBook) -> list[str]:
    """Return the agent's fallback models that cost less than its primary one, cheapest first.

    A model without a known price counts as free: a budget that minds refuses it before.
    """

    def price(model: str) -> float:
        return prices.typical_price(model) or 0.0

    primary_price = price(agent.primary_model)
    cheaper = [
        model
        for model in agent.fallback_models
        if model.startswith(_LOCAL_PREFIX) or price(model) < primary_price
    ]
    return sorted(cheaper, key=lambda model: (not model.startswith(_LOCAL_PREFIX), price(model)))


def meter_turn(unit: Context, request: TurnRequest, log: ChatLog) -> None:
    """Count a turn where its end is stored: a row for each model, the messages in the first."""
    turn_counts: dict[str, float] = {"chat_requests": 1, "messages": log.message_count}
    spender = _spender(unit, request)
    # The turn belongs to the model that answered, not to the one that embedded its question.
    for spent in sorted(log.usage_by_model, key=lambda spent: spent.model != log.model):
        _meter(unit, log, spent.model, {**_token_counts(spent), **turn_counts})
        turn_counts = {}
        if log.has_usage:
            report_spending(unit, spent.prompt_tokens + spent.completion_tokens, spent.estimated_cost_usd)
        if spent.estimated_cost_usd is None:
            unpriced.announce(unit, spender, spent.model)
    if turn_counts:
        _meter(unit, log, log.model, turn_counts)
    known_cost = sum(spent.estimated_cost_usd or 0.0 for spent in log.usage_by_model)
    tokens = log.prompt_tokens + log.completion_tokens
    _count_turn(unit, log)
    enforcement.enqueue_threshold_checks(unit, spender, known_cost, tokens)


def _count_turn(unit: Context, log: ChatLog) -> None:
    """Count a turn once the transaction that stores its end has committed."""
    if not metrics.CHATS.is_on:
        return

    async def count() -> None:
        metrics.CHATS.count(log.channel, log.status)
        metrics.CHAT_DURATION.observe(log.response_time_ms / 1000)

    unit.after_commit(count)


def _meter(unit: Context, log: ChatLog, model: str, counts: Mapping[str, float]) -> None:
    meter(
        unit,
        counts,
        agent_id=log.agent_id,
        model=model,
        user_id=log.user_id or "",
        embed_key_id=log.embed_key_id or "",
        channel=log.channel,
    )


def _token_counts(spent: ModelSpending) -> dict[str, float]:
    return {
        "prompt_tokens": spent.prompt_tokens,
        "completion_tokens": spent.completion_tokens,
        "cached_tokens": spent.cached_tokens,
        "cache_write_tokens": spent.cache_write_tokens,
        "reasoning_tokens": spent.reasoning_tokens,
        "cost_usd": spent.estimated_cost_usd or 0.0,
    }
