"""Tokens and cost of the model calls of a turn, by model; sub-agents and fallbacks included."""

import msgspec

from retinue.adapters.llm import ModelUsage
from retinue.chat.engine.parts import ModelSpending, ReplyDetails, TokenUsage
from retinue.usage.price_book import NANO_USD_PER_USD, PriceBook, usd


class _ModelTotal(msgspec.Struct):
    """`nano_usd` is None once a call's price was unknown."""

    usage: TokenUsage
    nano_usd: int | None
    calls: int


class TurnTotals:
    """The sums of a turn; each call is priced by its own model and tokens."""

    def __init__(self, prices: PriceBook) -> None:
        self._prices = prices
        self._totals: dict[str, _ModelTotal] = {}
        self._nano_usd: int | None = 0
        self.usage = TokenUsage()

    def add(self, model: str, usage: ModelUsage) -> int | None:
        """Add a call; return its cost in nano-dollars, None if its price is unknown."""
        nano_usd = self._prices.call_cost(model, usage)
        self._prices.count_spending(model, usage, nano_usd)
        self._add(model, _ModelTotal(TokenUsage.of(usage), nano_usd, 1))
        return nano_usd

    def restore(self, details: ReplyDetails) -> None:
        """Add what a suspended turn had used."""
        for spent in details.usage_by_model:
            cost = spent.estimated_cost_usd
            nano_usd = None if cost is None else round(cost * NANO_USD_PER_USD)
            usage_so_far = msgspec.convert(spent, TokenUsage, from_attributes=True)
            self._add(spent.model, _ModelTotal(usage_so_far, nano_usd, spent.calls))

    def _add(self, model: str, total: _ModelTotal) -> None:
        self.usage = self.usage.plus(total.usage)
        self._nano_usd = _sum(self._nano_usd, total.nano_usd)
        known = self._totals.get(model)
        if known is None:
            self._totals[model] = total
            return
        known.usage = known.usage.plus(total.usage)
        known.calls += total.calls
        known.nano_usd = _sum(known.nano_usd, total.nano_usd)

    @property
    def has_unpriced(self) -> bool:
        return self._nano_usd is None

    @property
    def estimated_cost_usd(self) -> float | None:
        """The cost of all calls; None if the price of one is unknown."""
        return None if self._nano_usd is None else usd(self._nano_usd)

    def by_model(self) -> tuple[ModelSpending, ...]:
        return tuple(
            ModelSpending(
                model=model,
                calls=total.calls,
                estimated_cost_usd=None if total.nano_usd is None else usd(total.nano_usd),
                **msgspec.structs.asdict(total.usage),
            )
            for model, total in self._totals.items()
        )


def _sum(one: int | None, other: int | None) -> int | None:
    """Add costs up; unknown ones make the sum unknown."""
    return None if one is None or other is None else one + other
