"""Lists: order, search and pages, the same on both databases."""

import pytest

from retinue.kit.lists import Listing, ListQuery
from tests.kit.records import Box

boxes = Listing(Box, searches=("name",), sorts=("created_at", "name", "note"))


async def names(db, **query) -> list[str]:
    return [box.name for box in (await boxes.page(db, ListQuery(**query))).items]


@pytest.fixture
async def filled(door):
    unit, db = door()
    for name, note in (("a", None), ("b", "2"), ("c", "1"), ("d_%", None)):
        await db.insert(Box(name=name, note=note))
    yield db
    await unit.rollback()


async def test_what_has_no_value_comes_last_either_way(filled) -> None:
    assert (await names(filled, sort="note"))[:2] == ["c", "b"]
    assert (await names(filled, sort="-note"))[:2] == ["b", "c"]


async def test_the_newest_come_first_unless_asked_otherwise(filled) -> None:
    assert await names(filled) == ["d_%", "c", "b", "a"]
    assert await names(filled, sort="name") == ["a", "b", "c", "d_%"]


@pytest.mark.parametrize("sort", ["", "-", "size", "name;drop", "id", "--name"])
async def test_an_unknown_order_is_refused(filled, sort) -> None:
    from retinue.kit.errors import Invalid

    with pytest.raises(Invalid) as raised:
        await names(filled, sort=sort)
    assert set(raised.value.details or {}) == {"sort"}


@pytest.mark.parametrize(("search", "found"), [("_%", ["d_%"]), ("%", ["d_%"]), ("A", ["a"]), ("\\\\", [])])
async def test_a_search_takes_every_character_as_itself(filled, search, found) -> None:
    assert await names(filled, search=search) == found


async def test_pages_are_cut_and_counted(filled) -> None:
    page = await boxes.page(filled, ListQuery(page=2, per_page=3))
    assert (len(page.items), page.total, page.page, page.per_page) == (1, 4, 2, 3)
    assert page.shown(lambda box: box.name).pagination.total_pages == 2
    assert (await boxes.page(filled, ListQuery(per_page=1000))).per_page == 100
    assert (await boxes.page(filled, ListQuery(page=99))).items == []
