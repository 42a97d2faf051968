"""Prices set through the real route."""

from typing import Any

from tests.client import Api

PRICES = "/api/v1/model-prices"


async def set_price(api: Api, model: str, input: float, output: float, **more: Any) -> dict[str, Any]:
    body = {"model": model, "input_price_per_mtok": input, "output_price_per_mtok": output, **more}
    answer = await api.put(PRICES, body)
    assert answer.status == 200, answer
    return answer.json()


async def prices_of(api: Api, **query: Any) -> dict[str, dict[str, Any]]:
    answer = await api.get(PRICES, query=query)
    assert answer.status == 200, answer
    return {one["model"]: one for one in answer.json()["data"]}
