"""Makes the pictures of the console in docs/pictures, from a server that runs, with a scripted model.

`python scripts/pictures.py` makes all of them; `python scripts/pictures.py home agents` these, and
`python scripts/pictures.py tutorial` those of the tutorial, whose steps are the ones that its test takes.
"""

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from playwright.async_api import Browser, Page, ViewportSize, async_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.adapters.llm_replies import Call  # noqa: E402  the scripted model is that of the tests
from tests.adapters.llm_server import KEY, ProviderServer, provider_server  # noqa: E402
from tests.browser.conftest import CHROMIUM  # noqa: E402
from tests.browser.console.new_server import NewServer  # noqa: E402
from tests.browser.console.steps import AGENTS, open_page  # noqa: E402
from tests.browser.console.tutorial import Day, running_shop  # noqa: E402
from tests.browser.site import Site  # noqa: E402
from tests.client import multipart  # noqa: E402
from tests.e2e.load import call  # noqa: E402
from tests.e2e.processes import ServerProcess  # noqa: E402
from tests.factories.knowledge import EMBEDDING_MODEL  # noqa: E402
from tests.tools.servers.rest_api import rest_api  # noqa: E402

FOLDER = ROOT / "docs/pictures"
SIZE: ViewportSize = {"width": 1280, "height": 800}
MODEL = "openai_compatible/desk-large"
QUESTION = "Order 10482 arrived broken. Can I have my money back?"
GUIDE = b"""# Returns

Orders can be returned within 30 days of delivery. A refund goes to the card that paid.

# Damaged goods

Whoever received something broken gets a new one or a refund, as they prefer.
No photo is needed below 200 euro.

# Delivery

Parcels take two to four days. Express parcels arrive on the next working day.
"""
PROMPT = """You answer customers of a lamp shop, in their language and in a few sentences.
Use the documents; if they do not say it, say so and offer a colleague.
Refunds go through the tool. Name the amount and the order before you call it."""
PLACES = {
    "agents": "/agents",
    "build": "/agents/{agent}",
    "knowledge": "/agents/{agent}/knowledge",
    "share": "/agents/{agent}/share",
    "versions": "/agents/{agent}/versions",
    "statistics": "/agents/{agent}/statistics",
    "compare": "/agents/{agent}/compare",
    "conversation": "/conversations/{conversation}",
    "approvals": "/approvals?id={approval}",
    "models": "/settings/models",
    # Last, because it shows where one has been.
    "home": "/",
}


TUTORIAL = "tutorial"
CUSTOMER: ViewportSize = {"width": 800, "height": 720}
PHONE: ViewportSize = {"width": 390, "height": 844}


