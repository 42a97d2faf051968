from typing import Annotated

from retinue.kit.context import Context
from retinue.kit.errors import Conflict, VaultSealed
from retinue.kit.http.routing import Routes, loaded
from retinue.kit.lists import Page
from retinue.providers import catalogue, checking
from retinue.providers import service as keys
from retinue.providers.errors import ApiKeyInUse, ApiKeyNotFound
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
)

routes = Routes("/api/v1/api-keys", tag="models")
models = Routes("/api/v1/models", tag="models")

KeyById = Annotated[ProviderKey, loaded(ProviderKey, "key_id", ApiKeyNotFound)]


@routes.get("", requires="api_keys:read")
async def list_api_keys(ctx: Context, query: ApiKeyList) -> Page[ApiKeyOut]:
    return (await page_of_keys(ctx, query)).shown(ApiKeyOut.of)


@routes.post("", requires="api_keys:write", status=201, errors=(Conflict, VaultSealed))
async def create_api_key(ctx: Context, body: ApiKeyCreate) -> ApiKeyOut:
    return ApiKeyOut.of(await keys.create(ctx, body))


@routes.get("/{key_id}", requires="api_keys:read")
async def get_api_key(ctx: Context, key: KeyById) -> ApiKeyOut:  # noqa: ARG001  every handler takes it
    return ApiKeyOut.of(key)


@routes.put("/{key_id}", requires="api_keys:write", errors=(VaultSealed,))
async def update_api_key(ctx: Context, key: KeyById, body: ApiKeyUpdate) -> ApiKeyOut:
    return ApiKeyOut.of(await keys.update(ctx, key, body))


@routes.delete("/{key_id}", requires="api_keys:write", status=204, errors=(ApiKeyInUse,))
async def delete_api_key(ctx: Context, key: KeyById, query: ApiKeyDelete) -> None:
    await keys.delete(ctx, key, force=query.force)


@routes.post("/{key_id}/test", requires="api_keys:write", calls_out=True, errors=(VaultSealed,))
async def test_api_key(ctx: Context, key: KeyById) -> ApiKeyTest:
    return await checking.test(ctx, key)


@models.get("", requires="agents:read")
async def list_models(ctx: Context) -> ModelList:
    return ModelList(data=await catalogue.models(ctx))
