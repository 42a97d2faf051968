"""Tests of submissions: listed, searched, changed, exported, counted."""

import csv
import io
import json
import zipfile

import pytest

from retinue.forms.after import daily_counts
from tests.factories.forms import EMAIL, NAME, PATH, address, make_form, submission, submissions, submit
from tests.factories.happenings import events


async def count_now(people) -> None:
    await daily_counts.count_submissions(people.context())


@pytest.fixture
async def answered_form(person, api, clock, people):
    """Somebody who signed in again, a form, and the ids of four submissions, one a day."""
    form = await make_form(person)
    ids = []
    for name in ("Ada Lovelace", "Bob", "Ädam 100%", "email"):
        ids.append(await submit(api, form, {"name": name, "email": f"{len(ids)}@example.com"}))
        clock.advance(86_400)
    return await people.sign_in(person.user), form, ids


async def test_submissions_are_listed_newest_first_by_pages(answered_form) -> None:
    person, form, ids = answered_form
    found = await submissions(person, form, per_page=3)
    assert [one["id"] for one in found["data"]] == ids[:0:-1]
    assert found["pagination"] == {
        "page": 1,
        "per_page": 3,
        "total": 4,
        "total_pages": 2,
        "total_is_exact": True,
    }


async def test_submissions_are_searched_and_filtered_before_and_after_counting(answered_form, people) -> None:
    person, form, ids = answered_form
    second = (await submission(person, form, ids[1]))["created_at"]
    for _ in range(2):
        for query, expected in (
            ({"search": "lovelace"}, [0]),
            # Words are found by their beginnings.
            ({"search": "love"}, [0]),
            ({"search": "lace"}, []),
            ({"search": "ÄDAM"}, [2]),
            ({"search": "adam"}, [2]),
            ({"search": "100%"}, [2]),
            # Every word must be there, wherever it is.
            ({"search": "1@example"}, [2, 1]),
            ({"search": "example.com"}, [3, 2, 1, 0]),
            ({"search": "examplecom", "sort": "created_at"}, [0, 1, 2, 3]),
            ({"search": "bob", "status": "received", "after": "2020-01-01"}, [1]),
            ({"search": "bob", "status": "archived"}, []),
            # There is no word in it.
            ({"search": "%'\"*():&"}, []),
            # The names of fields are not searched.
            ({"search": "email"}, [3]),
            ({"search": "nothing"}, []),
            ({"sort": "created_at"}, [0, 1, 2, 3]),
            ({"after": second}, [3, 2, 1]),
            ({"before": second}, [0]),
            ({"after": second[:10], "before": "2027-01-17"}, [1]),
            ({"status": "archived"}, []),
        ):
            answer = await submissions(person, form, **query)
            found = [ids.index(one["id"]) for one in answer["data"]]
            assert (found, answer["pagination"]["total"]) == (expected, len(expected)), query
        await count_now(people)


async def test_bad_filters_and_unknown_submissions_are_refused(answered_form) -> None:
    person, form, ids = answered_form
    for query in ({"after": "soon"}, {"status": "new"}, {"page": "0"}, {"sort": "name"}):
        assert (await person.get(f"{PATH}/{form['id']}/submissions", query=query)).status == 422
    assert (await person.get(f"{PATH}/{form['id']}/submissions/sbm_x")).code == "submission_not_found"
    other = await make_form(person)
    assert (await person.get(f"{PATH}/{other['id']}/submissions/{ids[0]}")).status == 404


async def count_by_status(person, form) -> list[int]:
    """Return how many submissions are received, processed, archived, and there at all."""
    return [
        (await submissions(person, form, **query))["pagination"]["total"]
        for query in ({"status": "received"}, {"status": "processed"}, {"status": "archived"}, {})
    ]


async def test_a_submission_is_counted_in_the_state_it_is_given(person, api, people) -> None:
    form = await make_form(person)
    first, _ = [await submit(api, form) for _ in range(2)]
    here = f"{PATH}/{form['id']}/submissions"
    assert await count_by_status(person, form) == [2, 0, 0, 2]
    changed = (await person.patch(f"{here}/{first}", {"status": "processed", "notes": "Called."})).json()[
        "data"
    ]
    assert (changed["status"], changed["notes"], bool(changed["processed_at"])) == (
        "processed",
        "Called.",
        True,
    )
    assert await count_by_status(person, form) == [1, 1, 0, 2]
    await count_now(people)
    assert await count_by_status(person, form) == [1, 1, 0, 2]
    for status, expected in (
        ("archived", [1, 0, 1, 2]),
        ("received", [2, 0, 0, 2]),
        ("archived", [1, 0, 1, 2]),
    ):
        assert (await person.patch(f"{here}/{first}", {"status": status})).status == 200
        assert await count_by_status(person, form) == expected
    assert (await person.patch(f"{here}/{first}", {"status": "new"})).status == 422
    told = await events(people, "form.submission.updated")
    assert [(one.data["previous_status"], one.data["status"]) for one in told] == [
        ("received", "processed"),
        ("processed", "archived"),
        ("archived", "received"),
        ("received", "archived"),
    ]


async def test_a_deleted_submission_is_neither_found_nor_counted(person, api, people) -> None:
    form = await make_form(person)
    first, second = [await submit(api, form) for _ in range(2)]
    here = f"{PATH}/{form['id']}/submissions"
    await count_now(people)
    await person.patch(f"{here}/{first}", {"status": "archived"})
    for id, expected in ((first, [1, 0, 0, 1]), (second, [0, 0, 0, 0])):
        assert (await person.delete(f"{here}/{id}")).status == 204
        assert await count_by_status(person, form) == expected
        assert (await person.get(f"{here}/{id}")).status == 404
    analytics = (await person.get(f"{PATH}/{form['id']}/analytics")).json()["data"]
    assert (analytics["total_submissions"], analytics["top_sources"]) == (0, [])


