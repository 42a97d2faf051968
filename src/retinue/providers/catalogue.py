"""The model catalogue: well-known models, models offered by keys, and their availability."""

from collections.abc import Iterable

from msgspec import Struct

from retinue.adapters.embedded.models import EmbeddedModels, LocalModel
from retinue.adapters.llm.catalogue import KNOWN_MODELS, find_known_model, kind_of_model, known_models
from retinue.adapters.llm.local_servers import DiscoveredServer, LocalServers, canonical_base_url
from retinue.credentials.destinations import origin_of
from retinue.kit.context import Context
from retinue.kit.json_types import JsonObject
from retinue.providers.addresses import address_of, is_usable
from retinue.providers.models import ProviderKey, ProviderName
from retinue.providers.schemas import ModelOut
from retinue.usage.price_book import TOKEN_PRICE_FIELDS, PriceBook, load_price_book, price_fields

FOUND_SERVER = "found_server"
KeyOffers = list[tuple[ProviderKey, frozenset[str]]]


class _EmbeddedModel(Struct, frozen=True):
    """An embedded model, which runs on this machine and is free of charge."""

    name: str
    context_window: int | None
    supports_tools: bool
    supports_streaming: bool
    supports_vision: bool = False


class _UnknownModel(Struct, frozen=True):
    """A model known only by its name."""

    name: str
    context_window: None = None
    supports_tools: None = None
    supports_streaming: None = None
    supports_vision: None = None


def models_of_key(key: ProviderKey) -> frozenset[str]:
    """Return the models a key serves: as configured, else as its provider listed, else well-known ones."""
    if key.models is not None:
        return frozenset(key.models)
    return frozenset(key.found_models or (model.id for model in known_models(key.provider)))


async def all_models(ctx: Context) -> list[ModelOut]:
    """Return all models of the tenant's keys, well-known and embedded ones, ordered by id.

    Callers who may add keys also see the models of servers found on a developer's machine that no key uses
    yet.
    """
    servers = await ctx.adapter(LocalServers).found() if ctx.principal.may("api_keys:write") else ()
    offers: dict[str, KeyOffers] = {}
    keys = await ctx.db.all(ProviderKey)
    for key in keys:
        if key.provider is not ProviderName.local:
            offers.setdefault(key.provider, []).append((key, models_of_key(key)))
    names = {(model.provider, model.id) for model in KNOWN_MODELS}
    names |= {(provider, name) for provider in offers for _, offered in offers[provider] for name in offered}
    prices = await load_price_book(ctx)
    shown = [_render_model(prices, provider, name, offers.get(provider, [])) for provider, name in names]
    embedded = ctx.adapter(EmbeddedModels)
    shown += [_shown_embedded(prices, model, embedded.obstacle(model)) for model in embedded.known()]
    listed = {model.id: model for model in [*_shown_found(prices, servers, keys), *shown]}
    return sorted(listed.values(), key=lambda model: model.id)


def _prices(prices: PriceBook, model: str) -> JsonObject:
    """Return the price of a model that holds, and who set it; null if it is unknown."""
    found = prices.find(model)
    if found is None:
        return dict.fromkeys((*TOKEN_PRICE_FIELDS, "source"))
    price = price_fields(found.price)
    return {**{name: price[name] for name in TOKEN_PRICE_FIELDS}, "source": found.source}


def _shown_found(
    prices: PriceBook, servers: Iterable[DiscoveredServer], keys: Iterable[ProviderKey]
) -> list[ModelOut]:
    """Return the models of discovered servers that no key uses; a key for `base_url` makes them usable."""
    reached = {origin_of(canonical_base_url(address_of(key.provider, key.base_url))) for key in keys}
    return [
        ModelOut.of(
            _UnknownModel(name),
            id=f"{server.provider}/{name}",
            provider=ProviderName(server.provider),
            kind=kind_of_model(name),
            available=False,
            reason=FOUND_SERVER,
            base_url=server.base_url,
            **_prices(prices, f"{server.provider}/{name}"),
        )
        for server in servers
        if origin_of(server.base_url) not in reached
        for name in server.models
    ]


def _shown_embedded(prices: PriceBook, model: LocalModel, obstacle: str | None) -> ModelOut:
    is_chat = model.kind == "chat"
    return ModelOut.of(
        _EmbeddedModel(model.title, model.context_window, is_chat, is_chat or model.kind == "speech"),
        id=f"{ProviderName.local}/{model.name}",
        provider=ProviderName.local,
        kind=model.kind,
        available=obstacle is None,
        reason=obstacle,
        base_url=None,
        **_prices(prices, f"{ProviderName.local}/{model.name}"),
    )


def _render_model(prices: PriceBook, provider: str, name: str, offers: KeyOffers) -> ModelOut:
    reason = _obstacle(provider, name, offers)
    return ModelOut.of(
        find_known_model(provider, name) or _UnknownModel(name),
        id=f"{provider}/{name}",
        provider=ProviderName(provider),
        kind=kind_of_model(name),
        available=reason is None,
        reason=reason,
        base_url=None,
        **_prices(prices, f"{provider}/{name}"),
    )


def _obstacle(provider: str, name: str, offers: KeyOffers) -> str | None:
    """Return why the model is unavailable, or None."""
    if not offers:
        return f"no key for {provider}"
    active = [(key, offered) for key, offered in offers if key.is_active and is_usable(key)]
    if not active:
        return f"no active key for {provider}"
    serving = [key for key, offered in active if name in offered]
    if not serving:
        return f"no key for {provider} offers it"
    if not any(key.is_valid for key in serving):
        return f"the key for {provider} is not valid"
    return None
