from retinue.kit.context import Context
from retinue.kit.http.routing import Routes
from retinue.kit.lists import Page
from retinue.usage import model_prices
from retinue.usage.errors import ModelPriceNotFound, TooManyModelPrices
from retinue.usage.schemas import ModelPriceList, ModelPriceOut, ModelPriceQuery, ModelPriceUpdate

routes = Routes("/api/v1", tag="usage")


@routes.get("/model-prices", requires="agents:read", cached=True)
async def list_model_prices(ctx: Context, query: ModelPriceList) -> Page[ModelPriceOut]:
    """List what models cost, ordered by model: the prices in force, or all of one source.

    The tenant's own price holds before the instance's, and that before the list price.
    """
    return await model_prices.page(ctx, query)


@routes.put("/model-prices", requires="usage:write", errors=(TooManyModelPrices,))
async def set_model_price(ctx: Context, body: ModelPriceUpdate) -> ModelPriceOut:
    """Set the price of a model for the tenant, or as super administrator for the whole instance.

    It holds from the next call on; what was counted before keeps its cost.
    """
    return await model_prices.set_price(ctx, body)


@routes.delete("/model-prices", requires="usage:write", status=204, errors=(ModelPriceNotFound,))
async def delete_model_price(ctx: Context, query: ModelPriceQuery) -> None:
    """Delete a price that was set; the next one in order holds again."""
    await model_prices.delete_price(ctx, query)
