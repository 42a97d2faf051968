"""The models of the instance: those everyone knows, those that keys were found to offer, and who answers."""

from msgspec import Struct

from retinue.adapters.embedded.models import EmbeddedModels, LocalModel
from retinue.adapters.llm.catalogue import KNOWN_MODELS, find_known_model, known_models
from retinue.kit.context import Context
from retinue.providers.addresses import is_usable
from retinue.providers.models import ProviderKey, ProviderName
from retinue.providers.schemas import ModelOut

Offers = list[tuple[ProviderKey, frozenset[str]]]


class _EmbeddedModel(Struct, frozen=True):
    """A model of this machine; it costs nothing but the machine."""

    name: str
    context_window: int | None
    supports_tools: bool
    supports_streaming: bool
    supports_vision: bool = False
    input_price_per_mtok: float = 0.0
    output_price_per_mtok: float = 0.0


class _UnknownModel(Struct, frozen=True):
    """A model of which nothing but the name is known."""

    name: str
    context_window: None = None
    supports_tools: None = None
    supports_streaming: None = None
    supports_vision: None = None
    input_price_per_mtok: None = None
    output_price_per_mtok: None = None


def offered(key: ProviderKey) -> frozenset[str]:
    """The models a key serves: as its owner says, else as its provider told, else as everyone knows."""
    if key.models is not None:
        return frozenset(key.models)
    return frozenset(key.found_models or (model.id for model in known_models(key.provider)))


async def models(ctx: Context) -> list[ModelOut]:
    """Every model of the tenant's keys, every known and every embedded one, in the order of their ids."""
    offers: dict[str, Offers] = {}
    for key in await ctx.db.all(ProviderKey):
        if key.provider is not ProviderName.local:
            offers.setdefault(key.provider, []).append((key, offered(key)))
    names = {(model.provider, model.id) for model in KNOWN_MODELS}
    names |= {(provider, name) for provider in offers for _, found in offers[provider] for name in found}
    shown = [_shown(provider, name, offers.get(provider, [])) for provider, name in names]
    embedded = ctx.adapter(EmbeddedModels)
    shown += [_shown_embedded(model, embedded.obstacle(model)) for model in embedded.known()]
    return sorted(shown, key=lambda model: model.id)


def _shown_embedded(model: LocalModel, obstacle: str | None) -> ModelOut:
    is_chat = model.kind == "chat"
    return ModelOut.of(
        _EmbeddedModel(model.title, model.context_window, is_chat, is_chat or model.kind == "speech"),
        id=f"{ProviderName.local}/{model.name}",
        provider=ProviderName.local,
        available=obstacle is None,
        reason=obstacle,
    )


def _shown(provider: str, name: str, offers: Offers) -> ModelOut:
    reason = _obstacle(provider, name, offers)
    return ModelOut.of(
        find_known_model(provider, name) or _UnknownModel(name),
        id=f"{provider}/{name}",
        provider=ProviderName(provider),
        available=reason is None,
        reason=reason,
    )


def _obstacle(provider: str, name: str, offers: Offers) -> str | None:
    """Why nobody can answer as this model."""
    if not offers:
        return f"no key for {provider}"
    active = [(key, found) for key, found in offers if key.is_active and is_usable(key)]
    if not active:
        return f"no active key for {provider}"
    serving = [key for key, found in active if name in found]
    if not serving:
        return f"no key for {provider} offers it"
    if not any(key.is_valid for key in serving):
        return f"the key for {provider} is not valid"
    return None
