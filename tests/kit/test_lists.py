"""Lists: order, search and pages, the same on both databases."""

import pytest

from retinue.kit.lists import Listing, ListQuery
from tests.kit.records import Box

boxes = Listing(Box, searches=("name",), sorts=("created_at", "name", "note"))


async def names(db, **query) -> list[str]:
    return [box.name for box in (await boxes.page(db, ListQuery(**query))).items]


@pytest.fixture
async def filled_db(door):
    unit, db = door()
    for name, note in (("a", None), ("b", "2"), ("c", "1"), ("d_%", None)):
        await db.insert(Box(name=name, note=note))
    yield db
    await unit.rollback()


async def test_what_has_no_value_comes_last_either_way(filled_db) -> None:
    assert (await names(filled_db, sort="note"))[:2] == ["c", "b"]
    assert (await names(filled_db, sort="-note"))[:2] == ["b", "c"]


async def test_the_newest_come_first_unless_asked_otherwise(filled_db) -> None:
    assert await names(filled_db) == ["d_%", "c", "b", "a"]
    assert await names(filled_db, sort="name") == ["a", "b", "c", "d_%"]


@pytest.mark.parametrize("sort", ["", "-", "size", "name;drop", "id", "--name"])
async def test_an_unknown_order_is_refused(filled_db, sort) -> None:
    from retinue.kit.errors import Invalid

    with pytest.raises(Invalid) as raised:
        await names(filled_db, sort=sort)
    assert set(raised.value.details or {}) == {"sort"}


@pytest.mark.parametrize(("search", "found"), [("_%", ["d_%"]), ("%", ["d_%"]), ("A", ["a"]), ("\\\\", [])])
async def test_a_search_takes_every_character_as_itself(filled_db, search, found) -> None:
    assert await names(filled_db, search=search) == found


async def test_pages_are_cut_and_counted(filled_db) -> None:
    page = await boxes.page(filled_db, ListQuery(page=2, per_page=3))
    assert (len(page.items), page.total, page.page, page.per_page) == (1, 4, 2, 3)
    assert page.to_page(lambda box: box.name).pagination.total_pages == 2
    assert (await boxes.page(filled_db, ListQuery(per_page=1000))).per_page == 100
    assert (await boxes.page(filled_db, ListQuery(page=99))).items == []


@pytest.fixture
async def crates(door):
    """Several of one moment: the last row of a page is told from its like by its id."""
    unit, db = door()
    for number in range(7):
        at = f"2026-01-0{1 + number // 3}T00:00:00.000000Z"
        await db.insert(Box(name=f"Crate {number}", note="1" if number % 2 else None, created_at=at))
    await db.insert(Box(name="a Größe", note="1"))
    yield db
    await unit.rollback()


@pytest.mark.parametrize("sort", ["created_at", "-created_at", "name", "-name", "note", "-note"])
async def test_a_search_counts_everything_it_finds_on_every_page(crates, sort) -> None:
    pages = [
        await boxes.page(crates, ListQuery(search="CRATE", sort=sort, page=page, per_page=2))
        for page in (1, 2, 4)
    ]
    assert [page.total for page in pages] == [7, 7, 7]
    assert [len(page.items) for page in pages] == [2, 2, 1]
    found = await boxes.page(crates, ListQuery(search="GRÖSSE", sort=sort, per_page=1))
    assert (found.total, [box.name for box in found.items]) == (1, ["a Größe"])
