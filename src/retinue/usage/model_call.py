"""The cost of a model call, before and after it, and who pays (ADR 39)."""

from typing import Literal, Protocol

import msgspec

from retinue.adapters.llm.estimates import estimate_tokens
from retinue.adapters.llm.messages import ModelUsage
from retinue.kit.context import Context
from retinue.usage.price_book import PriceBook

CallKind = Literal["chat", "embedding", "transcription", "speech"]


class PlannedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that is to be made: tokens of a prompt are estimated, and so are the seconds of a recording.

    `model` is `provider/model`; `reply_tokens` is the limit of the reply, if it has one.
    """

    kind: CallKind
    model: str
    prompt_tokens: int = 0
    reply_tokens: int | None = None
    characters: int = 0
    seconds: float = 0.0

    def cost(self, prices: PriceBook) -> int | None:
        """Return what the call costs without a reply, in nano-dollars; None if the price is unknown."""
        if self.kind == "speech":
            return prices.speech_cost(self.model, self.characters)
        if self.kind == "transcription":
            return prices.transcription_cost(self.model, self.seconds)
        return prices.call_cost(self.model, ModelUsage(self.prompt_tokens, 0))


class BookedCall(PlannedCall, frozen=True, kw_only=True):
    """A call that was made; without `usage` the provider did not count its tokens."""

    usage: ModelUsage | None = None
    reply_characters: int = 0

    def counted_usage(self) -> ModelUsage:
        """Return the tokens, estimated if nobody counted them; sound has none."""
        if self.kind in {"speech", "transcription"}:
            return ModelUsage(0, 0)
        reply_tokens = estimate_tokens(self.reply_characters) if self.reply_characters else 0
        return self.usage or ModelUsage(self.prompt_tokens, reply_tokens)

    def cost(self, prices: PriceBook) -> int | None:
        if self.kind in {"speech", "transcription"}:
            return super().cost(prices)
        return prices.call_cost(self.model, self.counted_usage())


class SpendingHold(Protocol):
    """Who pays for a call of a model: `providers.model_calls` makes none without one.

    A turn has one for all its calls; anything else opens a `SingleCall`.
    """

    @property
    def is_limited(self) -> bool:
        """Whether `admit` may refuse a call; if not, it need not be asked."""
        ...

    async def admit(self, ctx: Context, call: PlannedCall) -> int | None:
        """Return how many tokens the reply may have, if that is limited; raise if nobody pays for it."""
        ...

    async def book(self, ctx: Context, call: BookedCall) -> None:
        """Count a call that was made."""
        ...

    async def release(self) -> None:
        """Release what `admit` has held, whether or not the call was made."""
        ...


class FreeCall:
    """A `SpendingHold` for embedded models, which cost nothing: it pays for no other."""

    is_limited = True

    async def admit(self, _ctx: Context, call: PlannedCall) -> int | None:
        raise RuntimeError(f"nobody pays for a call of {call.model}")

    async def book(self, _ctx: Context, _call: BookedCall) -> None:
        """Do nothing: there is nothing to count."""

    async def release(self) -> None:
        """Do nothing: nothing is held."""
