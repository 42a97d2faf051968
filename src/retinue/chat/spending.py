"""What a turn costs, and who pays it: asked before the model is, counted with the end of the turn."""

from msgspec.structs import replace

from retinue.adapters.llm.catalogue import find_known_model
from retinue.agents.models import Agent
from retinue.chat.asking import Ask
from retinue.chat.engine.budget import MAX_TOKENS, estimated_tokens
from retinue.chat.engine.prompts import MAX_HISTORY_CHARACTERS
from retinue.chat.models import ChatLog
from retinue.chat.schemas import MAX_MESSAGE
from retinue.chat.words import TokenUsage
from retinue.kit.context import Context
from retinue.usage import spending
from retinue.usage.metering import meter, prices
from retinue.usage.spending import Hold, Spender

_LOCAL = "local/"
# The characters of what is quoted from documents.
_PASSAGES = 10_000


def _spender(ctx: Context, ask: Ask) -> Spender:
    user_id = ctx.principal.id if ctx.principal.kind == "user" else ""
    return Spender(agent_id=ask.agent.id, user_id=user_id, embed_key_id=ask.embed_key_id or "")


async def require_room(ctx: Context, ask: Ask) -> None:
    """Refused with 429 while a budget is spent that stops this; nothing of the turn is stored then."""
    await spending.require_room(ctx, _spender(ctx, ask))


class Paying:
    """The budgets that pay one turn, from before its model is asked until its end is stored."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._held: Hold | None = None

    async def take(self, ask: Ask) -> Ask:
        """The turn as it can be paid: the same one, one of fewer tokens, or one with a cheaper model."""
        agent = ask.agent
        models = (agent.primary_model, *agent.fallback_models)
        held = await spending.hold(self._ctx, _spender(self._ctx, ask), models, most_tokens(agent))
        self._held = held
        if held.tokens is not None:
            left = held.tokens if ask.token_budget is None else min(held.tokens, ask.token_budget)
            ask = replace(ask, token_budget=left)
        if held.spent is not None:
            cheaper = _cheaper(agent)
            if not cheaper:
                raise spending.exceeded(self._ctx, held.spent)
            ask = replace(
                ask, agent=replace(agent, primary_model=cheaper[0], fallback_models=list(cheaper[1:]))
            )
        return ask

    async def give_back(self) -> None:
        if self._held is not None:
            await self._held.give_back()


def most_tokens(agent: Agent) -> int:
    """What a turn can come to: an agent that has nothing to use asks its model once."""
    if agent.tool_count or agent.sub_agent_count or agent.web_search.enabled:
        return MAX_TOKENS
    prompt = len(agent.system_prompt) + MAX_HISTORY_CHARACTERS + 2 * MAX_MESSAGE + _PASSAGES
    return min(MAX_TOKENS, estimated_tokens(prompt) + agent.max_tokens)


def _cheaper(agent: Agent) -> list[str]:
    """Those of the agent's fallback models that cost less than its own, the cheapest first."""
    own = sum(prices(agent.primary_model))
    found = [model for model in agent.fallback_models if model.startswith(_LOCAL) or sum(prices(model)) < own]
    return sorted(found, key=lambda model: (not model.startswith(_LOCAL), sum(prices(model))))


def meter_turn(unit: Context, ask: Ask, log: ChatLog) -> None:
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
    spending.look_later(unit, _spender(unit, ask), log.cost_usd, tokens)


def cost_usd(model: str, usage: TokenUsage) -> float:
    """At list prices; nothing for models whose price nobody knows."""
    provider, _, name = model.partition("/")
    known = find_known_model(provider, name)
    if known is None:
        return 0.0
    asked = usage.prompt_tokens * (known.input_price_per_mtok or 0)
    return (asked + usage.completion_tokens * (known.output_price_per_mtok or 0)) / 1_000_000
