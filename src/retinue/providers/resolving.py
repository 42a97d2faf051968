"""Who can answer for a model: keys in the order in which they are asked, or the embedded models."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from retinue.adapters.embedded.models import EmbeddedModels, LocalKind
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement, row_reader
from retinue.kit.settings import Settings
from retinue.providers.addresses import is_usable
from retinue.providers.catalogue import offered
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.models import ProviderKey, ProviderName
from retinue.providers.spending import with_room
from retinue.usage.errors import BudgetExceeded

_LOCAL = f"{ProviderName.local}/"

_keys = ProviderKey.__table__
_ACTIVE_KEYS: Statement[Any] = Statement(sa.select(_keys).where(_keys.c.is_active.is_(True)))
Rows = tuple[tuple[Any, ...], ...]


class Candidate(Struct, frozen=True):
    """A key and the name that its provider has for the model; without a key the embedded models answer."""

    key: ProviderKey | None
    model: str

    @property
    def id(self) -> str:
        """The model as it is named everywhere outside."""
        return f"{self.key.provider if self.key else ProviderName.local}/{self.model}"


async def resolve(ctx: Context, model: str, kind: LocalKind = "chat") -> list[Candidate]:
    """Whom to ask for a model (`provider/model`, or the model alone where one provider has it)."""
    rows = await ctx.remembered(ProviderKey, lambda: _active_keys(ctx))
    keys = _read_keys(rows)
    embedded = ctx.adapter(EmbeddedModels)
    name = _embedded_name(embedded, keys, model, kind)
    if name is None and not keys and kind != "embedding":
        # The first run: whatever was asked for, something answers. Vectors are the exception, because those
        # of one model mean nothing to another.
        name = default_model(ctx.settings, embedded, kind, is_embedded=True).removeprefix(_LOCAL)
    if name is not None:
        return [Candidate(None, name)]
    return await _with_room(ctx, _candidates_among(rows, model))


async def _active_keys(ctx: Context) -> Rows:
    # Outside a transaction: every question comes by here, and none should wait for a writer.
    return tuple([tuple(row) for row in await ctx.apart().db.rows(_ACTIVE_KEYS)])


# What is stored is what they are remembered by: a key that was changed is another row, so nothing has to be
# invalidated. No secret is among it, it stays sealed.
@lru_cache(maxsize=1024)
def _read_keys(rows: Rows) -> tuple[ProviderKey, ...]:
    read = row_reader(ProviderKey)
    return tuple([read(row) for row in rows])


@lru_cache(maxsize=1024)
def _candidates_among(rows: Rows, model: str) -> tuple[Candidate, ...]:
    return tuple(candidates(_read_keys(rows), model))


async def _with_room(ctx: Context, found: Iterable[Candidate]) -> list[Candidate]:
    """In their order, without the keys that have spent what they may this month."""
    open_keys = {key.id for key in await with_room(ctx, [one.key for one in found if one.key])}
    return [one for one in found if one.key is None or one.key.id in open_keys]


async def is_configured(ctx: Context, model: str) -> bool:
    """Whether a chat with this model would be answered, as far as one can tell without asking it."""
    try:
        found = await resolve(ctx, model)
    except (ModelNotConfigured, BudgetExceeded):
        return False
    embedded = ctx.adapter(EmbeddedModels)
    return any(one.key.is_valid if one.key else _is_available(embedded, one.model) for one in found)


def default_model(
    settings: Settings, embedded: EmbeddedModels, kind: LocalKind, *, is_embedded: bool = False
) -> str:
    """The model for those who name none; `is_embedded`: only one that needs no key."""
    chosen = {
        "chat": settings.default_model,
        "embedding": settings.embedding_model,
        "transcription": settings.stt_model,
        "speech": settings.tts_model,
    }[kind]
    own = embedded.find(chosen.removeprefix(_LOCAL)) if chosen.startswith(_LOCAL) else None
    if chosen and (not is_embedded or (own and own.kind == kind)):
        return chosen
    return f"{_LOCAL}{embedded.default(kind).name}"


def _embedded_name(
    embedded: EmbeddedModels, keys: Iterable[ProviderKey], model: str, kind: LocalKind
) -> str | None:
    """The embedded model of this kind that is meant; its name alone is enough where no key has the same."""
    name = model.removeprefix(_LOCAL)
    found = embedded.find(name)
    if found is None or found.kind != kind:
        return None
    if name == model:
        others = {key.provider.value for key in keys if is_usable(key) and model in offered(key)}
        if others:
            raise _ambiguous(model, {*others, ProviderName.local.value})
    return name


def require_available(embedded: EmbeddedModels, name: str) -> None:
    """Weights that nobody fetched are a matter of configuration, like a key that nobody entered."""
    found = embedded.find(name)
    obstacle = embedded.obstacle(found) if found is not None else None
    if obstacle is not None:
        raise ModelNotConfigured(f"{_LOCAL}{name} cannot answer: {obstacle}.")


def _is_available(embedded: EmbeddedModels, name: str) -> bool:
    found = embedded.find(name)
    return found is not None and embedded.obstacle(found) is None


def candidates(keys: Iterable[ProviderKey], model: str) -> list[Candidate]:
    """Keys known to offer the model come first and refused ones last; then by default and priority."""
    usable = [key for key in keys if key.is_active and is_usable(key)]
    provider, name = _read(usable, model)
    serving = [
        key for key in usable if key.provider == provider and (key.models is None or name in key.models)
    ]
    if not serving:
        raise ModelNotConfigured(f"No provider key serves the model {model}.")
    serving.sort(
        key=lambda key: (
            not key.is_valid,
            name not in offered(key),
            not key.is_default,
            key.priority,
            key.created_at,
            key.id,
        )
    )
    return [Candidate(key, name) for key in serving]


def _read(keys: list[ProviderKey], model: str) -> tuple[str, str]:
    """Provider and name of a model; a name alone must be that of one provider."""
    provider, slash, name = model.partition("/")
    if slash and name and provider in ProviderName.__members__:
        return provider, name
    offering = {key.provider.value for key in keys if model in offered(key)}
    if len(offering) > 1:
        raise _ambiguous(model, offering)
    if not offering:
        raise ModelNotConfigured(f"No provider key serves the model {model}.")
    return offering.pop(), model


def _ambiguous(model: str, providers: set[str]) -> ModelNotConfigured:
    choices = ", ".join(f"{provider}/{model}" for provider in sorted(providers))
    return ModelNotConfigured(f"Several providers serve the model {model}; say which: {choices}.")
