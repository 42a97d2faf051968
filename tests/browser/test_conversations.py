"""A form that is talked through."""

import asyncio

import pytest
from playwright.async_api import expect

from tests.browser.forms import NAME, lose_the_answer, violations
from tests.browser.mortal import kill, mortal_site
from tests.browser.payloads import PAYLOADS, assert_nothing_ran

TALKING = {"conversational": {"enabled": True, "model": False}}
ASKED = (
    NAME,
    {"id": "size", "type": "radio", "label": "Size", "options": ["S", "M"]},
    {
        "id": "with",
        "type": "multi_select",
        "label": "With",
        "required": True,
        "options": [{"value": 1, "label": "Salt, pepper"}, {"value": 2, "label": "Oil"}],
    },
    {"id": "stars", "type": "rating", "label": "How good?"},
    {"id": "paper", "type": "file", "label": "Paper", "required": True},
    {"id": "sign", "type": "signature", "label": "Signature", "required": True},
    {"id": "ref", "type": "hidden"},
    {"id": "ok", "type": "checkbox", "label": "Do you agree?", "required": True},
)


async def say(page, text):
    await page.get_by_label("Your answer", exact=True).fill(text)
    await page.keyboard.press("Enter")


@pytest.mark.journey
async def test_a_conversation_fills_in_the_form(site, page):
    form = await site.make_form(*ASKED, settings={**TALKING, "success_message": "We will call."})
    await page.goto(site.page_of(form, "?ref=mail"))
    await page.get_by_text("0 of 7 answered").wait_for()
    assert await violations(page) == []
    await say(page, "Ada")
    await page.get_by_role("button", name="M", exact=True).click()
    await page.get_by_text("2 of 7 answered").wait_for()
    await page.get_by_label("Salt, pepper").check()
    await page.get_by_label("Oil").check()
    # A reload goes on where it was.
    await page.reload()
    await page.get_by_text("2 of 7 answered").wait_for()
    assert await page.locator(".message.user p").all_inner_texts() == ["Ada", "M"]
    await page.get_by_label("Salt, pepper").check()
    await page.get_by_role("button", name="Choose these").click()
    await page.get_by_role("button", name="Skip").click()
    paper = {"name": "a.txt", "mimeType": "text/plain", "buffer": b"hello"}
    await page.get_by_label("Paper").set_input_files(paper)
    await page.get_by_text("5 bytes").wait_for()
    await page.get_by_role("button", name="Send the file").click()
    await page.get_by_label("write your name").fill("Ada L.")
    assert await violations(page) == []
    await page.get_by_role("button", name="Sign", exact=True).click()
    await page.get_by_role("button", name="Yes", exact=True).click()
    await page.get_by_text("We will call.").wait_for()
    assert await page.get_by_label("Your answer", exact=True).count() == 0
    (kept,) = await site.submissions(form)
    assert kept["data"] == {
        "name": "Ada",
        "size": "M",
        "with": [1],
        "paper": kept["files"][0]["file_id"],
        "sign": "Ada L.",
        "ref": "mail",
        "ok": True,
    }
    metadata = kept["metadata"]
    assert (metadata["source"], metadata["page_url"]) == ("conversation", site.page_of(form))
    seen = await site.analytics(form)
    assert (seen["total_starts"], seen["total_submissions"]) == (1, 1)


async def test_who_would_rather_write_gets_the_form_with_what_was_said(site, page):
    form = await site.make_form(NAME, {"id": "age", "type": "number", "label": "Age"}, settings=TALKING)
    await page.goto(site.page_of(form))
    await say(page, "Ada")
    await page.get_by_text("1 of 2 answered").wait_for()
    await page.get_by_role("button", name="Fill in as a form instead").click()
    await expect(page.get_by_label("Name")).to_have_value("Ada")
    await page.get_by_label("Age").fill("36")
    await page.get_by_role("button", name="Send").click()
    await page.get_by_text("Thank you.").wait_for()
    (kept,) = await site.submissions(form)
    assert kept["data"] == {"name": "Ada", "age": 36}


