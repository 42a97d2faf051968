"""Prices of models: the tenant's own, the instance's, and the list."""

from typing import Any

import pytest

from retinue.access.models import Role
from tests.client import Api
from tests.factories.people import People
from tests.usage.prices import PRICES, prices_of, set_price

MODEL = "openai/gpt-4o"


@pytest.fixture
async def owner(people: People) -> Api:
    return await people.signed_in(Role.tenant_admin, await people.tenant("Own"))


async def listed_price(api: Api, **query: Any) -> dict[str, Any]:
    return (await prices_of(api, search="gpt-4o", per_page=100, **query))[MODEL]


async def test_the_price_of_a_model_comes_from_the_list_at_first(owner: Api) -> None:
    assert await listed_price(owner) == {
        "model": MODEL,
        "input_price_per_mtok": 2.5,
        "cached_input_price_per_mtok": 1.25,
        "cache_write_price_per_mtok": None,
        "output_price_per_mtok": 10.0,
        "speech_price_per_mchar": None,
        "transcription_price_per_minute": None,
        "source": "list",
        "updated_at": None,
    }


async def test_a_price_of_the_tenant_comes_before_that_of_the_instance_and_the_list(
    admin: Api, owner: Api, people: People
) -> None:
    """`admin` is the super administrator."""
    listed = await listed_price(owner)
    everywhere = await set_price(admin, MODEL, 2, 8, scope="instance")
    assert (everywhere["source"], everywhere["input_price_per_mtok"]) == ("instance", 2.0)
    assert (await prices_of(owner, search=MODEL))[MODEL] == everywhere
    own = await set_price(owner, MODEL, 0.1, 0.3, cached_input_price_per_mtok=0.01)
    assert (own["source"], own["cached_input_price_per_mtok"]) == ("tenant", 0.01)
    assert (await prices_of(owner, search=MODEL))[MODEL] == own
    assert (await prices_of(owner, source="instance"))[MODEL] == everywhere
    assert await listed_price(owner, source="list") == listed
    assert list(await prices_of(owner, source="tenant")) == [MODEL]
    stranger = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    assert (await prices_of(stranger, search=MODEL))[MODEL] == everywhere


async def test_the_list_of_models_shows_the_price_in_effect(owner: Api) -> None:
    await set_price(owner, MODEL, 0.1, 0.3, cached_input_price_per_mtok=0.01)
    models = (await owner.get("/api/v1/models")).json()["data"]
    shown = next(one for one in models if one["id"] == MODEL)
    assert (shown["source"], shown["input_price_per_mtok"], shown["cached_input_price_per_mtok"]) == (
        "tenant",
        0.1,
        0.01,
    )


async def test_a_deleted_price_is_replaced_by_the_next_in_order(admin: Api, owner: Api) -> None:
    listed = await listed_price(owner)
    everywhere = await set_price(admin, MODEL, 2, 8, scope="instance")
    await set_price(owner, MODEL, 0.1, 0.3)
    for scope, person, next_price in (("tenant", owner, everywhere), ("instance", admin, listed)):
        assert (await person.delete(PRICES, query={"model": MODEL, "scope": scope})).status == 204
        answer = await person.delete(PRICES, query={"model": MODEL, "scope": scope})
        assert (answer.status, answer.code) == (404, "model_price_not_found")
        assert await listed_price(owner) == next_price


async def test_who_may_set_prices(admin: Api, people: People) -> None:
    tenant = await people.default_tenant()
    owner = await people.signed_in(Role.tenant_admin, tenant)
    developer = await people.signed_in(Role.agent_developer, tenant)
    body = {"model": "openai_compatible/m", "input_price_per_mtok": 1, "output_price_per_mtok": 1}
    assert (await developer.get(PRICES)).status == 200
    assert (await developer.put(PRICES, body)).status == 403
    assert (await owner.put(PRICES, body)).status == 200
    for call in (
        owner.put(PRICES, {**body, "scope": "instance"}),
        owner.delete(PRICES, query={"model": body["model"], "scope": "instance"}),
    ):
        refused = await call
        assert (refused.status, refused.code) == (403, "forbidden")
        assert refused.details["required"] == "super_admin"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"model": "gpt-4o"}, "model"),
        ({"model": "moon/gpt-4o"}, "model"),
        ({"model": "openai/"}, "model"),
        ({"model": "local/smollm2-135m"}, "model"),
        ({"model": ""}, "model"),
        ({"input_price_per_mtok": -0.1}, "input_price_per_mtok"),
        ({"output_price_per_mtok": 100_001}, "output_price_per_mtok"),
        ({"output_price_per_mtok": "1"}, "output_price_per_mtok"),
        ({"cached_input_price_per_mtok": -1}, "cached_input_price_per_mtok"),
        ({"scope": "moon"}, "scope"),
    ],
)
async def test_bad_prices_are_refused(admin: Api, change: dict[str, Any], field: str) -> None:
    body = {"model": "openai/gpt-4o", "input_price_per_mtok": 1, "output_price_per_mtok": 1, **change}
    answer = await admin.put(PRICES, body)
    assert (answer.status, list(answer.details)) == (422, [field])


async def test_the_list_is_paged_and_searched(admin: Api) -> None:
    first = (await admin.get(PRICES, query={"per_page": 5})).json()
    second = (await admin.get(PRICES, query={"per_page": 5, "page": 2})).json()
    assert first["pagination"]["total"] > 1000
    models = [one["model"] for one in first["data"] + second["data"]]
    assert models == sorted(set(models))
    assert len(models) == 10
    found = await prices_of(admin, search="SONNET anthropic", per_page=100)
    assert found
    assert all("sonnet" in model and "anthropic" in model for model in found)
    assert (await admin.get(PRICES, query={"page": 9999})).json()["data"] == []
