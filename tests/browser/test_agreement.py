"""The page takes what the API takes: there is one judge of what is sent.

That it shows the same fields, tests/forms/test_conditions.py says.
"""

import pytest

from tests.browser.forms import NAME, problems, send, wait_for_thanks

TYPED = {
    "number": ({"min": -5, "max": 1e30, "step": 0.1},
               (" 2 ", "0.3", "1,5", "12345678901234567890", "-6", "1", "+3", "-0.1", "1e3", "0x1", "1_0",
                "--", "1.")),
    "text": ({"min_length": 2, "max_length": 4},
             ("a", "😀😀😀😀", "😀😀😀😀😀", "    ", " a ", "ab", "abcde", "😀😀")),
    "phone": ({"pattern": "[A-Z]{2}\\d+"}, ("AB1", "AB", "xAB1", "AB1 ", "\uff21B1", "0" * 101)),
    "email": ({}, ("a@b.de", " a@b.de ", "a@b", "a b@c.de", "ä@ö.de", "a@b..de")),
    "url": ({}, ("https://a.de", "http://a", "a.de", "javascript:alert(1)", "https://a b", "//a.de")),
    "textarea": ({"max_length": 5}, ("a\nb", "a\nb\nc\nd", "<b>")),
}  # fmt: skip


@pytest.mark.parametrize(
    "turns", [range(5), pytest.param(range(5, 13), marks=pytest.mark.slow)], ids=["few", "rest"]
)
async def test_what_is_typed_is_judged_as_the_api_judges_it(site, page, turns):
    fields = [{"id": one, "type": one, "label": one, "validation": TYPED[one][0]} for one in TYPED]
    form = await site.make_form(*fields)
    await page.goto(site.page_of(form, "?preview=1"))
    for turn in turns:
        typed = {one: texts[turn % len(texts)] for one, (_, texts) in TYPED.items()}
        for one, text in typed.items():
            await page.get_by_label(one, exact=True).fill(text)
        await send(page)
        status, answer = await site.submit(form, typed)
        wrong = {} if status == 201 else reasons(answer)
        if wrong:
            await page.get_by_text("Please look at this again").wait_for()
            assert await problems(page) == {one: f"This {message}." for one, message in wrong.items()}
            for one in wrong:
                await page.get_by_label(one, exact=True).fill("")
            await send(page)
            await site.submit(form, {one: text for one, text in typed.items() if one not in wrong})
        await wait_for_thanks(page)
        through_api, through_page = [kept["data"] for kept in (await site.submissions(form))[:2]]
        assert through_page == through_api
        await page.goto(site.page_of(form, "?preview=1"))


def reasons(answer):
    return {one["field"]: one["message"] for one in answer["error"]["details"]["errors"]}


DATES = (
    ({"id": "x", "type": "date", "validation": {"min_date": "2026-02-01", "max_date": "2026-03-01"}},
     ("2026-01-31", "2026-02-01", "2026-03-01", "2026-03-02")),
    ({"id": "x", "type": "datetime",
      "validation": {"min_date": "2026-02-01", "max_date": "2026-03-01T12:00:00Z"}},
     ("2026-02-01T00:30", "2026-02-01T01:30", "2026-03-01T13:00", "2026-03-01T13:01", "2026-07-01T00:00")),
)  # fmt: skip


async def test_a_moment_is_meant_where_the_visitor_is(site, page):
    for field, texts in DATES:
        form = await site.make_form({**field, "label": "When"})
        for text in texts:
            meant = text
            if "T" in text:
                meant += "+02:00" if text.startswith("2026-07") else "+01:00"
            await page.goto(site.page_of(form, "?preview=1"))
            await page.get_by_label("When").fill(text)
            await send(page)
            status, answer = await site.submit(form, {"x": meant})
            if status == 201:
                await wait_for_thanks(page)
                assert [kept["data"]["x"] for kept in (await site.submissions(form))[:2]] == [meant, meant]
            else:
                (wrong,) = answer["error"]["details"]["errors"]
                await page.get_by_text(f"This {wrong['message']}.", exact=True).wait_for()


async def test_a_date_that_is_not_finished_is_not_taken_for_none(site, page):
    form = await site.make_form(NAME, {"id": "day", "type": "date", "label": "Day"})
    await page.goto(site.page_of(form))
    await page.get_by_label("Name").fill("Ada")
    await page.get_by_label("Day").press("1")
    await send(page)
    await page.get_by_text("This must be a date such as 2026-11-15.", exact=True).wait_for()
