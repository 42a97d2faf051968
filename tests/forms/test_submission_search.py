"""Submissions are found by their words: in the index, before they are in it, and not when they are gone."""

import pytest
import sqlalchemy as sa

from retinue.access.models import Role
from retinue.forms import queries
from retinue.forms.after import daily_counts, search_index
from retinue.forms.after.search_index import index_text, query_words
from retinue.forms.models import SearchIndex, Submission, submission_words
from retinue.kit.db.in_list import in_list
from retinue.kit.db.statements import Statement
from tests.factories.forms import EMAIL, NAME, PATH, make_form, submissions, submit


async def count_now(people) -> None:
    await daily_counts.count_submissions(people.context())


async def words_left(people) -> int:
    async with people.context() as ctx:
        system = ctx.system("test")
        return await system.scalar(Statement(sa.select(sa.func.count()).select_from(submission_words)))


@pytest.fixture
async def indexed_form(person, api, people, monkeypatch):
    """A form with ten submissions in blocks of four, of which the last three are not in the index yet."""
    monkeypatch.setattr(search_index, "BLOCK_BITS", 2)
    form = await make_form(person, NAME, EMAIL)
    ids = []
    for number in range(10):
        if number == 7:
            await count_now(people)
        name = f"Zoë {'even' if number % 2 == 0 else 'odd'} n{number}"
        ids.append(await submit(api, form, {"name": name, "email": f"n{number}@example.com"}))

    async def seen(search: str, **query) -> list[int]:
        answer = await submissions(person, form, search=search, **query)
        return [ids.index(one["id"]) for one in answer["data"]]

    seen.form, seen.ids = form, ids
    return seen


async def test_words_are_found_in_all_blocks_and_in_those_not_indexed_yet(
    indexed_form, people, person
) -> None:
    for _ in range(2):
        for search, query, expected in (
            ("zoe", {}, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]),
            ("ZOË even", {}, [8, 6, 4, 2, 0]),
            ("odd", {"sort": "created_at"}, [1, 3, 5, 7, 9]),
            ("od zo", {"sort": "created_at", "per_page": 2, "page": 2}, [5, 7]),
            ("n5@example", {}, [5]),
            ("even odd", {}, []),
        ):
            assert await indexed_form(search, **query) == expected, search
        for few in (queries._MAX_SCANNED_SUBMISSIONS, 0):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(queries, "_MAX_SCANNED_SUBMISSIONS", few)
                assert await indexed_form("odd", status="received") == [9, 7, 5, 3, 1]
                assert await indexed_form("odd", status="archived") == []
                assert await indexed_form("odd", after="2020-01-01", before="2020-01-02") == []
        await count_now(people)
    page = (await submissions(person, indexed_form.form, search="zoe", per_page=3))["pagination"]
    assert (page["total"], page["total_is_exact"]) == (10, True)


async def test_a_search_is_counted_to_the_end_and_every_page_is_there(indexed_form, people, person) -> None:
    for _ in range(2):
        for sort in ("-created_at", "created_at"):
            seen = []
            for page in range(1, 7):
                shown = await submissions(
                    person, indexed_form.form, search="zoe", per_page=2, page=page, sort=sort
                )
                assert shown["pagination"]["total"] == 10
                assert shown["pagination"]["total_is_exact"] is True
                seen += [indexed_form.ids.index(one["id"]) for one in shown["data"]]
            assert seen == sorted(range(10), reverse=sort.startswith("-"))
        await count_now(people)


async def test_what_is_deleted_is_out_of_the_index(indexed_form, service, people, person) -> None:
    await count_now(people)
    assert await words_left(people) == 10
    assert (
        await person.delete(f"{PATH}/{indexed_form.form['id']}/submissions/{indexed_form.ids[5]}")
    ).status == 204
    assert (await words_left(people), await indexed_form("n5")) == (9, [])
    assert (await person.delete(f"{PATH}/{indexed_form.form['id']}")).status == 204
    await service.runner.drain()
    assert await words_left(people) == 0
    async with people.context() as ctx:
        assert await ctx.system("test").all(SearchIndex) == []


async def test_nobody_finds_what_is_of_another_form_or_tenant(indexed_form, api, people, person) -> None:
    other = await make_form(person, NAME)
    stranger = await people.signed_in(Role.agent_developer, tenant=await people.tenant())
    theirs = await make_form(stranger, NAME)
    await submit(api, theirs, {"name": "Zoe"})
    await count_now(people)
    assert (await submissions(person, other, search="zoe"))["data"] == []
    assert len((await submissions(stranger, theirs, search="zoe"))["data"]) == 1
    assert len(await indexed_form("zoe")) == 10


@pytest.mark.either_database
def test_words_of_a_text() -> None:
    assert index_text("Ünï_code AX-44 ax") == " uni code unicode ax 44 ax44"
    assert query_words("AX-44, ünï%'\"*():&|!\\") == ["ax", "44", "uni"]
    assert query_words("東京都") == ["東京", "京都"]
    assert index_text(" \n_%") == ""
    assert len(index_text(" ".join(f"w{n}" for n in range(5000))).split()) == search_index.MAX_INDEXED_WORDS


@pytest.mark.either_database
def test_a_list_of_ids_is_looked_up_in_an_index() -> None:
    """Compared with 1, as SQLAlchemy would have it, the condition would be no use to one."""
    table = Submission.__table__
    source = sa.select(table.c.id).where(in_list(table.c.id, "ids"), table.c.form_id == "a")
    written = Statement(source).compiled("sqlite", narrow=True).sql
    assert "json_each(?)) AND" in written
