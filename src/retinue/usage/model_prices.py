"""Management of prices: a tenant's own and the instance's, beside the list that ships with a release."""

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.adapters.llm.prices import ListPrices
from retinue.adapters.llm.profiles import PROFILES
from retinue.kit.context import Context
from retinue.kit.db.session import SystemDb
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Forbidden, Invalid
from retinue.kit.ids import new_id
from retinue.kit.lists import Page, Slice
from retinue.usage.errors import ModelPriceNotFound, TooManyModelPrices
from retinue.usage.events import ModelPriceDeleted, ModelPriceSet
from retinue.usage.models import InstanceModelPrice, ModelPrice, PriceSource
from retinue.usage.price_book import AUDIO_PRICE_FIELDS, PRICE_FIELDS, PriceBook, PriceInForce, price_fields
from retinue.usage.schemas import (
    ModelPriceList,
    ModelPriceOut,
    ModelPriceQuery,
    ModelPriceUpdate,
    PriceScope,
)

MAX_PRICES = 2_000
_TOKEN_PRICES = ("input_price_per_mtok", "output_price_per_mtok")
_RECORDS: dict[PriceScope, type[ModelPrice | InstanceModelPrice]] = {
    "tenant": ModelPrice,
    "instance": InstanceModelPrice,
}


def _upsert(record: type[ModelPrice | InstanceModelPrice]) -> Statement[Any]:
    prices = record.__table__
    given = {
        name: sa.bindparam(name, type_=prices.c[name].type)
        for name in record.__struct_fields__
        if name != "tenant_id"
    }
    insert = postgresql.insert(prices).values(given)
    key = ["tenant_id", "model"] if record is ModelPrice else ["model"]
    changed = {name: insert.excluded[name] for name in (*PRICE_FIELDS, "updated_at")}
    return Statement(insert.on_conflict_do_update(index_elements=key, set_=changed))


_SET = {record: _upsert(record) for record in _RECORDS.values()}


async def page(ctx: Context, query: ModelPriceList) -> Page[ModelPriceOut]:
    words = query.search.casefold().split()
    prices = _prices_of(await _read_book(ctx, query.source), ctx, query.source)
    matching = [
        (model, found)
        for model, found in sorted(prices, key=itemgetter(0))
        if all(word in model.casefold() for word in words)
    ]
    return Slice.of_all(matching, query).to_page(lambda entry: render_price(*entry))


async def _read_book(ctx: Context, source: PriceSource | None) -> PriceBook:
    """Return the prices to list: all sources, or only one."""
    own = await ctx.db.all(ModelPrice) if source in {None, PriceSource.tenant} else []
    system = ctx.system("the instance's prices hold for all tenants")
    instance = await system.all(InstanceModelPrice) if source in {None, PriceSource.instance} else []
    return PriceBook(ctx.state(ListPrices), own, instance)


def _prices_of(
    book: PriceBook, ctx: Context, source: PriceSource | None
) -> Iterator[tuple[str, PriceInForce]]:
    yield from book.set_prices.items()
    if source not in {None, PriceSource.list}:
        return
    for provider, listed in ctx.state(ListPrices).file.providers.items():
        for price in listed:
            if (model := f"{provider}/{price.id}") not in book.set_prices:
                yield model, PriceInForce(price, PriceSource.list)


def render_price(model: str, price: PriceInForce) -> ModelPriceOut:
    return ModelPriceOut(
        model=model, source=price.source, updated_at=price.updated_at, **price_fields(price.price)
    )


async def set_price(ctx: Context, body: ModelPriceUpdate) -> ModelPriceOut:
    _require_priceable(body.model)
    prices = _given_prices(body)
    db, record = _open_scope(ctx, body.scope), _RECORDS[body.scope]
    if await db.count(record) >= MAX_PRICES and await db.find(record, model=body.model) is None:
        raise TooManyModelPrices
    now = ctx.now
    await db.execute(
        _SET[record],
        id=new_id(record.__prefix__),
        created_at=now,
        updated_at=now,
        model=body.model,
        **prices,
    )
    ctx.emit(ModelPriceSet(model=body.model, scope=body.scope))
    found = PriceBook(ctx.state(ListPrices), await db.all(record, model=body.model)).set_prices[body.model]
    return render_price(body.model, PriceInForce(found.price, PriceSource(body.scope), found.updated_at))


async def delete_price(ctx: Context, query: ModelPriceQuery) -> None:
    db, record = _open_scope(ctx, query.scope), _RECORDS[query.scope]
    price = await db.find(record, model=query.model)
    if price is None:
        raise ModelPriceNotFound
    await db.delete(price)
    ctx.emit(ModelPriceDeleted(model=query.model, scope=query.scope))


def _given_prices(body: ModelPriceUpdate) -> dict[str, float | None]:
    """Return the prices to store; a model that is paid by characters or minutes may have none for tokens."""
    prices: dict[str, float | None] = {name: getattr(body, name) for name in PRICE_FIELDS}
    missing = [name for name in _TOKEN_PRICES if prices[name] is None]
    if missing and all(prices[name] is None for name in AUDIO_PRICE_FIELDS):
        raise Invalid(dict.fromkeys(missing, "is required"))
    return {**prices, **dict.fromkeys(missing, 0.0)}


def _open_scope(ctx: Context, scope: PriceScope) -> SystemDb:
    if scope == "tenant":
        return ctx.db
    if not ctx.principal.is_super_admin:
        raise Forbidden(
            "super_admin",
            ctx.principal.role,
            message="Only a super administrator sets prices for the whole instance.",
        )
    return ctx.system("prices of the instance")


def _require_priceable(model: str) -> None:
    provider, _, name = model.partition("/")
    if provider == "local":
        raise Invalid({"model": "is an embedded model, which is free"})
    if provider not in PROFILES or not name.strip():
        raise Invalid({"model": "must be provider/model, such as openai_compatible/my-model"})
