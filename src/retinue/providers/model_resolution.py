"""Resolution of a model: the candidate keys in the order they are tried, or an embedded model."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from retinue.adapters.embedded.models import EmbeddedModels, LocalKind
from retinue.adapters.llm.catalogue import find_known_model
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, row_reader
from retinue.kit.settings import Settings
from retinue.providers.addresses import is_usable
from retinue.providers.catalogue import models_of_key
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.key_budgets import keys_within_budget
from retinue.providers.models import ProviderKey, ProviderName
from retinue.usage.errors import BudgetExceeded, ModelUnpriced

_LOCAL_PREFIX = f"{ProviderName.local}/"

_keys = ProviderKey.__table__
_ACTIVE_KEYS = Statement(sa.select(_keys).where(_keys.c.is_active.is_(True)))
KeyRows = tuple[tuple[Any, ...], ...]


class ModelCandidate(Struct, frozen=True):
    """A key and the provider's name of the model; an embedded model has no key."""

    key: ProviderKey | None
    model: str

    @property
    def id(self) -> str:
        """The public id of the model."""
        return f"{self.key.provider if self.key else ProviderName.local}/{self.model}"


async def resolve_model(ctx: Context, model: str, kind: LocalKind = "chat") -> list[ModelCandidate]:
    """Return the candidates for a model (`provider/model`, or a name that only one provider has)."""
    return await _within_budget(ctx, await _all_candidates(ctx, model, kind))


async def full_model_id(ctx: Context, model: str) -> str:
    """Return the id with its provider that answers for a model; unchanged if it is not configured."""
    try:
        return (await _all_candidates(ctx, model, "chat"))[0].id
    except ModelNotConfigured:
        return model


async def is_embedded(ctx: Context, model: str) -> bool:
    """Return whether an embedded model answers for this one; such a model costs nothing."""
    return (await full_model_id(ctx, model)).startswith(_LOCAL_PREFIX)


async def can_see(ctx: Context, model: str) -> bool | None:
    """Return whether a model accepts images; None if that is unknown."""
    provider, _, name = (await full_model_id(ctx, model)).partition("/")
    if provider == ProviderName.local:
        return False
    known = find_known_model(provider, name)
    return None if known is None else known.supports_vision


async def context_window(ctx: Context, model: str) -> int | None:
    """Return how many tokens a model can take in at once; None if that is unknown.

    The built-in chat model shortens its prompts itself, so it has no limit here.
    """
    provider, _, name = (await full_model_id(ctx, model)).partition("/")
    if provider != ProviderName.local:
        known = find_known_model(provider, name)
        return None if known is None else known.context_window
    embedded = ctx.adapter(EmbeddedModels)
    windows = (local.context_window for local in embedded.known() if local.name == name)
    return None if embedded.is_demo(name) else next(windows, None)


async def _all_candidates(ctx: Context, model: str, kind: LocalKind) -> Sequence[ModelCandidate]:
    rows = await ctx.cached_config(ProviderKey, lambda: _active_keys(ctx))
    keys = _read_keys(rows)
    embedded = ctx.adapter(EmbeddedModels)
    name = _embedded_name(embedded, keys, model, kind)
    if name is None and not keys and kind != "embedding":
        # First run: without keys the embedded model answers for every model. Not for embeddings, because
        # vectors of different models do not compare.
        name = default_model(ctx.settings, embedded, kind, is_embedded=True).removeprefix(_LOCAL_PREFIX)
    if name is not None:
        return [ModelCandidate(None, name)]
    return _candidates_among(rows, model)


async def _active_keys(ctx: Context) -> KeyRows:
    # Every model call comes through here, and none should wait for a writer.
    return tuple([tuple(row) for row in await ctx.reader().db.rows(_ACTIVE_KEYS)])


# ADR 20: cached by the rows themselves, so a changed key needs no invalidation. Secrets stay sealed in them.
@lru_cache(maxsize=1024)
def _read_keys(rows: KeyRows) -> tuple[ProviderKey, ...]:
    read = row_reader(ProviderKey)
    return tuple([read(row) for row in rows])


@lru_cache(maxsize=1024)
def _candidates_among(rows: KeyRows, model: str) -> tuple[ModelCandidate, ...]:
    return tuple(candidates_for(_read_keys(rows), model))


async def _within_budget(ctx: Context, candidates: Sequence[ModelCandidate]) -> list[ModelCandidate]:
    """Return the candidates in order, without keys whose budget is spent or cannot count the model."""
    keys = [candidate.key for candidate in candidates if candidate.key]
    if not keys:
        return list(candidates)
    usable_keys = await keys_within_budget(ctx, keys, candidates[0].model)
    if len(usable_keys) == len(candidates):
        return list(candidates)
    open_keys = {key.id for key in usable_keys}
    return [candidate for candidate in candidates if candidate.key is None or candidate.key.id in open_keys]


async def demo_model_for(ctx: Context, model: str) -> str | None:
    """Return the id of the built-in chat model if it answers for this one, else None."""
    candidates = await resolve_model(ctx, model)
    is_demo = (
        len(candidates) == 1
        and candidates[0].key is None
        and ctx.adapter(EmbeddedModels).is_demo(candidates[0].model)
    )
    return candidates[0].id if is_demo else None


