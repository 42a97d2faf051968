"""Channels in the console: made for real receivers, tested in place, read, changed and deleted."""

import re

import pytest
from playwright.async_api import expect

from tests.adapters.mail_servers import mail_servers
from tests.browser.console.steps import LOOKS, axe, new_person, open_page, sign_in_as
from tests.tools.servers.rest_api import rest_api

CHANNELS = "/api/v1/notification-channels"


@pytest.fixture
async def receiver():
    """A receiver that answers 200, and below /scripted what a test says."""
    async with rest_api() as remote:
        yield remote


async def new_channel(site, url: str, name: str, **more) -> str:
    body = {
        "name": name,
        "type": "webhook",
        "provider": "http",
        "config": {"url": url, "secret": "bell-secret"},
    }
    return (await site.call("POST", CHANNELS, {**body, **more}))["id"]


async def fits(page) -> bool:
    return not await page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )


@pytest.mark.journey
@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_a_mail_channel_is_made_and_its_test_arrives(site, page, tmp_path, scheme, width):
    name = f"Post {scheme} {width}"
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    with mail_servers(tmp_path) as start:
        server = start()
        await open_page(site, page, "/channels/new")
        assert await axe(page) == []
        await page.get_by_role("link", name=re.compile("^SMTP")).click()
        create = page.get_by_role("button", name="Create channel")
        await page.get_by_role("textbox", name="Name", exact=True).fill(name)
        await expect(create).to_be_disabled()
        await page.get_by_label("Mail server").fill(server.config["host"])
        await page.get_by_label("Port").fill(str(server.port))
        await page.get_by_label("From address").fill("no address")
        await create.click()
        await expect(page.get_by_label("From address")).to_have_attribute("aria-invalid", "true")
        await page.get_by_label("From address").fill(server.config["from_email"])
        assert await axe(page) == []
        await create.click()
        panel = page.get_by_role("complementary", name=name)
        await panel.get_by_role("button", name="Send a test").click()
        await panel.get_by_text("Delivered to admin@example.com").wait_for()
        await panel.get_by_role("list", name="Last messages").get_by_text("Test notification").wait_for()
        ((to, _mail),) = server.received()
    assert to == ["admin@example.com"]
    assert await axe(page) == []
    assert await fits(page)


async def test_what_the_receiver_refuses_is_said_in_the_list_and_beside_it(site, page, receiver):
    id = await new_channel(site, f"{receiver.url}/scripted/bell", "Night shift")
    receiver.answers.append((503, {}, b'{"message": "out of credit"}'))
    await open_page(site, page, f"/channels?id={id}")
    panel = page.get_by_role("complementary", name="Night shift")
    await panel.get_by_role("button", name="Send a test").click()
    refusal = "The endpoint answered 503: out of credit"
    await panel.get_by_role("status").get_by_text(refusal).wait_for()
    row = page.get_by_role("row").filter(has_text="Night shift")
    await expect(row).to_contain_text("Failed just now")
    await expect(row).to_contain_text(refusal)
    await expect(row.get_by_role("img")).to_have_accessible_name(re.compile("1 message in 14 days, 1 failed"))
    await expect(panel.get_by_role("alert").first).to_contain_text(
        "1 message was not sent in the last 14 days."
    )
    assert await axe(page) == []
    await page.get_by_text("Needs a look", exact=True).click()
    await expect(row).to_be_visible()
    await page.get_by_text("Off", exact=True).click()
    await expect(row).to_have_count(0)


