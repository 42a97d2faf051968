"""Models that answer without a provider: the embedded ones, and servers found on this machine."""

from retinue.adapters.embedded.models import EmbeddedModels, LocalModel
from retinue.adapters.llm.local_servers import MIN_PROBE_INTERVAL_SECONDS, LocalServers, canonical_base_url
from retinue.credentials.destinations import origin_of
from retinue.kit.context import Context
from retinue.providers.addresses import address_of
from retinue.providers.models import ProviderKey, ProviderName
from retinue.providers.schemas import EmbeddedModelOut, FoundServerOut, ModelProbe


async def probe_models(ctx: Context) -> ModelProbe:
    """Look for servers now; no transaction is open meanwhile."""
    servers = ctx.adapter(LocalServers)
    found = await servers.found(MIN_PROBE_INTERVAL_SECONDS)
    keys = await ctx.db.all(ProviderKey)
    key_ids = {origin_of(canonical_base_url(address_of(key.provider, key.base_url))): key.id for key in keys}
    embedded = ctx.adapter(EmbeddedModels)
    return ModelProbe(
        embedded=[_render_embedded_model(embedded, model) for model in embedded.known()],
        is_searched=servers.may_probe,
        servers=[
            FoundServerOut(
                provider=ProviderName(server.provider),
                base_url=server.base_url,
                models=list(server.models),
                api_key_id=key_ids.get(origin_of(server.base_url)),
            )
            for server in found
        ],
    )


def _render_embedded_model(embedded: EmbeddedModels, model: LocalModel) -> EmbeddedModelOut:
    obstacle = embedded.obstacle(model)
    return EmbeddedModelOut(
        id=f"{ProviderName.local}/{model.name}",
        name=model.title,
        kind=model.kind,
        context_window=model.context_window,
        is_demo=embedded.is_demo(model.name),
        available=obstacle is None,
        reason=obstacle,
    )