async def require_any_model(ctx: Context, models: Iterable[str], *, may_quote: bool = False) -> None:
    """Raise unless one of these models can be called, judged without calling it.

    With `may_quote` the built-in model needs no weights: it can quote the documents.
    """
    embedded = ctx.adapter(EmbeddedModels)
    refusal: ModelNotConfigured | BudgetExceeded | ModelUnpriced = ModelNotConfigured()
    for model in models:
        try:
            candidates = await resolve_model(ctx, model)
            for candidate in candidates:
                if candidate.key is None and not (may_quote and embedded.is_demo(candidate.model)):
                    require_available(embedded, candidate.model, model)
        except (ModelNotConfigured, BudgetExceeded, ModelUnpriced) as error:
            refusal = error
        else:
            return
    raise refusal


async def is_configured(ctx: Context, model: str) -> bool:
    """Return whether a chat with this model can be answered, judged without calling it."""
    try:
        candidates = await resolve_model(ctx, model)
    except (ModelNotConfigured, BudgetExceeded, ModelUnpriced):
        return False
    embedded = ctx.adapter(EmbeddedModels)
    return any(
        candidate.key.is_valid if candidate.key else _is_available(embedded, candidate.model)
        for candidate in candidates
    )


def default_model(
    settings: Settings, embedded: EmbeddedModels, kind: LocalKind, *, is_embedded: bool = False
) -> str:
    """Return the default model of a kind; with `is_embedded`, one that needs no key."""
    chosen = {
        "chat": settings.default_model,
        "embedding": settings.embedding_model,
        "transcription": settings.stt_model,
        "speech": settings.tts_model,
    }[kind]
    own = embedded.find(chosen.removeprefix(_LOCAL_PREFIX)) if chosen.startswith(_LOCAL_PREFIX) else None
    if chosen and (not is_embedded or (own and own.kind == kind)):
        return chosen
    return f"{_LOCAL_PREFIX}{embedded.default(kind).name}"


def _embedded_name(
    embedded: EmbeddedModels, keys: Iterable[ProviderKey], model: str, kind: LocalKind
) -> str | None:
    """Return the embedded model that is meant; its name alone is enough unless a key offers the same."""
    name = model.removeprefix(_LOCAL_PREFIX)
    embedded_model = embedded.find(name)
    if embedded_model is None or embedded_model.kind != kind:
        return None
    if name == model:
        others = {key.provider.value for key in keys if is_usable(key) and model in models_of_key(key)}
        if others:
            raise _ambiguous_model(model, {*others, ProviderName.local.value})
    return name


def require_available(embedded: EmbeddedModels, name: str, model: str) -> None:
    """Raise ModelNotConfigured if the weights of the embedded model that answers for `model` are missing."""
    embedded_model = embedded.find(name)
    obstacle = embedded.obstacle(embedded_model) if embedded_model is not None else None
    if obstacle is None:
        return
    if model.removeprefix(_LOCAL_PREFIX) == name:
        raise ModelNotConfigured(f"The model {_LOCAL_PREFIX}{name} is unavailable: {obstacle}.")
    raise ModelNotConfigured(
        f"The model {model} is not configured, and {_LOCAL_PREFIX}{name}, which answers in its place, "
        f"is unavailable: {obstacle}."
    )


def _is_available(embedded: EmbeddedModels, name: str) -> bool:
    embedded_model = embedded.find(name)
    return embedded_model is not None and embedded.obstacle(embedded_model) is None


def candidates_for(keys: Iterable[ProviderKey], model: str) -> list[ModelCandidate]:
    """Return the keys that may serve a model: keys known to offer it first, invalid keys last."""
    usable = [key for key in keys if key.is_active and is_usable(key)]
    provider, name = _split_model_id(usable, model)
    serving = [
        key for key in usable if key.provider == provider and (key.models is None or name in key.models)
    ]
    if not serving:
        raise _not_configured(model)
    serving.sort(
        key=lambda key: (
            not key.is_valid,
            name not in models_of_key(key),
            not key.is_default,
            key.priority,
            key.created_at,
            key.id,
        )
    )
    return [ModelCandidate(key, name) for key in serving]


def _split_model_id(keys: list[ProviderKey], model: str) -> tuple[str, str]:
    """Split a model id into provider and name; a name alone must belong to one provider."""
    provider, slash, name = model.partition("/")
    if slash and name and provider in ProviderName.__members__:
        return provider, name
    offering = {key.provider.value for key in keys if model in models_of_key(key)}
    if len(offering) > 1:
        raise _ambiguous_model(model, offering)
    if not offering:
        raise _not_configured(model)
    return offering.pop(), model


def _not_configured(model: str) -> ModelNotConfigured:
    return ModelNotConfigured(
        f"The model {model} is not configured. Add a provider key or choose an available model."
    )


def _ambiguous_model(model: str, providers: set[str]) -> ModelNotConfigured:
    choices = ", ".join(f"{provider}/{model}" for provider in sorted(providers))
    return ModelNotConfigured(f"Several providers serve the model {model}. Choose one of {choices}.")
