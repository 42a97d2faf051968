"""The day of docs/guides/tutorial.md, step by step: the browser of the owner, and those of the others."""

import asyncio
import re
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from playwright.async_api import expect

from tests.adapters.llm_replies import Call
from tests.adapters.llm_server import KEY, ProviderServer
from tests.browser.console.new_server import NewServer
from tests.e2e.processes import ROOT, free_port

SAMPLES = ROOT / "docs/samples/shop"
SHOP_TOKEN = "lamp-shop-token-2026"
PASSWORD = "First-Person-1"
PROMPT = """You answer customers of Halden Lamps, in their language and in a few sentences.
Use the documents. If they do not say it, say so and offer a colleague.
Look an order up before you talk about it. Refunds go through the tool: name the order and the amount."""
REFUND_INPUT = """{
  "type": "object",
  "properties": { "order": { "type": "string" }, "amount": { "type": "number" } },
  "required": ["order", "amount"]
}"""
QUESTION = "My desk lamp arrived broken, order 10482. Can I have my money back?"


class Shop:
    """The sample shop as its own process, with a copy of the page that the owner may edit."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "shop"
        shutil.copytree(SAMPLES, self.folder)
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.page = self.folder / "index.html"


@asynccontextmanager
async def running_shop(folder: Path) -> AsyncIterator[Shop]:
    shop = Shop(folder)
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(shop.folder / "shop.py"), str(shop.port), stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    await process.stdout.readline()
    try:
        yield shop
    finally:
        process.kill()
        await process.wait()


Picture = Callable[[str, Any], Awaitable[None]]


async def no_picture(name: str, page: Any) -> None:
    """Do nothing: only `scripts/pictures.py` takes pictures."""


class Day:
    """One day with its places; every method is a section of the tutorial and waits for its screen."""

    def __init__(
        self,
        server: NewServer,
        provider: ProviderServer,
        shop: Shop,
        page: Any,
        picture: Picture = no_picture,
    ) -> None:
        self.server = server
        self.provider = provider
        self.shop = shop
        self.page = page
        self.picture = picture
        self.agent = ""
        self.invitation = ""

    async def follow(self, customer: Any, phone: Any) -> None:
        """Take all the steps, with the browsers of a customer and of the colleague."""
        await self.set_up()
        await self.ask_for_refund(customer)
        await self.join(phone)
        await self.open_request(phone)
        await self.approve(phone)
        await self.see_the_end(customer)
        await self.look_back()

    async def set_up(self) -> None:
        """Take the owner's steps, up to the first customer."""
        await self.open_console()
        await self.write_instructions()
        await self.add_documents()
        await self.keep_token()
        await self.make_tool()
        await self.try_and_publish()
        await self.share()
        await self.invite()
        await self.set_budget()

    async def open_console(self) -> None:
        page = self.page
        await page.goto(self.server.link)
        await page.get_by_label("First name").fill("Mara")
        await page.get_by_label("Last name").fill("Halden")
        await page.get_by_label("Email").fill("mara@halden.example")
        await page.get_by_label("Password", exact=True).fill(PASSWORD)
        await page.get_by_role("button", name="Create account").click()
        await page.get_by_role("heading", name="Who does the thinking?").wait_for()
        await page.get_by_role("radio", name="A provider").check()
        await page.get_by_label("Key", exact=True).fill(KEY)
        await page.get_by_role("combobox", name="Provider").click()
        await page.get_by_role("option", name="OpenAI-compatible server").click()
        await page.get_by_label("Address").fill(f"{self.provider.url}/v1")
        await page.get_by_role("button", name="Test", exact=True).click()
        await page.get_by_text(re.compile("The key works: OpenAI-compatible server answered in")).wait_for()
        await page.get_by_role("button", name=re.compile("Continue with")).click()
        await page.get_by_role("radio", name="Support desk").check()
        await page.get_by_role("button", name="Create Support desk").click()
        await page.get_by_role("heading", name="Ask Support desk").wait_for()
        await page.get_by_role("link", name="Open the agent").click()
        await page.get_by_role("heading", name="Support desk", level=1).wait_for()
        self.agent = page.url.rpartition("/")[2]

    async def write_instructions(self) -> None:
        page = self.page
        editor = page.locator(".cm-content")
        await editor.click()
        await page.keyboard.press("Control+A")
        await page.keyboard.type(PROMPT)

    async def add_documents(self) -> None:
        page = self.page
        await page.get_by_role("link", name="Knowledge").click()
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Choose files").click()
        await (await chooser.value).set_files(self.shop.folder / "returns.md")
        row = page.get_by_role("row", name=re.compile("returns.md"))
        await row.get_by_text("Indexed").last.wait_for()
        await page.get_by_label("Question for the index").fill("Do I get my money back for a broken lamp?")
        await page.keyboard.press("Enter")
        given = page.get_by_role("region", name="Given to the model", exact=True)
        await expect(given).to_contain_text("Whoever received something broken")

    async def keep_token(self) -> None:
        page = self.page
        await page.get_by_role("navigation").get_by_role("link", name="Credentials").click()
        await page.get_by_role("link", name="New credential").first.click()
        await page.get_by_role("combobox", name="Type").click()
        await page.get_by_role("option", name="Bearer token").click()
        await page.get_by_role("textbox", name="Name", exact=True).fill("Shop API")
        await page.get_by_label("token", exact=True).fill(SHOP_TOKEN)
        await page.get_by_role("button", name="Create credential").click()
        await page.get_by_role("heading", name="Shop API").wait_for()

    async def make_tool(self) -> None:
        page = self.page
        await page.get_by_role("navigation").get_by_role("link", name="Agents").click()
        await page.get_by_role("link", name=re.compile("Support desk")).click()
        await page.get_by_role("button", name="Tool", exact=True).click()
        await page.get_by_role("option", name="New tool").click()
        dialog = page.get_by_role("dialog", name="New tool")
        await dialog.get_by_role("button", name="Other").click()
        await dialog.get_by_role("combobox", name="Type").click()
        await page.get_by_role("option", name="REST API").click()
        await dialog.get_by_role("textbox", name="Name", exact=True).fill("Shop")
        await dialog.get_by_label("What it is for").fill("Orders and refunds of Halden Lamps.")
        await dialog.get_by_label("Address", exact=True).fill(self.shop.url)
        await dialog.get_by_label("Name of get_order").fill("look_up")
        await dialog.get_by_label("Path of look_up").fill("/orders/{order}")
        await dialog.get_by_label("What look_up does").fill("Finds an order by its number")
        await dialog.get_by_label("Name of create_note").fill("refund")
        await dialog.get_by_label("Path of refund").fill("/refunds")
        await dialog.get_by_label("What refund does").fill("Pays an order back to the customer")
        await dialog.get_by_role("button", name="Input of refund").click()
        await dialog.get_by_label("Input schema of refund").fill(REFUND_INPUT)
        await dialog.get_by_label("refund asks first").check()
        await self.picture("tool", page)
        await dialog.get_by_role("combobox", name="Signs in with").click()
        await page.get_by_role("option", name="Bearer token").click()
        await dialog.get_by_role("combobox", name="Credential").click()
        await page.get_by_role("option", name="Shop API").click()
        await dialog.get_by_role("combobox", name="Roles that decide").click()
        await page.get_by_role("option", name="User", exact=True).click()
        await page.keyboard.press("Escape")
        await dialog.get_by_role("combobox", name="What they may change").click()
        await page.get_by_role("option", name="amount").click()
        await page.keyboard.press("Escape")
        await dialog.get_by_role("button", name="Create tool").click()
        await expect(dialog).to_have_count(0)
        await page.get_by_role("list", name="Can do").get_by_role("link", name="Shop").wait_for()

    async def try_and_publish(self) -> None:
        page = self.page
        self.provider.says("", Call("shop__look_up", '{"order": "10482"}', "call_1"))
        self.provider.says("Order 10482 is a desk lamp for 89 euro, delivered.")
        await page.get_by_label("Say something").fill("What is order 10482?")
        await page.keyboard.press("Enter")
        await page.get_by_role("log").get_by_text("a desk lamp for 89 euro").wait_for()
        await self.picture("build", page)
        await page.get_by_role("button", name="Publish", exact=True).click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name=re.compile("^Publish v")).click()
        await expect(dialog).to_have_count(0)
        await expect(page.get_by_text("not published")).to_have_count(0)

    async def share(self) -> None:
        page = self.page
        await page.get_by_role("link", name="Share", exact=True).click()
        await page.get_by_text("Website", exact=True).click()
        await page.get_by_label("Title").fill("Halden Lamps")
        await page.get_by_label("Greeting").fill("Hello! What can we do for you?")
        await page.get_by_role("button", name="Save look").click()
        await page.get_by_text("Saved.").wait_for()
        await page.get_by_role("button", name="Create key").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill("Shop")
        await dialog.get_by_label("Allowed domains").fill("localhost")
        await dialog.get_by_role("button", name="Create key").click()
        await page.get_by_role("button", name="I have stored it").click()
        script = await page.get_by_role("group", name="Script snippet").inner_text()
        html = self.shop.page.read_text()
        self.shop.page.write_text(html.replace("</body>", f"  {script}\n  </body>"))

    async def invite(self) -> None:
        page = self.page
        await page.get_by_role("navigation").get_by_role("link", name="Settings").click()
        await page.get_by_role("button", name=re.compile("Invite")).first.click()
        await page.get_by_label("Email addresses").fill("ines@halden.example")
        await page.get_by_role("combobox", name="Role", exact=True).last.click()
        await page.get_by_role("option", name="User", exact=True).click()
        await page.get_by_role("button", name="Invite", exact=True).last.click()
        link = page.get_by_role("group", name="Invitation link for ines@halden.example")
        self.invitation = await link.inner_text()
        await self.picture("invite", page)
        await page.get_by_role("button", name="Done").click()

    async def set_budget(self) -> None:
        page = self.page
        await page.get_by_role("navigation").get_by_role("link", name="Agents").click()
        await page.get_by_role("link", name=re.compile("Support desk")).click()
        await page.get_by_role("link", name="Statistics").click()
        budgets = page.get_by_role("region", name="Budgets")
        await budgets.get_by_role("button", name="Add budget").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_text("Tokens").click()
        await dialog.get_by_label("Limit", exact=True).fill("2000000")
        await dialog.get_by_role("button", name="Save budget").click()
        await expect(budgets.get_by_role("listitem")).to_contain_text("of 2m tokens this month")

    async def ask_for_refund(self, customer: Any) -> None:
        self.provider.says("", Call("shop__look_up", '{"order": "10482"}', "call_2"))
        refund = msgspec.json.encode({"order": "10482", "amount": 89}).decode()
        self.provider.says(
            "I am sorry. I ask a colleague to refund 89 euro.", Call("shop__refund", refund, "call_3")
        )
        await customer.goto(self.shop.url)
        await customer.get_by_role("button", name="Open Halden Lamps").click()
        await customer.get_by_role("textbox").fill(QUESTION)
        await customer.keyboard.press("Enter")
        await customer.get_by_text("I ask a colleague to refund 89 euro.").wait_for()
        await customer.get_by_text("This needs someone").wait_for()

    async def join(self, phone: Any) -> None:
        await phone.goto(self.invitation)
        await phone.get_by_label("First name").fill("Ines")
        await phone.get_by_label("Last name").fill("Okafor")
        await phone.get_by_label("New password").fill("Second-Person-2")
        await phone.get_by_role("button", name="Create account").click()
        await phone.get_by_role("navigation").get_by_role("link", name="Approvals").wait_for()

    async def open_request(self, phone: Any) -> None:
        await phone.get_by_role("navigation").get_by_role("link", name="Approvals").click()
        await phone.get_by_role("button").filter(has_text="refund").first.click()
        await phone.get_by_label("Amount").fill("80")
        await phone.get_by_role("button", name="Approve 80").wait_for()
        await self.picture("approval", phone)

    async def approve(self, phone: Any) -> None:
        self.provider.says("Done: 80 euro go back to your card within a few days.")
        await phone.get_by_role("button", name="Approve 80").click()
        await phone.get_by_text("Approved. The work continues").wait_for()

    async def see_the_end(self, customer: Any) -> None:
        await customer.get_by_text("80 euro go back to your card").wait_for()
        await self.picture("refunded", customer)

    async def look_back(self) -> None:
        page = self.page
        await page.get_by_role("navigation").get_by_role("link", name="Conversations").click()
        await page.get_by_role("link", name=re.compile("My desk lamp arrived broken")).first.click()
        await page.get_by_text("80 euro go back to your card").wait_for()
