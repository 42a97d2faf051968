"""A form's own page, as people use it."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from tests.browser.forms import EVERY_TYPE, NAME, lose_the_answer, problems, send, violations, wait_for_thanks


@pytest.mark.journey
async def test_every_type_of_field_is_filled_in_and_kept_as_it_was_meant(site, page):
    form = await site.make_form(*EVERY_TYPE, settings={"success_message": "We will call you."})
    await page.goto(site.page_of(form, "?ref=letter&utm_source=spring"))
    await page.get_by_label("Full name").fill("Ada")
    await page.get_by_label("E-mail").fill(" ada@example.com ")
    await page.get_by_label("Phone").fill("+44 20 1234")
    await page.get_by_label("Web site").fill("https://ada.example")
    await page.get_by_label("Size").select_option("M")
    await page.get_by_label("Olives").check()
    await page.get_by_label("Capers").check()
    await page.get_by_label("Search Languages").fill("e 17")
    await page.get_by_label("Language 17").check()
    await page.get_by_label("Search Languages").fill("e 4")
    await page.get_by_label("Language 4").check()
    assert not await page.get_by_label("VAT number").is_visible()
    await page.get_by_label("Invoice").check()
    await page.get_by_label("VAT number").fill("GB1")
    await page.get_by_label("How many").fill("12")
    await page.get_by_label("Day").fill("2026-12-24")
    await page.get_by_label("Moment").fill("2026-12-24T18:30")
    await page.get_by_label("4 of 5").check(force=True)
    await page.get_by_label("Volume").fill("7")
    await page.get_by_label("Anything else").fill("one\ntwo")
    paper = {"name": "Brief & <b>.txt", "mimeType": "text/plain", "buffer": b"Dear all"}
    await page.get_by_label("Paper").set_input_files(paper)
    await page.get_by_text("8 bytes").wait_for()
    await draw_on(page)
    await page.get_by_label("I agree").check()
    await send(page)
    await wait_for_thanks(page, "We will call you.")
    (kept,) = await site.submissions(form)
    answers, (file,) = kept["data"], kept["files"]
    assert re.fullmatch("data:image/png;base64,.{400,}", answers.pop("sign"))
    assert answers.pop("paper") == file["file_id"]
    assert (file["filename"], file["size_bytes"]) == ("Brief & <b>.txt", 8)
    assert answers == {
        "name": "Ada",
        "email": "ada@example.com",
        "phone": "+44 20 1234",
        "site": "https://ada.example",
        "size": "M",
        "toppings": [1, 2.0],
        "languages": ["Language 17", "Language 4"],
        "pay": "bill",
        "vat": "GB1",
        "count": 12,
        "day": "2026-12-24",
        "moment": "2026-12-24T18:30+01:00",
        "stars": 4,
        "loud": 7,
        "notes": "one\ntwo",
        "ref": "letter",
        "ok": True,
    }
    metadata = kept["metadata"]
    assert (metadata["source"], metadata["page_url"]) == ("spring", site.page_of(form))


async def draw_on(page):
    canvas = page.locator("canvas")
    await canvas.scroll_into_view_if_needed()
    box = await canvas.bounding_box()
    await page.mouse.move(box["x"] + 20, box["y"] + 20)
    await page.mouse.down()
    await page.mouse.move(box["x"] + 120, box["y"] + 60, steps=5)
    await page.mouse.up()


async def test_what_the_server_refuses_is_shown_at_its_field_and_can_be_put_right(site, page):
    form = await site.make_form(*EVERY_TYPE)
    await page.goto(site.page_of(form))
    await page.get_by_label("E-mail").fill("nobody")
    await page.get_by_label("How many").fill("many")
    await page.get_by_label("Invoice").check()
    await send(page)
    await page.get_by_text("Please look at this again").wait_for()
    assert await problems(page) == {
        "Full name": "This is required.",
        "E-mail": "This must be an e-mail address.",
        "VAT number": "This is required.",
        "How many": "This must be a number.",
        "I agree": "This is required.",
    }
    name = page.get_by_label("Full name")
    assert await name.evaluate("(input) => input.getRootNode().activeElement === input")
    assert await name.get_attribute("aria-invalid") == "true"
    described = (await name.get_attribute("aria-describedby")).split()
    texts = [await page.locator(f"#{id}").inner_text() for id in described]
    assert texts == ["As on your card.", "This is required."]
    assert await page.locator(".summary[role=alert] a").count() == 5
    assert await violations(page) == []
    await page.get_by_role("link", name="How many must be a number").click()
    count = page.get_by_label("How many")
    assert await count.evaluate("(input) => input.getRootNode().activeElement === input")
    await count.fill("3")
    assert "How many" not in await problems(page)
    await page.get_by_label("Card").check()
    await name.fill("Ada")
    await page.get_by_label("E-mail").fill("ada@example.com")
    await page.get_by_label("I agree").check()
    await send(page)
    await wait_for_thanks(page)
    (kept,) = await site.submissions(form)
    assert kept["data"] == {
        "name": "Ada", "email": "ada@example.com", "pay": "card", "count": 3, "ref": "none", "ok": True,
    }  # fmt: skip


async def test_answers_are_saved_when_asked_to_and_found_again_by_the_link(site, page):
    form = await site.make_form(*EVERY_TYPE)
    await page.goto(site.page_of(form))
    async with page.expect_request(lambda request: "/progress/" in request.url) as told:
        await page.get_by_label("Full name").press_sequentially("Ada")
    # That someone began is told, and nothing of what they wrote.
    assert (await told.value).post_data_json == {"data": {}, "last_field_id": "name"}
    await page.get_by_label("Olives").check()
    await page.get_by_label("Day").fill("2026-12-24")
    await page.get_by_label("Moment").fill("2026-12-24T18:30")
    await page.get_by_label("Volume").fill("7")
    await draw_on(page)
    await page.get_by_role("button", name="Save and continue later").click()
    link = await page.get_by_label("Link to come back").input_value()
    assert link.startswith(site.page_of(form, "?session="))
    await page.goto("about:blank")
    await page.goto(link)
    await expect(page.get_by_label("Full name")).to_have_value("Ada")
    assert await page.get_by_label("Olives").is_checked()
    assert await page.get_by_label("Moment").input_value() == "2026-12-24T18:30"
    assert await page.get_by_label("Volume").input_value() == "7"
    await page.get_by_label("Drawn signature: signed").wait_for()
    await page.get_by_label("E-mail").fill("ada@example.com")
    await page.get_by_label("I agree").check()
    await send(page)
    await wait_for_thanks(page)
    (kept,) = await site.submissions(form)
    assert kept["data"].keys() >= {"name", "toppings", "day", "moment", "loud", "sign"}
    seen = await site.analytics(form)
    assert (seen["total_views"], seen["total_starts"], seen["total_submissions"]) == (2, 1, 1)
    assert seen["avg_completion_time_seconds"] is not None
    await page.goto(link)
    await page.get_by_text("Nothing is saved under this link any more.").wait_for()


async def test_where_someone_left_is_known_and_not_what_they_wrote(site, page):
    form = await site.make_form(NAME, {"id": "email", "type": "email", "label": "E-mail"})
    await page.goto(site.page_of(form))
    # Stored, and not only sent: it is asked for below.
    async with page.expect_response(lambda response: "/progress/" in response.url) as begun:
        await page.get_by_label("Name").fill("Ada")
    await page.get_by_label("E-mail").fill("ada@example.com")
    saved = (await begun.value).url.removeprefix(site.url)
    await page.goto("about:blank")
    # The last word of a page that is gone is heard by the server alone.
    async with asyncio.timeout(10):
        while (left := (await site.call("GET", saved))["data"])["last_field_id"] != "email":
            pass
    assert left["data"] == {}


async def test_a_look_is_counted_once_and_a_preview_never(site, page):
    form = await site.make_form(NAME)
    for query in ("", "?embed=1"):
        await page.goto(site.page_of(form, query))
        async with page.expect_response(lambda answer: "/progress/" in answer.url):
            await page.get_by_label("Name").fill("A")
    await page.goto(site.page_of(form, "?preview=1"))
    await page.get_by_label("Name").fill("A")
    await page.reload()
    seen = await site.analytics(form)
    assert (seen["total_views"], seen["total_starts"]) == (2, 2)


async def test_the_traps_for_programs_do_not_bother_people(site, page):
    form = await site.make_form(NAME, settings={"spam": {"honeypot": True, "proof_of_work": 12}})
    await page.goto(site.page_of(form))
    await page.get_by_label("Name").fill("Ada")
    await page.keyboard.press("Tab")
    # The trap comes between the two, and nobody gets into it.
    focused = "document.querySelector('retinue-form').shadowRoot.activeElement.textContent"
    assert await page.evaluate(focused) == "Send"
    await page.keyboard.press("Enter")
    await wait_for_thanks(page)
    assert [kept["data"] for kept in await site.submissions(form)] == [{"name": "Ada"}]
    await page.goto(site.page_of(form))
    await page.get_by_label("Name").fill("Bot")
    trap = page.locator("input[name=website]")
    clipped = await page.locator("[aria-hidden]", has=trap).bounding_box()
    assert (clipped["width"], clipped["height"]) == (1, 1)
    await trap.evaluate("(input) => { input.value = 'https://spam.example'; }")
    await send(page)
    await wait_for_thanks(page)
    assert len(await site.submissions(form)) == 1


async def test_who_is_too_fast_is_told_so_and_may_send_again(site, page):
    form = await site.make_form(NAME, settings={"spam": {"min_seconds": 3600}})
    await page.goto(site.page_of(form))
    await page.get_by_label("Name").fill("Ada")
    await send(page)
    await page.get_by_text("the form was filled in too fast").wait_for()
    await site.call("PUT", f"/api/v1/forms/{form['id']}", {"settings": {"spam": {"min_seconds": 0.1}}})
    await send(page)
    await wait_for_thanks(page)


async def test_a_form_that_was_open_for_days_is_sent_all_the_same(site, page):
    form = await site.make_form(NAME, settings={"spam": {"proof_of_work": 1}})
    await page.goto(site.page_of(form))
    await page.get_by_label("Name").fill("Ada")
    await page.evaluate("document.querySelector('retinue-form').view.fetchToken('1.1.old')")
    await send(page)
    await wait_for_thanks(page)
    seen = await site.analytics(form)
    assert (seen["total_views"], seen["total_submissions"]) == (1, 1)


async def test_where_no_answer_came_sending_again_keeps_one(site, page):
    form = await site.make_form(NAME)
    await page.goto(site.page_of(form))
    await page.get_by_label("Name").fill("Ada")
    await page.route("**/submit", lose_the_answer, times=1)
    await send(page)
    await page.get_by_text("The server cannot be reached at this moment. Try again.").wait_for()
    assert await page.get_by_label("Name").input_value() == "Ada"
    await send(page)
    await wait_for_thanks(page)
    assert len(await site.submissions(form)) == 1


async def test_a_table_offers_its_rows_and_is_searched(site, page):
    columns = [{"name": "title", "type": "text"}, {"name": "number", "type": "number"}]
    table = (await site.call("POST", "/api/v1/data-tables", {"name": "Books", "columns": columns}))["data"]
    rows = [{"title": f"Book {number}", "number": number} for number in range(150)]
    await site.call("POST", f"/api/v1/data-tables/{table['id']}/rows", {"rows": rows})
    source = {"table_id": table["id"], "value_column": "number", "label_column": "title"}
    form = await site.make_form(
        {"id": "one", "type": "select", "label": "First", "data_source": source},
        {"id": "many", "type": "multi_select", "label": "More", "data_source": source},
        {"id": "why", "type": "text", "label": "Why",
         "conditional": {"field": "many", "operator": "contains", "value": 149}},
    )  # fmt: skip
    await page.goto(site.page_of(form))
    await page.get_by_label("Search First").fill("book 148")
    await (
        page.get_by_label("First", exact=True)
        .locator("option", has_text="Book 148")
        .wait_for(state="attached")
    )
    await page.get_by_label("First", exact=True).select_option("Book 148")
    await page.get_by_label("Search First").fill("no such book")
    assert not await page.get_by_label("Why").is_visible()
    await page.get_by_label("Search More").fill("book 149")
    await page.get_by_label("Book 149").check()
    await page.get_by_label("Search More").fill("book 7")
    await page.get_by_label("Book 77").check()
    assert await page.get_by_label("Book 149").is_checked()
    await page.get_by_label("Why").fill("It is the last.")
    await send(page)
    await wait_for_thanks(page)
    (kept,) = await site.submissions(form)
    assert kept["data"] == {"one": 148, "many": [149, 77], "why": "It is the last."}


async def test_a_file_that_is_refused_says_why_and_one_that_is_removed_is_not_sent(site, page):
    form = await site.make_form(*(one for one in EVERY_TYPE if one.get("id") == "paper"))
    await page.goto(site.page_of(form))
    picker = page.get_by_label("Paper")
    await picker.set_input_files({"name": "a.exe", "mimeType": "text/plain", "buffer": b"x"})
    await page.get_by_text("This could not take a.exe.").wait_for()
    await picker.set_input_files({"name": "b.txt", "mimeType": "text/plain", "buffer": b"x" * 1_100_000})
    await page.get_by_text("This could not take b.txt. A file may have at most").wait_for()
    fine = {"name": "f.txt", "mimeType": "text/plain", "buffer": b"fine"}
    await picker.set_input_files([{"name": "a.exe", "mimeType": "text/plain", "buffer": b"x"}, fine])
    await page.get_by_text("4 bytes").wait_for()
    await page.get_by_text("This could not take a.exe.").wait_for()
    await page.get_by_role("button", name="Remove f.txt").click()
    assert await problems(page) == {}
    for name in ("c.txt", "d.txt", "e.txt"):
        await picker.set_input_files({"name": name, "mimeType": "text/plain", "buffer": name.encode()})
        await page.get_by_role("button", name=f"Remove {name}").wait_for()
    await page.get_by_role("button", name="Remove d.txt").click()
    await send(page)
    await wait_for_thanks(page)
    (kept,) = await site.submissions(form)
    assert sorted(file["filename"] for file in kept["files"]) == ["c.txt", "e.txt"]


async def test_who_is_sent_elsewhere_afterwards_goes_there(site, page):
    form = await site.make_form(NAME, settings={"redirect_url": "/docs"})
    await page.goto(site.page_of(form))
    await page.get_by_label("Name").fill("Ada")
    await send(page)
    await page.wait_for_url(f"{site.url}/docs")


async def test_where_there_is_no_form_the_page_says_so(site, page):
    form = await site.make_form(NAME)
    await site.call("POST", f"/api/v1/forms/{form['id']}/unpublish")
    for slug in (form["slug"], "nobody-has-this"):
        answer = await page.goto(f"{site.url}/f/{slug}")
        assert answer.status == 404
        assert await page.get_by_role("heading", name="There is no form here").is_visible()
    assert await violations(page) == []


async def test_without_scripts_the_page_says_what_it_needs(site, browser):
    form = await site.make_form(NAME, name="A & B", description="<b>About</b>")
    context = await browser.new_context(java_script_enabled=False)
    page = await context.new_page()
    await page.goto(site.page_of(form))
    assert await page.get_by_role("heading", name="A & B").is_visible()
    texts = await page.locator("noscript p").all_inner_texts()
    assert texts == ["<b>About</b>", "To fill in this form, please switch on JavaScript."]
    await context.close()
