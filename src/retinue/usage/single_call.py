"""The hold of a single call of a model outside of a turn: an embedding, speech, a transcription, a form."""

from retinue.adapters.llm.estimates import MAX_UNLIMITED_REPLY_TOKENS
from retinue.adapters.llm.messages import ModelUsage
from retinue.kit.context import Context
from retinue.usage import enforcement, unpriced
from retinue.usage.allowance import SpendingAllowance
from retinue.usage.enforcement import BudgetCache, BudgetHold, Ceiling, Spender
from retinue.usage.meters import meter, token_counts
from retinue.usage.model_call import BookedCall, PlannedCall
from retinue.usage.price_book import PriceBook, load_price_book, usd
from retinue.usage.spending_of_work import report_spending


def spender_of(ctx: Context, agent_id: str = "") -> Spender:
    """Return the caller as a spender, for an agent if it is named."""
    principal = ctx.principal
    embed_key_id = principal.id if principal.kind == "embed_key" else ""
    return Spender(agent_id=agent_id, user_id=principal.owner_id, embed_key_id=embed_key_id)


class SingleCall:
    """A `SpendingHold` for one call, which is counted in a transaction of its own as soon as it was made.

    With `shared`, which somebody else releases, those budgets pay for the call: it holds none of its own.
    """

    is_limited = True

    def __init__(self, spender: Spender, *, channel: str = "", shared: BudgetHold | None = None) -> None:
        self._spender = spender
        self._channel = channel
        self._shared = shared
        self._held: BudgetHold | None = None

    async def admit(self, ctx: Context, call: PlannedCall) -> int | None:
        await self.release()
        if not await ctx.state(BudgetCache).of(ctx):
            return None
        prices = await load_price_book(ctx)
        await _require_price(ctx, self._spender, call, prices)
        payer = self._shared
        if payer is None:
            payer = self._held = await enforcement.hold_budgets(
                ctx, self._spender, call_ceiling(call, prices)
            )
        enforcement.require_unspent(ctx, payer)
        return limit_reply(call, prices, payer)

    async def book(self, ctx: Context, call: BookedCall) -> None:
        prices, usage = await load_price_book(ctx), call.counted_usage()
        nano_usd = call.cost(prices)
        prices.count_spending(call.model, usage, nano_usd)
        tokens = usage.prompt_tokens + usage.completion_tokens
        if self._shared is not None:
            SpendingAllowance(prices, self._shared.limits).charge(nano_usd, tokens)
        spender = self._spender
        async with ctx.unit() as unit:
            meter(
                unit,
                token_counts(usage, nano_usd),
                agent_id=spender.agent_id,
                model=call.model,
                user_id=spender.user_id,
                embed_key_id=spender.embed_key_id,
                channel=self._channel,
            )
            report_spending(unit, tokens, None if nano_usd is None else usd(nano_usd))
            enforcement.enqueue_threshold_checks(unit, spender, usd(nano_usd or 0), tokens)
            if nano_usd is None:
                unpriced.announce(unit, spender, call.model)

    async def release(self) -> None:
        if self._held is not None:
            held, self._held = self._held, None
            await held.release()


def call_ceiling(call: PlannedCall, prices: PriceBook) -> Ceiling:
    """Return what a call can cost at most."""
    if call.kind in {"speech", "transcription"}:
        return Ceiling(tokens=0, nano_usd=call.cost(prices) or 0)
    reply_tokens = (call.reply_tokens or MAX_UNLIMITED_REPLY_TOKENS) if call.kind == "chat" else 0
    usage = ModelUsage(call.prompt_tokens, reply_tokens)
    return Ceiling(
        tokens=call.prompt_tokens + reply_tokens, nano_usd=prices.call_cost(call.model, usage) or 0
    )


def limit_reply(call: PlannedCall, prices: PriceBook, held: BudgetHold) -> int | None:
    """Return how many tokens the reply may have; raise if the call costs more than is left."""
    allowance = SpendingAllowance(prices, held.limits)
    if call.kind != "chat":
        allowance.require(call.cost(prices), call.prompt_tokens)
        return None
    wanted = call.reply_tokens or MAX_UNLIMITED_REPLY_TOKENS
    return allowance.take(call.model, call.prompt_tokens, wanted).reply_tokens


async def _require_price(ctx: Context, spender: Spender, call: PlannedCall, prices: PriceBook) -> None:
    """Raise ModelUnpriced if a budget refuses models without a price, and tell people of it."""
    rule = await unpriced.find_rule(ctx, spender)
    if rule is not None and call.cost(prices) is None:
        await unpriced.announce_refusal(ctx, spender, call.model)
        raise enforcement.count_refusal(rule.refusal(call.model))
