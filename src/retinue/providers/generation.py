"""Content that a model writes for an editor on request: one call, answered with JSON of a given shape."""

from retinue.adapters.embedded.models import EmbeddedModels
from retinue.adapters.llm import ChatRequest, ModelMessage, ResponseSchema
from retinue.adapters.llm.catalogue import find_known_model, kind_of_model
from retinue.kit.context import Context
from retinue.providers import model_calls
from retinue.providers.catalogue import models_of_key
from retinue.providers.model_resolution import default_model
from retinue.providers.models import ProviderKey
from retinue.usage.single_call import SingleCall, spender_of


async def generate_json(
    ctx: Context, task: str, prompt: str, shape: ResponseSchema, *, model: str | None, channel: str
) -> str:
    """Return what the model wrote. Call it before a transaction opens, because the model may be slow."""
    request = ChatRequest(
        model=model or await _generation_model(ctx),
        messages=(ModelMessage(role="system", content=task), ModelMessage(role="user", content=prompt)),
        temperature=0,
        response_format=shape,
    )
    reply = await model_calls.chat(ctx, request, hold=SingleCall(spender_of(ctx), channel=channel))
    return extract_json(reply.text)


async def _generation_model(ctx: Context) -> str:
    """Return the default model, else an embedded one."""
    return await find_default_model(ctx) or default_model(ctx.settings, ctx.adapter(EmbeddedModels), "chat")


async def find_default_model(ctx: Context) -> str | None:
    """Return the instance's default model, else a chat model of the tenant's default key."""
    if ctx.settings.default_model:
        return ctx.settings.default_model
    keys = await ctx.detached().db.all(ProviderKey, is_active=True)
    for key in sorted(keys, key=lambda key: (not key.is_default, key.priority)):
        names = [name for name in models_of_key(key) if kind_of_model(name) == "chat"]
        if names:
            # A key may offer a hundred models; one that is known writes better than the first by name.
            chosen = min(names, key=lambda name: (find_known_model(key.provider, name) is None, name))
            return f"{key.provider}/{chosen}"
    return None


def extract_json(text: str) -> str:
    """Return the JSON object in a text; some models wrap it in words or code fences."""
    return text[text.find("{") : text.rfind("}") + 1]
