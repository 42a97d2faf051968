"""The hosted page of an agent, as people open it who were given its link."""

import pytest
from playwright.async_api import expect

from tests.adapters.llm_replies import Reply
from tests.adapters.llm_server import hanging, provider_server
from tests.browser.forms import violations
from tests.browser.hosted import LOOK, hosted_agent, open_hosted_page
from tests.e2e.processes import ADMIN_PASSWORD
from tests.embed.hosting import unfinished_reply

GREETING = LOOK["greeting"]
SPENT = {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60}


@pytest.mark.journey
@pytest.mark.parametrize(("scheme", "width"), [("light", 390), ("dark", 1280)])
async def test_a_visitor_without_any_session_talks_to_the_agent(site, page, scheme, width):
    async with provider_server() as provider:
        address = await open_hosted_page(site, await hosted_agent(site, provider), f"lamps-{width}")
        await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        await page.set_viewport_size({"width": width, "height": 800})
        await page.goto(address)
        await page.get_by_role("heading", name=GREETING).wait_for()
        assert await page.title() == "Brass & Bulb"
        assert await violations(page) == []
        provider.says("Take the **Rondo**. ![x](https://evil.example/x.png) It is <b>warm</b>.")
        await page.get_by_role("button", name="Which bulb fits?").click()
        await page.get_by_role("button", name="Good answer").click()
        await page.get_by_text("Thank you. That helps.").wait_for()
        await expect(page.get_by_role("heading", name=GREETING)).to_be_hidden()
        assert await page.locator("retinue-page .log img").count() == 0
        assert await violations(page) == []
        assert await page.evaluate("document.documentElement.scrollWidth") == width
        assert await page.context.cookies() == []
        await page.set_viewport_size({"width": width, "height": 360})
        await page.reload()
        await expect(page.get_by_role("log").get_by_text("Rondo")).to_be_in_viewport()
        await page.set_viewport_size({"width": width, "height": 800})
        await page.get_by_role("button", name="New chat").click()
        await page.get_by_role("heading", name=GREETING).wait_for()


async def test_a_reply_is_stopped_with_the_keyboard_and_on_the_server(site, page):
    async with provider_server() as provider:
        agent = await hosted_agent(site, provider)
        await page.goto(await open_hosted_page(site, agent, "lamps-stop"))
        provider.fails(hanging(unfinished_reply(b"For ever")))
        await page.get_by_label("Ask about your lamp").fill("How long?")
        await page.keyboard.press("Enter")
        await page.get_by_role("log").get_by_text("For ever").wait_for()
        async with page.expect_response(lambda answer: answer.url.endswith("/stop")) as stopped:
            await page.get_by_role("button", name="Stop").press("Enter")
        assert (await stopped.value).status == 200
        await page.get_by_text("Stopped.").wait_for()


async def test_at_its_limit_the_page_says_when_it_opens_again(site, page):
    async with provider_server() as provider:
        agent = await hosted_agent(site, provider)
        address = await open_hosted_page(site, agent, "lamps-limit", monthly_token_budget=60)
        await page.goto(address)
        provider.otherwise = lambda _: Reply("Hello.", usage=SPENT)
        field = page.get_by_label("Ask about your lamp")
        await field.fill("One")
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Good answer").wait_for()
        await field.fill("Two")
        await page.keyboard.press("Enter")
        await page.get_by_text("It opens again on 1 ").wait_for()
        await expect(field).to_be_disabled()
        await page.reload()
        await page.get_by_text("It opens again on 1 ").wait_for()
        assert await violations(page) == []


async def test_offline_nothing_that_was_written_is_lost(site, page):
    async with provider_server() as provider:
        await page.goto(await open_hosted_page(site, await hosted_agent(site, provider), "lamps-offline"))
        field = page.get_by_label("Ask about your lamp")
        await field.fill("Still here")
        await page.context.set_offline(True)
        await page.get_by_text("You are offline.").wait_for()
        await page.keyboard.press("Enter")
        await expect(field).to_have_value("Still here")
        await page.context.set_offline(False)
        provider.says("Yes.")
        await expect(page.get_by_text("You are offline.")).to_have_count(0)
        await page.keyboard.press("Enter")
        await page.get_by_role("log").get_by_text("Yes.", exact=True).wait_for()


async def test_a_page_for_members_asks_for_the_sign_in_and_then_chats(site, page):
    async with provider_server() as provider:
        agent = await hosted_agent(site, provider)
        await page.set_viewport_size({"width": 390, "height": 800})
        await page.goto(await open_hosted_page(site, agent, "staff-lamps", audience="members"))
        await page.get_by_role("heading", name="Sign in to chat").wait_for()
        assert await violations(page) == []
        assert "Brass" not in await page.content()
        assert await page.get_by_text(GREETING).count() == 0
        await page.get_by_role("link", name="Sign in").click()
        await page.get_by_label("Email").fill("admin@example.com")
        await page.get_by_label("Password", exact=True).fill(ADMIN_PASSWORD)
        await page.get_by_role("button", name="Sign in").click()
        await page.get_by_role("heading", name=GREETING).wait_for()
        provider.says("For members.")
        await page.get_by_label("Ask about your lamp").fill("Hello")
        await page.keyboard.press("Enter")
        await page.get_by_role("button", name="Bad answer").click()
        await page.get_by_text("Thank you. That helps.").wait_for()
        await page.reload()
        await page.get_by_role("log").get_by_text("For members.").wait_for()


async def test_switched_off_and_unknown_pages_say_so(site, page):
    async with provider_server() as provider:
        agent = await hosted_agent(site, provider)
        address = await open_hosted_page(site, agent, "lamps-off")
        await page.goto(address)
        await page.get_by_role("heading", name=GREETING).wait_for()
        await site.call("DELETE", f"/api/v1/agents/{agent}/page")
        for gone in (address, f"{site.url}/c/nobody-here", f"{site.url}/c/%3Cimg%20src=x%3E"):
            await page.goto(gone)
            await page.get_by_role("heading", name="There is no chat here").wait_for()
            assert await violations(page) == []


async def test_hostile_texts_of_a_look_stay_texts(site, page):
    hostile = "<img src=x onerror=alert(1)>"
    async with provider_server() as provider:
        agent = await hosted_agent(site, provider, title=hostile, greeting=hostile, lead=hostile)
        await page.goto(await open_hosted_page(site, agent, "lamps-hostile"))
        await page.get_by_role("heading", name=hostile).first.wait_for()
        assert await page.title() == hostile
        assert await page.locator("img").count() == 0


async def test_the_page_speaks_the_visitors_language(site, browser):
    async with provider_server() as provider:
        address = await open_hosted_page(site, await hosted_agent(site, provider), "lampen")
        context = await browser.new_context(locale="de-AT")
        german = await context.new_page()
        await german.goto(address)
        await german.get_by_role("link", name="Datenschutz").wait_for()
        assert await german.evaluate("document.documentElement.lang") == "de"
        await context.close()
