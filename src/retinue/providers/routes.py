from typing import Annotated

from retinue.kit.context import Context
from retinue.kit.errors import Conflict, VaultSealed
from retinue.kit.http.routing import Routes, path_loader
from retinue.kit.lists import Page
from retinue.providers import catalogue, key_check
from retinue.providers import service as keys
from retinue.providers.errors import ApiKeyInUse, ApiKeyNotFound
from retinue.providers.model_probe import probe_models
from retinue.providers.models import ProviderKey
from retinue.providers.queries import page_of_keys
from retinue.providers.schemas import (
    ApiKeyCreate,
    ApiKeyDelete,
    ApiKeyList,
    ApiKeyOut,
    ApiKeyTest,
    ApiKeyUpdate,
    ModelList,
    ModelProbe,
)

routes = Routes("/api/v1/api-keys", tag="models")
models = Routes("/api/v1/models", tag="models")

KeyById = Annotated[ProviderKey, path_loader(ProviderKey, "key_id", ApiKeyNotFound)]


@routes.get("", requires="api_keys:read")
async def list_api_keys(ctx: Context, query: ApiKeyList) -> Page[ApiKeyOut]:
    """List the keys with which the platform calls model providers, newest first by default."""
    return (await page_of_keys(ctx, query)).to_page(ApiKeyOut.of)


@routes.post("", requires="api_keys:write", status=201, errors=(Conflict, VaultSealed))
async def create_api_key(ctx: Context, body: ApiKeyCreate) -> ApiKeyOut:
    """Store a key for a model provider. It is not tested; use the test endpoint.

    These keys only let the platform call models, they never authenticate requests to this API. With the
    first active key, the embedded model no longer answers for models that no key serves.
    """
    return ApiKeyOut.of(await keys.create(ctx, body))


@routes.get("/{key_id}", requires="api_keys:read")
async def get_api_key(ctx: Context, key: KeyById) -> ApiKeyOut:  # noqa: ARG001  every handler takes it
    """Return one provider key without its secret."""
    return ApiKeyOut.of(key)


@routes.put("/{key_id}", requires="api_keys:write", errors=(VaultSealed,))
async def update_api_key(ctx: Context, key: KeyById, body: ApiKeyUpdate) -> ApiKeyOut:
    """Change the given fields; omitted ones stay.

    A new secret or address resets `is_valid`, `last_tested_at` and the models found by the last test.
    """
    return ApiKeyOut.of(await keys.update(ctx, key, body))


@routes.delete("/{key_id}", requires="api_keys:write", status=204, errors=(ApiKeyInUse,))
async def delete_api_key(ctx: Context, key: KeyById, query: ApiKeyDelete) -> None:
    """Delete the key. If it is the last one for the model of a published agent: 409 `api_key_in_use`.

    With `force` it is deleted anyway; these agents keep the name of their model.
    """
    await keys.delete(ctx, key, force=query.force)


@routes.post("/{key_id}/test", requires="api_keys:write", calls_out=True, errors=(VaultSealed,))
async def test_api_key(ctx: Context, key: KeyById) -> ApiKeyTest:
    """Ask the provider which models the key can use, and store the result in the key.

    A refused key is a normal response with `success: false`.
    """
    return await key_check.check_key(ctx, key)


@models.get("", requires="agents:read")
async def list_models(ctx: Context) -> ModelList:
    """List all models: well-known ones, those that the tenant's keys offer, and the embedded ones.

    Callers with `api_keys:write` also see models of servers found on a developer's machine (`found_server`).
    """
    return ModelList(data=await catalogue.all_models(ctx))


@models.get("/probe", requires="api_keys:write")
async def probe_local_models(ctx: Context) -> ModelProbe:
    """Return the embedded models, and look for model servers on this machine now.

    Looks at the usual ports of Ollama, LM Studio, vLLM and llama.cpp, in parallel and for at most 300 ms, and
    only on a development instance whose egress rules allow it.
    """
    return await probe_models(ctx)
