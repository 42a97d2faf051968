"""Mailed links: confirm an address, choose a new password, get a new link, and sign in afterwards."""

import asyncio
import re
from collections.abc import AsyncIterator
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from playwright.async_api import Page, expect

from tests.browser.console.steps import axe
from tests.browser.site import Site
from tests.e2e.processes import ServerProcess, free_port

EMAIL, OLD, NEW = "mara@halden.example", "First-Person-1", "Second-Person-2"
PERSON = {"first_name": "Mara", "last_name": "Lindqvist", "email": EMAIL, "password": OLD}
SIZES = ((1440, 900), (390, 844))


class Mailbox:
    """A mail server's handler, which keeps the links of mails."""

    def __init__(self) -> None:
        self.links: list[str] = []
        self.port = free_port()
        self._came, self._loop = asyncio.Event(), asyncio.get_running_loop()

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        mail = message_from_bytes(envelope.content, policy=policy.default)
        body = mail.get_body(("plain",))
        assert body is not None
        self.links += re.findall(r"^http\S+[?]token=\S+", body.get_content(), re.MULTILINE)
        self._loop.call_soon_threadsafe(self._came.set)
        return "250 OK"

    async def wait_for_link(self, page: str, count: int = 1) -> str:
        """The last link to the page, as soon as `count` came."""
        async with asyncio.timeout(60):
            while len(found := [link for link in self.links if f"/{page}?" in link]) < count:
                self._came.clear()
                await self._came.wait()
        return found[-1]


@pytest.fixture
async def mailbox() -> AsyncIterator[Mailbox]:
    box = Mailbox()
    server = Controller(box, hostname="127.0.0.1", port=box.port)
    server.start()
    yield box
    server.stop()


@pytest.fixture
async def site(tmp_path: Path, mailbox: Mailbox) -> AsyncIterator[Site]:
    server = ServerProcess(tmp_path, RETINUE_SMTP_URL=f"smtp://127.0.0.1:{mailbox.port}")
    server.env["RETINUE_BASE_URL"] = f"http://127.0.0.1:{server.port}"
    server.env["RETINUE_SIGNUP"] = "open"
    async with server:
        await server.start()
        yield Site(server)


async def look_at(page: Page, name: str) -> None:
    """Every look of a page is accessible, and none is wider than a phone."""
    await page.mouse.move(0, 0)
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        for scheme in ("light", "dark"):
            await page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            assert await axe(page) == [], (name, width, scheme)
            assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, width)
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.emulate_media(color_scheme="light")


async def test_a_mailed_link_confirms_an_address_once(site: Site, page: Page, mailbox: Mailbox) -> None:
    await site.call("POST", "/auth/register", PERSON)
    link = await mailbox.wait_for_link("verify-email")
    await page.goto(link)
    await page.get_by_role("heading", name="Almost there").wait_for()
    assert page.url == f"{site.url}/console/verify-email", "the token is gone from the address"
    await page.reload()
    await look_at(page, "verify")
    await page.get_by_role("button", name="Confirm address").click()
    await expect(page.get_by_role("status")).to_contain_text("Your email address is confirmed.")
    await page.get_by_role("heading", name="Address confirmed").wait_for()
    await look_at(page, "verified")
    await page.get_by_role("link", name="Sign in").click()
    await page.get_by_label("Email").fill(EMAIL)
    await page.get_by_label("Password", exact=True).fill(OLD)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("navigation").first.wait_for(state="attached")


async def test_a_link_that_is_void_leads_to_a_new_one(site: Site, page: Page, mailbox: Mailbox) -> None:
    await site.call("POST", "/auth/register", PERSON)
    old = await mailbox.wait_for_link("verify-email")
    await page.goto(f"{old[:-4]}0000")
    await page.get_by_role("button", name="Confirm address").click()
    await page.get_by_role("heading", name="This link does not work").wait_for()
    await look_at(page, "void")
    await page.get_by_label("Email").fill(EMAIL)
    await page.get_by_role("button", name="Send link").click()
    await expect(page.get_by_role("status")).to_contain_text("Earlier links no longer work.")
    await page.goto(await mailbox.wait_for_link("verify-email", 2))
    await page.get_by_role("button", name="Confirm address").click()
    await expect(page.get_by_role("status")).to_contain_text("Your email address is confirmed.")
    await page.goto(f"{site.url}/verify-email")
    await page.get_by_role("heading", name="This link does not work").wait_for()


async def test_a_forgotten_password_is_replaced_by_a_mailed_link(
    site: Site, page: Page, mailbox: Mailbox
) -> None:
    await site.call("POST", "/auth/register", PERSON)
    confirmed = {"token": (await mailbox.wait_for_link("verify-email")).partition("=")[2]}
    await site.call("POST", "/auth/verify-email", confirmed)
    await page.goto(f"{site.url}/forgot-password")
    await page.get_by_role("heading", name="New password").wait_for()
    await look_at(page, "forgot")
    await page.get_by_label("Email").fill(EMAIL)
    await page.get_by_role("button", name="Send link").click()
    await expect(page.get_by_role("status")).to_contain_text("a link is on its way")
    link = await mailbox.wait_for_link("reset-password")
    await page.goto(link)
    await page.get_by_role("heading", name="Choose a password").wait_for()
    assert page.url == f"{site.url}/console/reset-password", "the token is gone from the address"
    await page.get_by_label("New password").fill("short")
    await page.get_by_role("button", name="Save password").click()
    await expect(page.get_by_label("New password")).to_have_attribute("aria-invalid", "true")
    await look_at(page, "reset")
    await page.get_by_label("New password").fill(NEW)
    await page.get_by_role("button", name="Save password").click()
    await expect(page.get_by_role("status")).to_contain_text("Your password has been changed.")
    await look_at(page, "changed")
    await page.get_by_role("link", name="Sign in").click()
    await page.get_by_label("Email").fill(EMAIL)
    await page.get_by_label("Password", exact=True).fill(NEW)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("navigation").first.wait_for(state="attached")
    await page.goto(link)
    await page.get_by_role("heading", name="This link does not work").wait_for()
    await look_at(page, "used")
    await page.get_by_role("link", name="Get a new link").click()
    await page.get_by_role("heading", name="New password").wait_for()
