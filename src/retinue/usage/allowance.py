"""The rest of blocking budgets for the model calls that share a hold.

If the prompt alone costs more than is left, no model is asked. Otherwise the reply is limited to what the
rest pays for. Calls at the same time take their shares beforehand, and give back what they did not use.
"""

from collections.abc import Callable, Sequence

import msgspec

from retinue.adapters.llm.messages import ModelUsage
from retinue.kit.errors import RetinueError
from retinue.kit.metrics import declarations as metrics
from retinue.usage.price_book import PriceBook


class SpendingLimit(msgspec.Struct, kw_only=True):
    """The rest of a budget: tokens, or nano-dollars. `refuse` makes the error for a call that exceeds it."""

    left: int
    is_in_usd: bool
    refuse: Callable[[], RetinueError]


class CallShare(msgspec.Struct, frozen=True):
    """The share of one call in each limit; its reply may have `reply_tokens`."""

    amounts: tuple[int, ...]
    reply_tokens: int


class SpendingAllowance:
    def __init__(self, prices: PriceBook, limits: Sequence[SpendingLimit]) -> None:
        self._prices = prices
        self._limits = tuple(limits)

    @property
    def is_limited(self) -> bool:
        return bool(self._limits)

    def take(self, model: str, prompt_tokens: int, reply_tokens: int) -> CallShare:
        """Take what a call of this model costs at most; raise if its prompt costs more than is left."""
        if (refusal := self.find_refusal(model, prompt_tokens)) is not None:
            metrics.BUDGET_REFUSALS.count()
            raise refusal
        for limit in self._limits:
            affordable = self._affordable_reply(limit, model, prompt_tokens)
            reply_tokens = reply_tokens if affordable is None else min(reply_tokens, affordable)
        usage = ModelUsage(prompt_tokens, reply_tokens)
        amounts = tuple(self._amount(limit, model, usage) for limit in self._limits)
        for limit, amount in zip(self._limits, amounts, strict=True):
            limit.left -= amount
        return CallShare(amounts, reply_tokens)

    def find_refusal(self, model: str, prompt_tokens: int) -> RetinueError | None:
        """Return why a call cannot be paid: what is left after its prompt is less than a token."""
        for limit in self._limits:
            affordable = self._affordable_reply(limit, model, prompt_tokens)
            if affordable is not None and affordable < 1:
                return limit.refuse()
        return None

    def give_back(self, share: CallShare) -> None:
        for limit, amount in zip(self._limits, share.amounts, strict=True):
            limit.left += amount

    def require(self, nano_usd: int | None, tokens: int) -> None:
        """Raise if the call costs more than is left, or if nothing is left."""
        for limit in self._limits:
            amount = (nano_usd or 0) if limit.is_in_usd else tokens
            if limit.left <= 0 or amount > limit.left:
                metrics.BUDGET_REFUSALS.count()
                raise limit.refuse()

    def charge(self, nano_usd: int | None, tokens: int) -> None:
        """Take what a call has cost; a cost that nobody knows takes nothing."""
        for limit in self._limits:
            limit.left -= (nano_usd or 0) if limit.is_in_usd else tokens

    def _affordable_reply(self, limit: SpendingLimit, model: str, prompt_tokens: int) -> int | None:
        """Return the tokens that the rest pays for after the prompt; None if they cost nothing known."""
        if not limit.is_in_usd:
            return limit.left - prompt_tokens
        if limit.left <= 0:
            return 0
        return self._prices.affordable_reply(model, prompt_tokens, limit.left)

    def _amount(self, limit: SpendingLimit, model: str, usage: ModelUsage) -> int:
        if limit.is_in_usd:
            return self._prices.call_cost(model, usage) or 0
        return usage.prompt_tokens + usage.completion_tokens
