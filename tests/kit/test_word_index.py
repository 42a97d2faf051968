"""An index of words: the same on both databases, and inside the fence."""

import pytest
import sqlalchemy as sa

from retinue.kit.db.fence import FenceRefused, narrow_to_tenant
from retinue.kit.db.statements import DIALECTS, Statement
from retinue.kit.db.word_index import has_word
from retinue.knowledge.models import chunk_words

pytestmark = pytest.mark.every_case

ADD = Statement(
    sa.insert(chunk_words).values(
        rowid=sa.bindparam("number", type_=sa.BigInteger()),
        words=sa.bindparam("words", type_=chunk_words.c.words.type),
    )
)
FIND = Statement(
    sa.select(chunk_words.c.rowid)
    .where(has_word(chunk_words, sa.bindparam("word", type_=sa.Text())))
    .order_by(chunk_words.c.rowid)
)
REMOVE = Statement(
    sa.delete(chunk_words).where(chunk_words.c.rowid == sa.bindparam("number", type_=sa.BigInteger()))
)


async def numbers(db, word: str) -> list[int]:
    return [row[0] for row in await db.rows(FIND, word=word)]


async def test_rows_are_found_by_their_words(door) -> None:
    unit, db = door("ten_a")
    rows = {1: "pump tank", 2: "tank", 2**63 - 1: "hose"}
    await db.execute_many(ADD, [{"number": number, "words": words} for number, words in rows.items()])
    assert await numbers(db, "tank") == [1, 2]
    assert await numbers(db, "hose") == [2**63 - 1]
    assert await numbers(db, "tan") == []
    await db.execute(REMOVE, number=1)
    assert await numbers(db, "tank") == [2]
    assert await numbers(db, "pump") == []
    await unit.rollback()


async def test_rows_of_another_tenant_are_neither_found_nor_removed(door) -> None:
    unit, mine = door("ten_a")
    await mine.execute(ADD, number=1, words="tank")
    await unit.commit()
    unit, theirs = door("ten_b")
    assert await numbers(theirs, "tank") == []
    await theirs.execute(REMOVE, number=1)
    await unit.commit()
    unit, mine = door("ten_a")
    assert await numbers(mine, "tank") == [1]
    await mine.execute(REMOVE, number=1)
    await unit.commit()


async def test_an_index_is_changed_with_the_transaction(door) -> None:
    unit, db = door("ten_a")
    await db.execute(ADD, number=7, words="tank")
    await unit.rollback()
    unit, db = door("ten_a")
    assert await numbers(db, "tank") == []
    await unit.rollback()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_search_is_narrowed_to_its_tenant(dialect: str) -> None:
    assert "fence_tenant" in narrow_to_tenant(FIND.source).compile(dialect=DIALECTS[dialect]).params


def test_a_search_written_as_text_is_refused() -> None:
    with pytest.raises(FenceRefused):
        narrow_to_tenant(sa.select(chunk_words.c.rowid).where(sa.text("words MATCH 'tank'")))