async def main(wanted: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        if not wanted or set(wanted) & set(PLACES):
            await _show_places(browser, wanted)
        if not wanted or TUTORIAL in wanted:
            await _follow_tutorial(browser)
        await browser.close()


async def _show_places(browser: Browser, wanted: list[str]) -> None:
    async with _shop() as (site, ids):
        page = await _new_page(browser, SIZE)
        await open_page(site, page, "/")
        for name, place in PLACES.items():
            if not wanted or name in wanted:
                await page.goto(f"{site.url}/console{place.format(**ids)}")
                await _prepare(page, name)
                await _take_picture(name, page)


async def _follow_tutorial(browser: Browser) -> None:
    """Live the day of the tutorial on a new server, and take its pictures on the way."""

    async def picture(name: str, page: Page) -> None:
        await page.wait_for_timeout(1_000)
        await _take_picture(f"{TUTORIAL}-{name}", page)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with provider_server() as provider, running_shop(folder) as shop, NewServer(folder) as server:
            await server.start()
            day = Day(server, provider, shop, await _new_page(browser, SIZE), picture)
            await day.follow(await _new_page(browser, CUSTOMER), await _new_page(browser, PHONE))


async def _new_page(browser: Browser, size: ViewportSize) -> Page:
    return await (await browser.new_context(viewport=size, locale="en-GB")).new_page()


async def _take_picture(name: str, page: Page) -> None:
    await page.screenshot(path=FOLDER / f"{name}.png")
    print(f"docs/pictures/{name}.png")


@asynccontextmanager
async def _shop() -> AsyncIterator[tuple[Site, dict[str, str]]]:
    """A server with agents, a document, a conversation and a refund that waits."""
    folder = tempfile.TemporaryDirectory()
    async with (
        provider_server() as provider,
        rest_api() as remote,
        ServerProcess(Path(folder.name), "", RETINUE_EMBEDDING_MODEL=EMBEDDING_MODEL) as server,
    ):
        await server.start()
        site = await Site(server).sign_in()
        yield site, await _fill(site, provider, remote.url)
    folder.cleanup()


async def _fill(site: Site, provider: ProviderServer, tool_url: str) -> dict[str, str]:
    key = {"provider": "openai_compatible", "name": "Desk", "api_key": KEY, "base_url": f"{provider.url}/v1"}
    await site.call("POST", "/api/v1/api-keys", key)
    price = {"model": MODEL, "input_price_per_mtok": 15, "output_price_per_mtok": 75}
    await site.call("PUT", "/api/v1/model-prices", price)
    await site.call("PUT", "/api/v1/profile", {"first_name": "Ada", "last_name": "Sample"})
    for template in (await site.call("GET", f"{AGENTS}/templates"))["data"][:5]:
        await site.call(
            "POST",
            AGENTS,
            {name: template[name] for name in ("name", "description", "system_prompt")}
            | {"primary_model": "local/smollm2-135m"},
        )
    body = {
        "name": "Lamp desk",
        "description": "Answers customers of the lamp shop.",
        "system_prompt": PROMPT,
    }
    agent = await site.call("POST", AGENTS, {**body, "primary_model": MODEL, "status": "published"})
    path = f"{AGENTS}/{agent['id']}"
    await call(
        site.server.port,
        "POST",
        f"{path}/train",
        token=site.token,
        headers={"Content-Type": "multipart/form-data; boundary=XXtestXX"},
        form=multipart({"files": ("returns.md", GUIDE, "text/markdown")}, {}),
    )
    # Another process does the work.
    while (await site.call("GET", f"{path}/status"))["training"]["status"] == "training":  # noqa: ASYNC110
        await asyncio.sleep(0.2)
    conversation = await _talk(site, provider, path)
    approval = await _ask_for_refund(site, provider, path, tool_url)
    return {"agent": agent["id"], "conversation": conversation, "approval": approval}


async def _talk(site: Site, provider: ProviderServer, path: str) -> str:
    provider.says("Yes: damaged goods are replaced or refunded, as you prefer [1]. Which one would you like?")
    reply = await site.call("POST", f"{path}/chat", {"message": QUESTION})
    provider.says("A refund goes to the card that paid. I ask a colleague to release it.")
    more = {"message": "A refund.", "conversation_id": reply["conversation_id"]}
    await site.call("POST", f"{path}/chat", more)
    return str(reply["conversation_id"])


async def _ask_for_refund(site: Site, provider: ProviderServer, path: str, tool_url: str) -> str:
    config = {"config": {"url": tool_url, "method": "POST"}, "tool_type": "webhook", "auth_type": "none"}
    rule = {
        "approvers": {"roles": ["super_admin"]},
        "allow_self_approval": True,
        "editable_fields": ["amount"],
    }
    tool = {"name": "Refund", "category": "custom", **config, "requires_approval": True, "approval": rule}
    made = (await site.call("POST", "/v1/tools", tool))["data"]
    await site.call("POST", f"/v1{path.removeprefix('/api/v1')}/tools", {"tool_id": made["id"]})
    asked: dict[str, Any] = {"order": "10482", "amount": 149, "currency": "EUR"}
    provider.says("I ask a colleague.", Call(made["slug"], msgspec.json.encode(asked).decode(), "call_1"))
    reply = await site.call("POST", f"{path}/chat", {"message": QUESTION})
    return str(reply["tool_calls"][-1]["approval_id"])


async def _prepare(page: Page, name: str) -> None:
    """Wait until the screen stands still, and do what shows it best."""
    await page.get_by_role("heading", level=1).first.wait_for()
    await page.wait_for_timeout(1_000)
    if name == "knowledge":
        await page.get_by_placeholder("How long can an order be returned?").fill("Who gets a refund?")
        await page.get_by_role("button", name="Ask", exact=True).click()
    await page.wait_for_timeout(2_000)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