async def test_who_is_faster_than_the_first_question_is_heard_after_it(site, page):
    form = await site.make_form(NAME, {"id": "age", "type": "number", "label": "Age"}, settings=TALKING)
    may_begin = asyncio.Event()

    async def later(route):
        await may_begin.wait()
        await route.continue_()

    await page.route("**/conversations", later)
    await page.goto(site.page_of(form))
    await say(page, "Ada")
    may_begin.set()
    await page.get_by_text("1 of 2 answered").wait_for()
    assert await page.locator(".message.user p").all_inner_texts() == ["Ada"]


async def test_what_is_said_stays_text_and_a_lost_answer_can_be_asked_for_again(site, other_site, page):
    everything = "\n".join(PAYLOADS)
    texts = [{"id": f"f{number}", "type": "textarea", "label": PAYLOADS[number]} for number in range(4)]
    pick = {"id": "pick", "type": "radio", "label": PAYLOADS[5], "options": list(PAYLOADS[:3])}
    talking = {"conversational": {**TALKING["conversational"], "greeting": everything}}
    form = await site.make_form(
        *texts, pick, name=PAYLOADS[1], settings={**talking, "success_message": PAYLOADS[2]}
    )
    snippets = (await site.call("GET", f"/api/v1/public/forms/{form['slug']}/embed"))["data"]
    await page.goto(other_site.publish("talking", snippets["script_embed"]))
    await page.get_by_text("0 of 5 answered").wait_for()
    await page.route("**/messages", lose_the_answer, times=1)
    await say(page, PAYLOADS[0])
    await page.get_by_text("The server cannot be reached at this moment.").wait_for()
    await page.get_by_role("button", name="Try again").click()
    said = (PAYLOADS[0], PAYLOADS[1], PAYLOADS[2], everything)
    for number, text in enumerate(said):
        if number:
            await say(page, text)
        await page.get_by_text(f"{number + 1} of 5 answered").wait_for()
        await assert_nothing_ran(page, has_logo=False)
    await page.get_by_role("button", name=PAYLOADS[0], exact=True).click()
    # It stands in what was said as well: once there is nothing more to answer, it is the form's last word.
    await expect(page.get_by_label("Your answer", exact=True)).to_have_count(0)
    await page.get_by_text(PAYLOADS[2]).last.wait_for()
    await assert_nothing_ran(page, has_logo=False)
    (kept,) = await site.submissions(form)
    assert kept["data"] == {**{f"f{number}": text for number, text in enumerate(said)}, "pick": PAYLOADS[0]}


async def test_a_server_that_goes_takes_neither_the_answer_nor_the_conversation_along(tmp_path, page):
    async with mortal_site(tmp_path) as site:
        mail = {"id": "mail", "type": "email", "label": "Email", "required": True}
        form = await site.make_form(NAME, mail, settings=TALKING)
        await page.goto(site.page_of(form))
        await say(page, "Ada")
        await page.get_by_text("1 of 2 answered").wait_for()
        await kill(site)
        await say(page, "ada@example.com")
        await page.get_by_text("The server cannot be reached at this moment.").wait_for()
        await site.server.start()
        await page.get_by_text("The server can be reached again.").wait_for()
        await page.reload()
        await page.get_by_text("1 of 2 answered").wait_for()
        await expect(page.get_by_label("Your answer", exact=True)).to_have_value("ada@example.com")
        # A reload whose requests get no answer keeps the conversation as well.
        await page.route("**/conversations/**", lambda route: route.abort())
        await page.reload()
        await page.get_by_role("button", name="Try again").wait_for()
        await page.unroute("**/conversations/**")
        await page.get_by_role("button", name="Try again").click()
        await page.get_by_text("1 of 2 answered").wait_for()
        await expect(page.get_by_text("Ada", exact=True)).to_have_count(1)
        await page.get_by_label("Your answer", exact=True).press("Enter")
        await page.get_by_text("2 of 2 answered").wait_for()


async def test_a_form_that_closed_meanwhile_ends_the_conversation_with_a_word(site, page):
    form = await site.make_form(NAME, settings={**TALKING, "submit_limit": 1})
    await page.goto(site.page_of(form))
    await page.get_by_text("0 of 1 answered").wait_for()
    status, _ = await site.submit(form, {"name": "Grace"})
    assert status == 201
    await say(page, "Ada")
    await expect(page.get_by_label("Your answer", exact=True)).to_have_count(0)
    assert await page.locator(".message.assistant").count() == 2
    assert await page.locator(".message.problem").count() == 0
