"""The page Chat of the console: own chats by day, whom to ask, the roles that land there, and phones."""

import contextlib
import re
import sqlite3
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from playwright.async_api import expect

from tests.adapters.llm_server import KEY, ProviderServer, provider_server
from tests.browser.console.steps import AGENTS, LOOKS, Person, axe, new_person, sign_in_as
from tests.browser.site import Site
from tests.e2e.load import call
from tests.e2e.processes import ServerProcess

PHONE = {"width": 390, "height": 844}
CHATS = "/api/v1/conversations"
CHAT_ONLY = ["agents:chat", "conversations:read", "conversations:write", "files:read", "files:write"]
# How long the page's own scripts may work for one key or click.
MAX_SCRIPT_MS = 100


class Shop(msgspec.Struct):
    """A server of its own, as roles change and thousands of chats are written into its database."""

    site: Site
    provider: ProviderServer
    folder: Path
    agents: dict[str, str]

    async def person(self, role: str = "agent_user") -> Person:
        person = await new_person(self.site)
        await self.site.call("PUT", f"/users/{await self.id_of(person)}/role", {"role": role})
        return person

    async def id_of(self, person: Person) -> str:
        users = await self.site.call("GET", f"/users?search={person.email}")
        return users["users"][0]["id"]

    async def token_of(self, person: Person) -> str:
        body = {"email": person.email, "password": person.password}
        return (await call(self.site.server.port, "POST", "/auth/login", body=body))[1]["access_token"]

    async def ask(self, person: Person, question: str, agent: str = "Lamp desk") -> str:
        """Have this person ask; return the id of the conversation."""
        self.provider.says(f"About: {question}")
        status, reply = await call(
            self.site.server.port,
            "POST",
            f"{AGENTS}/{self.agents[agent]}/chat",
            token=await self.token_of(person),
            body={"message": question},
        )
        assert status == 200, reply
        return reply["conversation_id"]

    def change_database(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        with contextlib.closing(sqlite3.connect(self.folder / "data" / "retinue.db")) as database, database:
            database.executemany(statement, rows)

    def copy_chat(self, conversation_id: str, count: int) -> None:
        """Store copies of a conversation, one for each half hour before it."""
        with contextlib.closing(sqlite3.connect(self.folder / "data" / "retinue.db")) as database:
            database.row_factory = sqlite3.Row
            found = database.execute(
                "SELECT * FROM conversations WHERE id = ?", (conversation_id,)
            ).fetchone()
        stored = dict(found)
        rows = []
        for number in range(count):
            at = datetime.now(UTC) - timedelta(minutes=30 * (number + 1))
            written = at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond:06d}Z"
            changed = {
                "id": f"conv_{number:026d}",
                "title": f"Earlier question {number}",
                "last_message_at": written,
                "last_message_hour": written[: len(stored["last_message_hour"])],
            }
            rows.append(tuple({**stored, **changed}.values()))
        marks = ", ".join("?" * len(stored))
        self.change_database(f"INSERT INTO conversations ({', '.join(stored)}) VALUES ({marks})", rows)