async def test_only_what_was_edited_is_sent_and_a_stored_secret_stays(site, page, receiver):
    id = await new_channel(site, f"{receiver.url}/old", "Bell")
    await open_page(site, page, f"/channels?id={id}")
    panel = page.get_by_role("complementary", name="Bell")
    await expect(panel.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    await panel.get_by_label("Headers").fill("no header")
    await panel.get_by_text("This is no header: no header").wait_for()
    await panel.get_by_label("Headers").fill("X-Source: console")
    await panel.get_by_label("Address").fill(f"{receiver.url}/new")
    await panel.get_by_role("button", name="Save and send a test").click()
    await panel.get_by_role("status").get_by_text("Delivered in").wait_for()
    sent = receiver.last
    assert (sent.target, sent.headers["X-Source"]) == ("/new", "console")
    revealed = (await site.call("GET", f"{CHANNELS}/{id}/reveal"))["config"]
    assert revealed == {
        "url": f"{receiver.url}/new",
        "headers": {"X-Source": "console"},
        "secret": "bell-secret",
    }
    await panel.get_by_role("button", name="Remove the stored value").click()
    await panel.get_by_role("button", name="Save", exact=True).click()
    await expect(panel.get_by_role("button", name="Remove the stored value")).to_have_count(0)
    assert "secret" not in (await site.call("GET", f"{CHANNELS}/{id}"))["config"]


async def test_what_was_entered_is_not_left_without_a_question(site, page, receiver):
    id = await new_channel(site, f"{receiver.url}/hook", "Half done")
    await new_channel(site, f"{receiver.url}/hook", "Next door")
    await open_page(site, page, f"/channels?id={id}")
    panel = page.get_by_role("complementary", name="Half done")
    await panel.get_by_label("Address").fill(f"{receiver.url}/other")
    question = page.get_by_role("dialog", name="Leave without saving?")
    for _ in range(2):
        await page.keyboard.press("Escape")
    await question.get_by_role("button", name="Cancel").click()
    await expect(panel.get_by_label("Address")).to_have_value(f"{receiver.url}/other")
    await page.get_by_role("row").filter(has_text="Next door").get_by_role("button").click()
    await question.get_by_role("button", name="Leave without saving").click()
    await page.get_by_role("complementary", name="Next door").get_by_role("button", name="Close").click()
    await expect(page.get_by_role("complementary", name="Next door")).to_have_count(0)


async def test_a_secret_is_revealed_until_it_is_hidden(site, page, receiver):
    id = await new_channel(site, f"{receiver.url}/hook", "Sealed")
    await open_page(site, page, f"/channels?id={id}")
    assert "bell-secret" not in await page.content()
    await page.get_by_role("button", name="Reveal").click()
    await page.get_by_text("bell-secret").wait_for()
    await expect(page.get_by_role("timer")).to_be_visible()
    assert await axe(page) == []
    await page.get_by_role("button", name="Hide now").click()
    await expect(page.get_by_text("bell-secret")).to_have_count(0)


async def test_a_channel_is_switched_off_and_deleted_after_saying_what_uses_it(site, page, receiver):
    id = await new_channel(site, f"{receiver.url}/hook", "Leaving")
    told = {"action_type": "notification", "action_config": {"channel_id": id}}
    await site.call("POST", "/api/v1/event-subscriptions", {"event_type": "form.submission.created", **told})
    await open_page(site, page, f"/channels?id={id}")
    panel = page.get_by_role("complementary", name="Leaving")
    await panel.get_by_role("switch").uncheck(force=True)
    await panel.get_by_text("Switched off").wait_for()
    assert (await site.call("GET", f"{CHANNELS}/{id}"))["active"] is False
    await panel.get_by_role("button", name="More actions").click()
    await page.get_by_role("menuitem", name="Delete").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_text("the subscription form.submission.created").wait_for()
    assert await axe(page) == []
    await dialog.get_by_label("Type Leaving to confirm").fill("Leaving")
    await dialog.get_by_role("button", name="Delete").click()
    await expect(panel).to_have_count(0)
    await expect(page.get_by_role("row").filter(has_text="Leaving")).to_have_count(0)


async def test_somebody_who_may_only_read_sees_facts_and_no_button(site, page, receiver):
    id = await new_channel(site, f"{receiver.url}/hook", "Read only")
    reader = await new_person(site)
    users = await site.call("GET", f"/users?search={reader.email}")
    await site.call("PUT", f"/users/{users['users'][0]['id']}/role", {"role": "viewer"})
    await sign_in_as(site, page, reader, f"/channels?id={id}")
    panel = page.get_by_role("complementary", name="Read only")
    await panel.get_by_text(f"{receiver.url}/hook").wait_for()
    await expect(panel.get_by_role("textbox")).to_have_count(0)
    await expect(
        page.get_by_role("button", name=re.compile("Send a test|Reveal|More actions"))
    ).to_have_count(0)
    await expect(page.get_by_role("link", name="New channel")).to_have_count(0)
    assert await axe(page) == []


async def test_keys_lead_to_channels_through_them_and_to_a_new_one(site, page, receiver):
    await new_channel(site, f"{receiver.url}/hook", "By keys")
    await open_page(site, page, "/inbox")
    await page.keyboard.press("g")
    await page.keyboard.press("l")
    await page.get_by_role("row").filter(has_text="By keys").wait_for()
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    # Its place is there a moment before it is, and hears no keys yet.
    await page.get_by_role("complementary").get_by_role("heading", name="By keys").wait_for()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("complementary")).to_have_count(0)
    await page.keyboard.press("c")
    await expect(page).to_have_url(re.compile("/channels/new$"))
