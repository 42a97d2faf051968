"""Which keys can answer for a model, and in which order they are asked."""

from collections.abc import Iterable

from msgspec import Struct

from retinue.kit.context import Context
from retinue.providers.addresses import is_usable
from retinue.providers.catalogue import offered
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.models import ProviderKey, ProviderName


class Candidate(Struct, frozen=True):
    """A key, and the name that its provider has for the model."""

    key: ProviderKey
    model: str

    @property
    def id(self) -> str:
        """The model as it is named everywhere outside."""
        return f"{self.key.provider}/{self.model}"


async def resolve(ctx: Context, model: str) -> list[Candidate]:
    """The keys to ask for a model (`provider/model`, or the model alone where one provider has it)."""
    # Outside a transaction: every question comes by here, and none should wait for a writer.
    reader = Context(ctx.instance, ctx.principal, ctx.caller, reads_freely=True)
    reader.act_in(ctx.tenant_id)
    return candidates(await reader.db.all(ProviderKey, is_active=True), model)


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
    offering = sorted({key.provider.value for key in keys if model in offered(key)})
    if len(offering) > 1:
        choices = ", ".join(f"{provider}/{model}" for provider in offering)
        raise ModelNotConfigured(f"Several providers serve the model {model}; say which: {choices}.")
    if not offering:
        raise ModelNotConfigured(f"No provider key serves the model {model}.")
    return offering[0], model
