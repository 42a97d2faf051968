"""The open conversation of the page Chat, as somebody who only chats has it."""

import asyncio
import re

import pytest
from playwright.async_api import expect

from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import refusing
from tests.browser.console.build_page import speak_slowly
from tests.browser.console.chat_threads import (
    ask,
    call_as,
    chat_agent,
    chatting_person,
    field_of,
    last_reply,
    open_chat,
    read_whole_reply,
)
from tests.browser.console.steps import LOOKS, agent_that_asks_first, axe, sign_in_as

LONG = """All three sizes take **E27**.

| Globe | At most | Fits |
|---|---:|---|
| 20 cm | 9 W | Rondo 8 W |
| 30 cm | 15 W | Rondo 12 W |

### For the product page

```js
const box = document.querySelector("[data-fits]");
```

1. Open the plan.
2. Offer the shift.
"""


@pytest.mark.journey
async def test_a_question_is_asked_edited_and_answered_again_in_versions(site, page):
    person = await chatting_person(site)
    async with chat_agent(site) as (agent_id, _, provider):
        await open_chat(site, page, person, agent_id)
        provider.says("Rondo fits.")
        await ask(page, "Which bulb fits?")
        await read_whole_reply(page, "Rondo fits.")
        await expect(page).to_have_url(re.compile("/chat/conv_"))
        await field_of(page).press("ArrowUp")
        editor = page.get_by_role("textbox", name="Your message")
        await expect(editor).to_have_value("Which bulb fits?")
        provider.says("Grande fits.")
        await editor.fill("Which bulb fits the large one?")
        await editor.press("Enter")
        versions = page.get_by_role("group", name="Versions of this message")
        await read_whole_reply(page, "Grande fits.")
        await expect(versions).to_contain_text("2 of 2")
        await page.get_by_role("log").focus()
        await page.keyboard.press("[")
        await expect(versions).to_contain_text("1 of 2")
        await read_whole_reply(page, "Rondo fits.")
        provider.says("Rondo 8 W fits.")
        await page.keyboard.press("r")
        await page.get_by_role("log").get_by_text("Rondo 8 W fits.").wait_for()
        await expect(last_reply(page).get_by_role("group")).to_contain_text("2 of 2")


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_long_answer_reads_well_in_every_look(site, page, scheme, width):
    person = await chatting_person(site)
    await page.emulate_media(color_scheme=scheme)
    await page.set_viewport_size({"width": width, "height": 900})
    async with chat_agent(site) as (agent_id, slug, provider):
        await open_chat(site, page, person, agent_id)
        assert await axe(page) == []
        provider.says("I look.", Call(slug, '{"order": "7"}', "call_1"))
        provider.says(LONG)
        await ask(page, "Which bulbs fit the Opal globe in its three sizes?")
        await page.get_by_role("log").get_by_text("Offer the shift.").wait_for()
        await page.get_by_role("button", name="Write again").last.wait_for()
        assert await axe(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert "call_1" not in await page.get_by_role("log").inner_text()


async def test_a_reply_is_spoken_by_sentences_stopped_and_read_on_elsewhere(site, page):
    person = await chatting_person(site)
    gate = asyncio.Event()
    async with chat_agent(site) as (agent_id, _, provider):
        await open_chat(site, page, person, agent_id)
        provider.fails(speak_slowly(["The lamp ", "is warm. ", "It ", "is"], 0, gate))
        await ask(page, "Is it warm?")
        spoken = page.locator("[data-spoken] p")
        await expect(spoken).to_have_text(["The lamp is warm."])
        # The address knows the conversation by now; a reload goes on with the reply.
        await expect(page).to_have_url(re.compile("/chat/conv_"))
        await page.reload()
        await page.get_by_role("log").get_by_text("The lamp is warm.").wait_for()
        await page.get_by_role("button", name="Stop").click()
        await page.get_by_role("log").get_by_text("You stopped this answer.").wait_for()
        gate.set()
        await expect(page.get_by_role("button", name="Write again")).to_be_visible()


async def test_a_failed_answer_keeps_the_question_and_is_asked_again(site, page):
    person = await chatting_person(site)
    async with chat_agent(site) as (agent_id, _, provider):
        await open_chat(site, page, person, agent_id)
        provider.says("It is a Rondo.")
        await ask(page, "Which bulb is it?")
        await page.get_by_role("log").get_by_text("It is a Rondo.").wait_for()
        provider.fails(*[refusing(500)] * 6)
        await ask(page, "Does it hum?")
        alert = page.get_by_role("log").get_by_role("alert")
        await alert.get_by_text("Lamp desk could not answer.").wait_for()
        await expect(alert).to_contain_text("Your message is kept. Nothing was done.")
        assert await axe(page) == []
        provider.faults.clear()
        provider.says("Below 20 %.")
        await alert.get_by_role("button", name="Try again").click()
        await page.get_by_role("log").get_by_text("Below 20 %.").wait_for()
        await expect(page.get_by_role("article", name="You")).to_have_count(2)
        await page.reload()
        await page.get_by_role("log").get_by_text("Below 20 %.").wait_for()
        await expect(page.get_by_role("article", name="You")).to_have_count(2)


async def test_a_bad_answer_says_why(site, page):
    person = await chatting_person(site)
    async with chat_agent(site) as (agent_id, _, provider):
        await open_chat(site, page, person, agent_id)
        provider.says("Yes.")
        await ask(page, "Does it hum?")
        await page.get_by_role("button", name="Bad answer").click()
        reasons = page.get_by_role("region", name="What was wrong?")
        await reasons.get_by_role("button", name="Wrong source").click()
        await reasons.get_by_role("textbox").fill("Row 18 is about another bulb.")
        assert await axe(page) == []
        async with page.expect_response(lambda answer: answer.url.endswith("/feedback")):
            await reasons.get_by_role("button", name="Send").click()
        conversation = page.url.rpartition("/")[2].partition("?")[0]
        messages = await call_as(person, "GET", f"/api/v1/conversations/{conversation}/messages")
        assert messages["data"][-1]["feedback"] == {
            "rating": "negative",
            "reasons": ["wrong_source"],
            "comment": "Row 18 is about another bulb.",
        }


async def test_an_approval_waits_where_it_came_up_and_the_reply_goes_on_there(site, page):
    person = await chatting_person(site)
    async with chat_agent(site, make=agent_that_asks_first) as (agent_id, slug, provider):
        await open_chat(site, page, person, agent_id)
        provider.says("I ask a colleague.", Call(slug, '{"order": "7", "amount": 184}', "call_1"))
        await ask(page, "Refund order 7")
        card = page.get_by_role("region", name="Waits for approval")
        await card.get_by_text("184").wait_for()
        await expect(card).to_contain_text("Decides")
        await expect(card.get_by_role("button", name="Approve")).to_have_count(0)
        assert await axe(page) == []
        await card.get_by_role("button", name="Remind").click()
        await card.get_by_text("are reminded").wait_for()
        waiting = (await site.call("GET", f"/api/v1/approvals?status=pending&agent_id={agent_id}"))["data"]
        provider.says("It is paid back.")
        await site.call("POST", f"/api/v1/approvals/{waiting[0]['id']}/approve", {})
        await page.get_by_role("log").get_by_text("It is paid back.").wait_for()
        await expect(card).to_have_count(0)


async def test_a_person_who_may_decide_does_so_in_the_conversation(site, page):
    async with chat_agent(site, make=agent_that_asks_first) as (agent_id, slug, provider):
        person = await chatting_person(site, "tenant_admin")
        await open_chat(site, page, person, agent_id)
        provider.says("I ask first.", Call(slug, '{"order": "7", "amount": 184}', "call_1"))
        await ask(page, "Refund order 7")
        card = page.get_by_role("region", name="Waits for approval")
        await card.get_by_text("waits for you").wait_for()
        assert await axe(page) == []
        provider.says("It is paid back.")
        await card.get_by_role("button", name="Approve 184").click()
        await page.get_by_role("log").get_by_text("It is paid back.").wait_for()


async def test_a_conversation_is_shared_with_a_colleague_who_goes_on_in_a_copy(site, page, browser):
    owner, reader = await chatting_person(site), await chatting_person(site)
    name = f"Jonas{reader.email[:6]}"
    await call_as(reader, "PUT", "/api/v1/profile", {"first_name": name})
    async with chat_agent(site) as (agent_id, _, provider):
        await open_chat(site, page, owner, agent_id)
        provider.says("All take E27.")
        await ask(page, "Which bulb?")
        await page.get_by_role("log").get_by_text("All take E27.").wait_for()
        conversation = page.url.rpartition("/")[2].partition("?")[0]
        await page.get_by_role("button", name="Share", exact=True).click()
        box = page.get_by_role("dialog", name="Share")
        await box.get_by_role("radio", name="People you name").click()
        await box.get_by_role("textbox").fill(name)
        await box.get_by_role("option", name=re.compile(name)).click()
        await box.get_by_role("list", name="Who may read it").get_by_text(name).wait_for()
        assert await axe(page) == []
        context = await browser.new_context(locale="en-GB")
        other = await context.new_page()
        await sign_in_as(site, other, reader, f"/chat/{conversation}")
        await other.get_by_role("log").get_by_text("All take E27.").wait_for()
        await expect(field_of(other)).to_have_count(0)
        await expect(other.get_by_role("button", name="Edit and send again")).to_have_count(0)
        assert await axe(other) == []
        await other.get_by_role("button", name="Go on in a copy of your own").click()
        provider.says("E27, too.")
        await ask(other, "And the small one?")
        await other.get_by_role("log").get_by_text("E27, too.").wait_for()
        await context.close()
        await box.get_by_role("radio", name="Not shared").click()
        # Without sharing it, too, it is not secret.
        await box.get_by_text("Administrators and people who build agents can read it.").wait_for()