async def test_an_export_holds_every_answer_and_no_formula(person, api) -> None:
    form = await make_form(person, NAME, EMAIL, {"id": "tags", "type": "multi_select", "options": ["a", "b"]})
    for name in ("=CMD|'/C calc'!A0", "+1", "@SUM(A1)", "\tx", 'a "b", c\nd', "Ada"):
        await submit(api, form, {"name": name, "tags": ["a", "b"]})
    here = f"{PATH}/{form['id']}/submissions/export"
    answer = await person.get(here)
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"].startswith("attachment")
    rows = list(csv.DictReader(io.StringIO(answer.body.decode())))
    assert [row["name"] for row in rows] == [
        "'=CMD|'/C calc'!A0",
        "'+1",
        "'@SUM(A1)",
        "'\tx",
        'a "b", c\nd',
        "Ada",
    ]
    assert rows[0]["tags"] == '["a","b"]'
    assert (rows[0]["status"], rows[0]["source"], rows[0]["email"]) == ("received", "public", "")
    told = json.loads((await person.get(here, query={"format": "json", "search": "ada"})).body)
    assert [(one["name"], one["tags"]) for one in told] == [("Ada", ["a", "b"])]
    sheet = await person.get(here, query={"format": "xlsx"})
    assert sheet.body.startswith(b"PK")
    assert (await person.get(here, query={"format": "pdf"})).status == 422


async def test_an_export_keeps_the_answers_of_fields_that_were_removed(person, api) -> None:
    """After those of the form as it is now, in every format; a field may be called like our own columns."""
    old = {"id": "nickname", "type": "text"}
    status = {"id": "status", "type": "text"}
    form = await make_form(person, NAME, old, status)
    await submit(api, form, {"name": "Ada", "nickname": "Countess", "status": "married"})
    here = f"{PATH}/{form['id']}"
    assert (await person.put(here, {"fields": [NAME, EMAIL]})).status == 200
    await submit(api, form, {"name": "Bob", "email": "bob@example.com"})
    answer = await person.get(f"{here}/submissions/export")
    reader = csv.DictReader(io.StringIO(answer.body.decode()))
    rows = list(reader)
    assert list(reader.fieldnames or [])[-4:] == ["name", "email", "nickname", "data.status"]
    assert [(row["name"], row["nickname"], row["data.status"], row["status"]) for row in rows] == [
        ("Ada", "Countess", "married", "received"),
        ("Bob", "", "", "received"),
    ]
    told = json.loads((await person.get(f"{here}/submissions/export", query={"format": "json"})).body)
    assert [(one["nickname"], one["data.status"]) for one in told] == [("Countess", "married"), (None, None)]
    sheet = await person.get(f"{here}/submissions/export", query={"format": "xlsx"})
    with zipfile.ZipFile(io.BytesIO(sheet.body)) as archive:
        written = b"".join(archive.read(name) for name in archive.namelist())
    assert b"nickname" in written
    assert b"Countess" in written


async def test_analytics_add_up_before_and_after_counting(person, api, clock, people) -> None:
    form = await make_form(person, NAME, EMAIL, {"id": "s", "type": "section"})
    for _ in range(5):
        await api.get(address(form))
    await api.get(address(form), query={"preview": "1"})
    await submit(api, form, {"name": "A", "email": "a@b.de"})
    await submit(api, form, {"name": "B"}, metadata={"source": "newsletter"})
    for n in range(4):
        await api.put(
            address(form, "progress", f"session-number-{n}"), {"data": {}, "last_field_id": "email"}
        )
    clock.advance(86_400)
    person = await people.sign_in(person.user)
    await submit(api, form, {"name": "C"})
    where = f"{PATH}/{form['id']}/analytics"
    expected = {
        "total_submissions": 3,
        "total_views": 5,
        "total_starts": 4,
        "conversion_rate": 60.0,
        "avg_completion_time_seconds": None,
        "submissions_by_day": [{"date": "2027-01-15", "count": 2}, {"date": "2027-01-16", "count": 1}],
        "top_sources": [{"source": "public", "count": 2}, {"source": "newsletter", "count": 1}],
        "field_completion_rates": {"name": 100.0, "email": 33.3},
        "drop_off_fields": [{"field_id": "email", "drop_off_rate": 100.0}],
    }
    assert (await person.get(where)).json()["data"] == expected
    await count_now(people)
    await count_now(people)
    assert (await person.get(where)).json()["data"] == expected
    clock.advance(8 * 86_400)
    person = await people.sign_in(person.user)
    await daily_counts.purge_progress(people.context())
    assert (await person.get(where)).json()["data"] == expected
    last = (await person.get(where, query={"from": "2027-01-16", "to": "2027-01-16"})).json()["data"]
    assert (last["total_submissions"], last["total_views"]) == (1, 0)
    assert (await person.get(where, query={"period": "7d"})).json()["data"]["total_submissions"] == 0
    assert (await person.get(where, query={"period": "1y"})).status == 422
    stats = (await person.get(f"{PATH}/{form['id']}")).json()["data"]["stats"]
    assert stats == {"submissions": 3, "views": 5, "conversion_rate": 60.0}
