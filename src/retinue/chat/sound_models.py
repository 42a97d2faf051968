"""Which model listens and which one speaks, for a tenant."""

from typing import Literal

from msgspec import Struct

from retinue.adapters.embedded.models import EmbeddedModels
from retinue.chat.errors import SttNotConfigured, TtsNotConfigured
from retinue.kit.context import Context
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.resolving import default_model, resolve

_REFUSALS: dict[str, type[SttNotConfigured | TtsNotConfigured]] = {
    "transcription": SttNotConfigured,
    "speech": TtsNotConfigured,
}


class SoundModel(Struct, frozen=True):
    """`asked_for` is what the operator chose, `id` who will answer first."""

    asked_for: str
    id: str
    is_embedded: bool


async def choose(ctx: Context, kind: Literal["transcription", "speech"]) -> SoundModel:
    """Refused where nobody could be asked."""
    embedded = ctx.adapter(EmbeddedModels)
    wanted = default_model(ctx.settings, embedded, kind)
    refusal = _REFUSALS[kind]
    try:
        first = (await resolve(ctx, wanted, kind))[0]
    except ModelNotConfigured as error:
        raise refusal(error.message) from error
    if first.key is not None:
        return SoundModel(wanted, first.id, is_embedded=False)
    model = embedded.find(first.model)
    obstacle = embedded.obstacle(model) if model is not None else "it is not known"
    if obstacle is not None:
        raise refusal(f"{first.id} cannot be used: {obstacle}.")
    return SoundModel(wanted, first.id, is_embedded=True)
