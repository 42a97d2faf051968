"""The prices in force for a tenant: its own, else the instance's, else list prices.

A call costs an exact sum of tokens times prices, rounded once to a billionth of a dollar. Costs are therefore
whole numbers of nano-dollars, and every sum of them is exact.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Literal

from msgspec import Struct

from retinue.adapters.embedded.models import EmbeddedModels
from retinue.adapters.llm.messages import ModelUsage
from retinue.adapters.llm.prices import ListPrice, ListPrices, TokenPrices
from retinue.adapters.llm.profiles import PROFILES
from retinue.kit.clock import Instant
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.kit.metrics import declarations as metrics
from retinue.kit.metrics.series import OTHER
from retinue.kit.settings import Settings
from retinue.usage.models import InstanceModelPrice, ModelPrice, PriceFields, PriceSource

NANO_USD_PER_USD = 1_000_000_000
_NANO_USD_PER_MTOK_PRICE = 1_000
_TOKENS_PER_PRICE = 1_000_000
_SECONDS_PER_MINUTE = 60
_LOCAL_PREFIX = "local/"


class PriceInForce(Struct, frozen=True):
    """A price, who set it, and when; a list price has no time."""

    price: ListPrice
    source: PriceSource
    updated_at: Instant | None = None


_FREE = PriceInForce(ListPrice(id="", input=Decimal(0), output=Decimal(0)), PriceSource.list)


class PriceBook:
    """Prices by model id (`provider/model`); embedded models are free."""

    def __init__(
        self,
        listed: ListPrices,
        own: Iterable[PriceFields] = (),
        instance: Iterable[PriceFields] = (),
        operator_models: frozenset[str] = frozenset(),
    ) -> None:
        """`operator_models` are models that the operator configured, whether or not they have a price."""
        self._listed = listed
        self._operator_models = operator_models
        self.set_prices: Mapping[str, PriceInForce] = {
            **{row.model: _in_force(row, PriceSource.instance) for row in instance},
            **{row.model: _in_force(row, PriceSource.tenant) for row in own},
        }

    def find(self, model: str) -> PriceInForce | None:
        if model.startswith(_LOCAL_PREFIX):
            return _FREE
        if (price := self.set_prices.get(model)) is not None:
            return price
        provider, _, name = model.partition("/")
        if provider not in PROFILES:
            return self._find_by_name(model)
        listed = self._listed.find(provider, name)
        return PriceInForce(listed, PriceSource.list) if listed is not None else None

    def _find_by_name(self, name: str) -> PriceInForce | None:
        """Return a price for a name without its provider; a reply names both, so this is for estimates."""
        found = (self.find(f"{provider}/{name}") for provider in PROFILES)
        return next((price for price in found if price is not None), None)

    def call_cost(self, model: str, usage: ModelUsage) -> int | None:
        """Return the cost of one call in nano-dollars; None if the price is unknown."""
        found = self.find(model)
        if found is None:
            return None
        prices = found.price.for_prompt(usage.prompt_tokens)
        if prices.output is None and usage.completion_tokens:
            return None
        return int((_weighted_tokens(prices, usage) * _NANO_USD_PER_MTOK_PRICE).to_integral_value())

    def affordable_reply(self, model: str, prompt_tokens: int, nano_usd: int) -> int | None:
        """Return the tokens of a reply that the amount pays for after its prompt; None if nothing is charged.

        The prompt is taken at its full price: what a cache holds is known only afterwards. It is negative if
        the prompt alone costs more.
        """
        found = self.find(model)
        if found is None:
            return None
        prices = found.price.for_prompt(prompt_tokens)
        left = nano_usd - prompt_tokens * prices.input * _NANO_USD_PER_MTOK_PRICE
        if left < 0:
            return -1
        reply_price = _or_input(prices.output, prices) * _NANO_USD_PER_MTOK_PRICE
        return int(left / reply_price) if reply_price else None

    def speech_cost(self, model: str, characters: int) -> int | None:
        """Return what it costs to have a text spoken, in nano-dollars; None if the price is unknown."""
        price = self._audio_price(model, "speech")
        if price is None:
            return None
        return int((characters * price * _NANO_USD_PER_MTOK_PRICE).to_integral_value())

    def transcription_cost(self, model: str, seconds: float) -> int | None:
        """Return what a transcription costs in nano-dollars; None if the price is unknown."""
        price = self._audio_price(model, "transcription")
        if price is None:
            return None
        minutes = _decimal(seconds) / _SECONDS_PER_MINUTE
        return int((minutes * price * NANO_USD_PER_USD).to_integral_value())

    def _audio_price(self, model: str, kind: Literal["speech", "transcription"]) -> Decimal | None:
        found = self.find(model)
        if found is None:
            return None
        price = found.price
        own: Decimal | None = getattr(price, kind)
        if own is not None or price.input or price.output:
            return own
        # A price of 0 for tokens says that the model is free, unless it has a price of another sort.
        return Decimal(0) if price.speech is None and price.transcription is None else None

    def metric_labels(self, model: str) -> tuple[str, str]:
        """Return the provider and the model for a metric: what a tenant made up is `other`."""
        provider, _, name = model.partition("/")
        if provider not in PROFILES and not model.startswith(_LOCAL_PREFIX):
            return OTHER, OTHER
        if model in self._operator_models:
            return provider, name
        found = None if model.startswith(_LOCAL_PREFIX) else self.find(model)
        if found is None or found.source is PriceSource.tenant:
            return provider, OTHER
        # A list price may match many spellings by a pattern; its own id is one of few.
        return provider, found.price.id.removeprefix(f"{provider}/")

    def count_spending(self, model: str, usage: ModelUsage, nano_usd: int | None) -> None:
        """Add a call to the metrics, with the cost that was computed for it."""
        if not metrics.MODEL_TOKENS.is_on:
            return
        labels = self.metric_labels(model)
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        metrics.MODEL_TOKENS.count(*labels, "input", amount=usage.prompt_tokens - cached)
        metrics.MODEL_TOKENS.count(*labels, "cached", amount=cached)
        metrics.MODEL_TOKENS.count(*labels, "output", amount=usage.completion_tokens)
        metrics.MODEL_COST.count(*labels, amount=usd(nano_usd or 0))

    def highest_token_price(self, models: Iterable[str]) -> float:
        """Return the highest price of a token of these models in dollars; 0 if they are free or unpriced."""
        prices = [
            price
            for model in models
            if (found := self.find(model)) is not None
            for tier in (found.price, *found.price.tiers)
            for price in (tier.input, tier.output, tier.cache_write, tier.cache_write_1h)
            if price is not None
        ]
        return float(max(prices, default=Decimal(0))) / _TOKENS_PER_PRICE

    def typical_price(self, model: str) -> float | None:
        """Return a number that compares models: the price of a prompt and a completion token."""
        found = self.find(model)
        return None if found is None else float(found.price.input + (found.price.output or 0))


TOKEN_PRICE_FIELDS = (
    "input_price_per_mtok",
    "cached_input_price_per_mtok",
    "cache_write_price_per_mtok",
    "output_price_per_mtok",
)
AUDIO_PRICE_FIELDS = ("speech_price_per_mchar", "transcription_price_per_minute")
PRICE_FIELDS = (*TOKEN_PRICE_FIELDS, *AUDIO_PRICE_FIELDS)


def price_fields(price: ListPrice) -> JsonObject:
    """Return a price as the API shows it."""
    tokens = price.input, price.cached_input, price.cache_write, price.output
    values = (*tokens, price.speech, price.transcription)
    return {
        name: None if value is None else float(value)
        for name, value in zip(PRICE_FIELDS, values, strict=True)
    }


def usd(nano_usd: int) -> float:
    return nano_usd / NANO_USD_PER_USD


def nano_usd(usd: float) -> int:
    """Return an amount as whole nano-dollars."""
    return round(usd * NANO_USD_PER_USD)


def _in_force(row: PriceFields, source: PriceSource) -> PriceInForce:
    price = ListPrice(
        id=row.model,
        input=_decimal(row.input_price_per_mtok),
        output=_decimal(row.output_price_per_mtok),
        cached_input=_optional_decimal(row.cached_input_price_per_mtok),
        cache_write=_optional_decimal(row.cache_write_price_per_mtok),
        speech=_optional_decimal(row.speech_price_per_mchar),
        transcription=_optional_decimal(row.transcription_price_per_minute),
    )
    return PriceInForce(price, source, row.updated_at)


def _decimal(price: float) -> Decimal:
    # By its shortest text, so that 0.1 is a tenth.
    return Decimal(repr(price))


def _optional_decimal(price: float | None) -> Decimal | None:
    return None if price is None else _decimal(price)


def _weighted_tokens(prices: TokenPrices, usage: ModelUsage) -> Decimal:
    """Return the tokens times their prices per million."""
    cached = min(usage.cached_tokens, usage.prompt_tokens)
    written = min(usage.cache_write_tokens, usage.prompt_tokens - cached)
    written_1h = min(usage.cache_write_1h_tokens, written)
    write_price = _or_input(prices.cache_write, prices)
    cost = (usage.prompt_tokens - cached - written) * prices.input
    cost += cached * _or_input(prices.cached_input, prices)
    cost += (written - written_1h) * write_price
    cost += written_1h * (write_price if prices.cache_write_1h is None else prices.cache_write_1h)
    return cost + usage.completion_tokens * (prices.output or Decimal(0))


def _or_input(price: Decimal | None, prices: TokenPrices) -> Decimal:
    return prices.input if price is None else price


async def load_price_book(ctx: Context) -> PriceBook:
    """Return the prices in force for the tenant of `ctx`."""
    return await ctx.cached_config(PriceBook, lambda: _read(ctx))


async def _read(ctx: Context) -> PriceBook:
    # Every turn comes through here, and none should wait for a writer.
    reader = ctx.reader()
    own = await reader.db.all(ModelPrice)
    instance = await reader.system("the instance's prices hold for all tenants").all(InstanceModelPrice)
    local = (f"{_LOCAL_PREFIX}{model.name}" for model in ctx.adapter(EmbeddedModels).known())
    return PriceBook(
        ctx.state(ListPrices), own, instance, frozenset([*local, *_configured_models(ctx.settings)])
    )


def _configured_models(settings: Settings) -> tuple[str, ...]:
    return settings.default_model, settings.embedding_model, settings.stt_model, settings.tts_model
