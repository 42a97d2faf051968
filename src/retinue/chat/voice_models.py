"""The choice of a tenant's models for transcription and speech."""

from typing import Literal

from msgspec import Struct

from retinue.adapters.embedded.models import EmbeddedModels
from retinue.chat.errors import SttNotConfigured, TtsNotConfigured
from retinue.kit.context import Context
from retinue.providers.errors import ModelNotConfigured
from retinue.providers.model_resolution import default_model, resolve_model

_REFUSALS: dict[str, type[SttNotConfigured | TtsNotConfigured]] = {
    "transcription": SttNotConfigured,
    "speech": TtsNotConfigured,
}


class VoiceModel(Struct, frozen=True):
    """`configured_id` is the operator's choice, `id` the model that is called first."""

    configured_id: str
    id: str
    is_embedded: bool


async def choose_voice_model(ctx: Context, kind: Literal["transcription", "speech"]) -> VoiceModel:
    """Return the model to call; raise SttNotConfigured or TtsNotConfigured if there is none."""
    embedded = ctx.adapter(EmbeddedModels)
    configured = default_model(ctx.settings, embedded, kind)
    refusal = _REFUSALS[kind]
    try:
        first = (await resolve_model(ctx, configured, kind))[0]
    except ModelNotConfigured as error:
        raise refusal(error.message) from error
    if first.key is not None:
        return VoiceModel(configured, first.id, is_embedded=False)
    model = embedded.find(first.model)
    obstacle = embedded.obstacle(model) if model is not None else "it is unknown"
    if obstacle is not None:
        raise refusal(f"The model {first.id} cannot be used: {obstacle}.")
    return VoiceModel(configured, first.id, is_embedded=True)