@pytest.fixture(scope="module")
async def shop(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    async with provider_server() as provider:
        server = ServerProcess(folder, is_shared=True, RETINUE_DEFAULT_PLAN="enterprise")
        server.env["RETINUE_BASE_URL"] = f"http://127.0.0.1:{server.port}"
        async with server:
            await server.start()
            site = await Site(server).sign_in()
            key = {"provider": "openai_compatible", "name": "m", "api_key": KEY, "models": ["m"]}
            await site.call("POST", "/api/v1/api-keys", {**key, "base_url": f"{provider.url}/v1"})
            agents = {}
            for name, description in (
                ("Lamp desk", "Bulbs, spare parts, wiring and what to tell a customer."),
                ("Staff handbook", "Shifts, leave, expenses and how we do things here."),
            ):
                body = {"primary_model": "openai_compatible/m", "system_prompt": "You help.", "name": name}
                starters = [f"{name}: the first question?", f"{name}: the second one?"]
                made = await site.call(
                    "POST", AGENTS, {**body, "description": description, "starters": starters}
                )
                await site.call("POST", f"{AGENTS}/{made['id']}/publish")
                agents[name] = made["id"]
            yield Shop(site, provider, folder, agents)


@pytest.fixture
async def chat_only(shop: Shop) -> AsyncIterator[Person]:
    """Somebody who may chat and sees no agents."""
    held = (await shop.site.call("GET", "/roles/viewer/permissions"))["permissions"]
    await shop.site.call("PUT", "/roles/viewer/permissions", {"permissions": CHAT_ONLY})
    yield await shop.person("viewer")
    await shop.site.call("PUT", "/roles/viewer/permissions", {"permissions": held})


def chats(page: Any) -> Any:
    return page.get_by_role("navigation", name="Your chats")


def greeting(page: Any) -> Any:
    return page.get_by_role("heading", name=re.compile("(Good (morning|afternoon|evening)|Hello), Ada"))


async def fits(page: Any) -> bool:
    return await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_who_does_not_build_lands_on_chat_and_asks_an_agent(shop, page):
    person = await shop.person()
    await sign_in_as(shop.site, page, person, "/")
    await greeting(page).wait_for()
    await expect(page).to_have_url(re.compile("/console/chat$"))
    await page.get_by_role("radio", name=re.compile("Staff handbook")).click()
    shop.provider.says("You can swap it yourselves.")
    shop.provider.says("Swapping a shift")
    await page.get_by_role("button", name="Staff handbook: the first question?").click()
    await page.get_by_role("log").get_by_text("You can swap it yourselves.").wait_for()
    await expect(page).to_have_url(re.compile("/chat/conv_"))
    await expect(greeting(page)).to_be_hidden()
    await page.get_by_role("heading", name="Swapping a shift", level=1).wait_for()
    row = chats(page).get_by_role("link", name=re.compile("Swapping a shift"))
    await expect(row).to_have_attribute("aria-current", "page")
    await page.reload()
    await page.get_by_role("log").get_by_text("You can swap it yourselves.").wait_for()
    await page.get_by_role("link", name="Home").click()
    await expect(page).to_have_url(re.compile("/console/$"))
    await page.get_by_role("heading", level=1).wait_for()


async def test_chats_are_found_renamed_archived_and_deleted_by_key(shop, page):
    person = await shop.person()
    for question in ("Bulbs for the globe", "Late parcels", "Dimmer hums"):
        await shop.ask(person, question)
    await sign_in_as(shop.site, page, person, "/chat")
    rows = chats(page).get_by_role("listitem")
    await expect(rows).to_have_count(3)
    await page.keyboard.press("j")
    await page.keyboard.press("F2")
    await page.get_by_role("dialog").get_by_label("Title").fill("The dimmer")
    await page.keyboard.press("Enter")
    await chats(page).get_by_text("The dimmer").wait_for()
    await page.get_by_role("dialog").wait_for(state="detached")
    await chats(page).get_by_role("link", name=re.compile("Late parcels")).focus()
    await page.keyboard.press("e")
    await page.get_by_role("button", name="Undo").wait_for()
    await expect(rows).to_have_count(2)
    await page.get_by_role("button", name="Archive", exact=True).press("Enter")
    await chats(page).get_by_role("link", name=re.compile("Late parcels")).focus()
    await page.keyboard.press("e")
    await page.get_by_text("Chats that you archive stand here").wait_for()
    await page.get_by_role("button", name="Yours").press("Enter")
    await expect(rows).to_have_count(3)
    await page.keyboard.press("/")
    await page.keyboard.type("globe")
    await expect(rows).to_have_count(1)
    await page.keyboard.press("Escape")
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.get_by_role("heading", name="Bulbs for the globe", level=1).wait_for()
    await page.get_by_role("button", name="More", exact=True).click()
    await page.get_by_role("menuitem", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await page.get_by_text("No chat is called “globe”.").wait_for()
    await greeting(page).wait_for()


async def test_a_builder_sees_own_chats_alone_and_no_trials(shop, page):
    builder, other = await shop.person("agent_developer"), await shop.person()
    await shop.ask(other, "Nobody else reads this")
    await shop.ask(builder, "My own question")
    shop.provider.says("Tried.")
    await call(
        shop.site.server.port,
        "POST",
        f"{AGENTS}/{shop.agents['Lamp desk']}/chat",
        token=await shop.token_of(builder),
        body={"message": "Only a trial", "version": "draft"},
    )
    await sign_in_as(shop.site, page, builder, "/")
    await greeting(page).wait_for()
    await expect(page).to_have_url(re.compile("/console/$"))
    await page.keyboard.press("g")
    await page.keyboard.press("b")
    await expect(chats(page).get_by_role("listitem")).to_have_count(1)
    await chats(page).get_by_text("My own question").wait_for()
    await page.keyboard.press("c")
    await page.get_by_role("menuitem", name="New chat").wait_for()


async def test_what_a_colleague_shares_stands_under_shared(shop, page):
    owner, reader = await shop.person(), await shop.person()
    talk = await shop.ask(owner, "Wiring of the window display")
    share = {"audience": "people", "user_ids": [await shop.id_of(reader)]}
    token = await shop.token_of(owner)
    await call(shop.site.server.port, "PUT", f"{CHATS}/{talk}/share", token=token, body=share)
    await sign_in_as(shop.site, page, reader, "/chat")
    await page.get_by_text("Your chats will stand here.").wait_for()
    await page.get_by_role("button", name="Shared").click()
    await chats(page).get_by_role("link", name=re.compile("Wiring of the window")).click()
    await page.get_by_text("About: Wiring of the window display").wait_for()
    await page.get_by_role("button", name="More", exact=True).click()
    await page.get_by_role("menuitem", name="As text").wait_for()
    assert await page.get_by_role("menuitem", name="Rename").count() == 0


async def test_who_only_chats_has_the_chats_as_navigation(shop, page, chat_only):
    await shop.ask(chat_only, "How do I swap a shift?")
    refused = []
    page.on("response", lambda one: refused.append(one.url) if one.status in {401, 403} else None)
    await page.set_viewport_size({"width": 1280, "height": 800})
    await sign_in_as(shop.site, page, chat_only, "/")
    await greeting(page).wait_for()
    refused.clear()
    main = page.get_by_role("navigation", name="Main")
    assert [await one.inner_text() for one in await main.get_by_role("link").all()] == [
        "New chat\nN",
        "How do I swap a shift?\nwith Lamp desk",
        "Inbox",
    ]
    assert await axe(page) == []
    await main.get_by_text("How do I swap a shift?").click()
    await page.get_by_text("About: How do I swap a shift?").wait_for()
    await main.get_by_role("link", name="Inbox").click()
    await page.get_by_role("heading", name="Inbox").wait_for()
    await page.goto(f"{shop.site.url}/console/")
    await greeting(page).wait_for()
    assert refused == []


async def test_on_a_phone_the_list_is_the_page_behind_the_chat(shop, page, chat_only):
    await shop.ask(chat_only, "Which bulb fits?")
    await page.set_viewport_size(PHONE)
    await sign_in_as(shop.site, page, chat_only, "/")
    await greeting(page).wait_for()
    quick = page.get_by_role("navigation", name="Quick")
    await expect(quick).to_be_hidden()
    assert await axe(page) == []
    await page.get_by_role("link", name="Your chats").click()
    await expect(quick.get_by_role("link", name="Inbox")).to_be_visible()
    assert await fits(page)
    assert await axe(page) == []
    await chats(page).get_by_role("link", name=re.compile("Which bulb fits")).click()
    await page.get_by_text("About: Which bulb fits?").wait_for()
    await expect(quick).to_be_hidden()
    assert await axe(page) == []


async def test_phones_have_a_tab_for_chat_and_agents_under_more(shop, page):
    await page.set_viewport_size(PHONE)
    await sign_in_as(shop.site, page, await shop.person(), "/inbox")
    quick = page.get_by_role("navigation", name="Quick")
    await quick.get_by_role("link", name="Chat").wait_for()
    assert await quick.get_by_role("link").all_inner_texts() == ["Home", "Chat", "Approvals", "Inbox"]
    await quick.get_by_role("button", name="More").click()
    await page.get_by_role("menuitem", name="Agents").wait_for()


async def test_a_viewer_has_no_chat_and_reads_what_is_missing(shop, page):
    await sign_in_as(shop.site, page, await shop.person("viewer"), "/")
    await page.get_by_role("heading", level=1).wait_for()
    await expect(page).to_have_url(re.compile("/console/$"))
    assert await page.get_by_role("link", name="Chat", exact=True).count() == 0
    await page.goto(f"{shop.site.url}/console/chat")
    await page.get_by_role("heading", name="You cannot see this").wait_for()
    await page.locator("code", has_text="agents:chat").wait_for()


async def test_without_an_agent_the_page_says_whom_to_ask(site, shop, page):
    for agent_id in shop.agents.values():
        await shop.site.call("POST", f"{AGENTS}/{agent_id}/archive")
    await sign_in_as(shop.site, page, await shop.person(), "/chat")
    await page.get_by_role("heading", name="No agent is shared with you").wait_for()
    await page.get_by_text("can do that").wait_for()
    assert await axe(page) == []
    for agent_id in shop.agents.values():
        await shop.site.call("POST", f"{AGENTS}/{agent_id}/restore")
        await shop.site.call("POST", f"{AGENTS}/{agent_id}/publish")


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
async def test_the_page_is_accessible_in_every_look(shop, page, scheme, width):
    person = await shop.person()
    talk = await shop.ask(person, "Is the brass lamp safe for a bathroom?")
    await page.set_viewport_size({"width": width, "height": 900})
    await page.emulate_media(color_scheme=scheme)
    await sign_in_as(shop.site, page, person, "/chat")
    await greeting(page).wait_for()
    for path in ("/chat", "/chat?list=true", f"/chat/{talk}"):
        await page.goto(f"{shop.site.url}/console{path}")
        await page.get_by_text("Is the brass lamp safe").first.wait_for(state="attached")
        assert await axe(page) == [], path
        assert await fits(page), path


async def script_ms(page: Any) -> float:
    """Return the time that scripts of the page have worked so far."""
    session = await page.context.new_cdp_session(page)
    await session.send("Performance.enable")
    metrics = (await session.send("Performance.getMetrics"))["metrics"]
    await session.detach()
    return 1000 * next(one["value"] for one in metrics if one["name"] == "ScriptDuration")


async def test_ten_thousand_chats_stay_quick(shop, page):
    person = await shop.person()
    shop.copy_chat(await shop.ask(person, "The newest question"), 10_000)
    await sign_in_as(shop.site, page, person, "/chat")
    rows = chats(page).get_by_role("listitem")
    await page.get_by_text("10,001").wait_for()
    assert await rows.count() < 80
    for number in range(1, 6):
        before = await script_ms(page)
        await chats(page).evaluate("list => list.scrollTo(0, list.scrollHeight)")
        await expect(chats(page)).not_to_have_attribute("aria-busy", "true")
        await page.get_by_text(f"Earlier question {100 * number}", exact=True).wait_for(state="attached")
        assert await script_ms(page) - before < MAX_SCRIPT_MS, number
    assert await rows.count() < 80
    before = await script_ms(page)
    await page.keyboard.press("/")
    await page.keyboard.type("question 9999")
    await expect(rows).to_have_count(1)
    assert await script_ms(page) - before < MAX_SCRIPT_MS * len("/question 9999")
