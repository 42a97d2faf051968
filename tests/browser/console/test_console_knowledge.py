"""The knowledge of an agent in the console: adding documents, their passages, and what a question finds."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from playwright.async_api import expect

from tests.browser.console.library import serve_library
from tests.browser.console.steps import AGENTS, axe, new_person, open_page
from tests.browser.site import Site

GUIDE = "# Returns\n\n" + "\n\n".join(
    f"## Part {number}\n\nRule {number}: parcel {number} goes back within {number} weeks."
    for number in range(1, 31)
)
PUMP = {"name": "pump.txt", "mimeType": "text/plain", "buffer": b"The pump AX-4410 runs dry without oil."}
TANK = {"name": "tank.txt", "mimeType": "text/plain", "buffer": b"The tank holds nine litres of water."}


@pytest.fixture(scope="module")
async def library(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    """A server whose vectors come from a model of the test."""
    async with serve_library(tmp_path_factory.mktemp("library")) as (site, _):
        yield site


@pytest.fixture
async def agent(library: Site) -> str:
    body = {"name": "Clerk", "primary_model": "any/model", "system_prompt": "You answer from documents."}
    return (await library.call("POST", AGENTS, body))["id"]


def row(page: Any, name: str) -> Any:
    return page.get_by_role("row", name=re.compile(re.escape(name)))


async def add(page: Any, *files: Any) -> None:
    await page.locator("input[type=file]").set_input_files(list(files))


async def is_indexed(page: Any, name: str) -> None:
    await row(page, name).get_by_text("Indexed").last.wait_for()


@pytest.mark.journey
async def test_files_are_added_indexed_read_asked_and_deleted(library, page, agent):
    await open_page(library, page, f"/agents/{agent}")
    await page.get_by_role("link", name="Knowledge").click()
    await page.get_by_role("heading", name="No documents yet").wait_for()
    await add(page, PUMP, TANK)
    await is_indexed(page, "pump.txt")
    await is_indexed(page, "tank.txt")
    # The question finds the passage by its code, and says so.
    await page.get_by_label("Question for the index").fill("Why does AX-4410 run dry?")
    await page.keyboard.press("Enter")
    given = page.get_by_role("region", name="Given to the model", exact=True)
    await given.get_by_role("link", name="pump.txt").wait_for()
    await expect(given.locator("mark").filter(has_text="AX-4410")).to_have_count(1)
    await expect(
        given.get_by_role("img", name=re.compile("Score .* of 1: .* meaning .* words"))
    ).to_have_count(1)
    await given.get_by_role("link", name="pump.txt").click()
    passages = page.get_by_role("complementary", name="Passages")
    await passages.get_by_text("The pump AX-4410 runs dry without oil.").wait_for()
    assert "document=doc_" in page.url
    await page.keyboard.press("Escape")
    # A document that is left out is not found any more.
    await row(page, "pump.txt").get_by_role("switch").click(force=True)
    await expect(row(page, "pump.txt").get_by_role("switch")).not_to_be_checked()
    await page.get_by_label("Question for the index").fill("AX-4410")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("link", name="pump.txt")).to_have_count(1)
    await page.get_by_label("Select all documents").check()
    await page.get_by_role("toolbar").get_by_role("button", name="Delete").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete 2 documents").click()
    await page.get_by_role("heading", name="No documents yet").wait_for()
    listed = await library.call("GET", f"{AGENTS}/{agent}/documents")
    assert listed["pagination"]["total"] == 0


async def test_whoever_leaves_while_files_are_on_their_way_is_asked(library, page, agent):
    await page.route("**/train?**", lambda _: None)
    await open_page(library, page, f"/agents/{agent}/knowledge")
    await add(page, PUMP)
    await page.get_by_role("progressbar", name="pump.txt").wait_for()
    leave = page.get_by_role("link", name="Share")
    await leave.click()
    dialog = page.get_by_role("dialog", name="Stop the uploads?")
    await dialog.get_by_role("button", name="Cancel").click()
    await page.get_by_role("progressbar", name="pump.txt").wait_for()
    await leave.click()
    async with page.expect_event("requestfailed"):
        await dialog.get_by_role("button", name="Stop uploads").click()
    await page.wait_for_url(f"**/agents/{agent}/share**")


async def test_a_file_that_is_there_already_is_added_again_only_on_request(library, page, agent):
    await open_page(library, page, f"/agents/{agent}/knowledge")
    await add(page, PUMP)
    await is_indexed(page, "pump.txt")
    await add(page, {**PUMP, "name": "pump (1).txt"})
    uploads = page.get_by_role("list", name="Uploads")
    await uploads.get_by_text("Not added again: pump.txt has the same content.").wait_for()
    await expect(page.get_by_role("row", name=re.compile("pump"))).to_have_count(1)
    assert await axe(page) == []
    await uploads.get_by_role("button", name="Add anyway").click()
    await is_indexed(page, "pump (1).txt")
    await expect(uploads).to_have_count(0)
    listed = await library.call("GET", f"{AGENTS}/{agent}/documents")
    assert sorted(one["name"] for one in listed["data"]) == ["pump (1).txt", "pump.txt"]


async def test_what_cannot_be_read_says_why_and_what_to_do(library, page, agent):
    await open_page(library, page, f"/agents/{agent}/knowledge")
    image = {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": b"x"}
    broken = {"name": "broken.pdf", "mimeType": "application/pdf", "buffer": b"not a pdf"}
    await add(page, image, {**TANK, "name": "none.txt", "buffer": b""}, broken)
    uploads = page.get_by_role("list", name="Uploads")
    await uploads.get_by_text("This type of file is not supported.").wait_for()
    await uploads.get_by_text("The file is empty.").wait_for()
    await row(page, "broken.pdf").get_by_text("Failed").last.wait_for()
    await row(page, "broken.pdf").get_by_text("export it as PDF or text").wait_for()
    await uploads.get_by_role("button", name="Remove photo.jpg from the list").click()
    await uploads.get_by_role("button", name="Remove none.txt from the list").click()
    await expect(uploads).to_have_count(0)


@pytest.mark.slow
async def test_text_is_pasted_and_files_are_dropped(library, page, agent):
    await open_page(library, page, f"/agents/{agent}/knowledge")
    await page.get_by_role("button", name="Paste text").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Name").fill("Opening hours")
    await dialog.get_by_label("Text").fill("We open at nine.")
    await dialog.get_by_role("button", name="Add").click()
    await is_indexed(page, "Opening hours.md")
    drop = """(target) => {
      const data = new DataTransfer();
      data.items.add(new File(["The lid is blue."], "lid.txt"));
      target.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
    }"""
    await page.get_by_text("Drop files to add them").evaluate(drop)
    await is_indexed(page, "lid.txt")


@pytest.mark.slow
async def test_a_long_document_is_read_page_by_page_and_reindexed(library, page, agent):
    await open_page(library, page, f"/agents/{agent}/knowledge")
    await add(page, {"name": "guide.md", "mimeType": "text/markdown", "buffer": GUIDE.encode()})
    await is_indexed(page, "guide.md")
    await page.get_by_role("link", name="guide.md").click()
    passages = page.get_by_role("complementary", name="Passages")
    await passages.get_by_text("30 passages").wait_for()
    await passages.get_by_text("Returns > Part 1", exact=True).wait_for()
    await passages.get_by_role("button", name="Show more").click()
    await passages.get_by_text("Rule 30:").wait_for()
    await row(page, "guide.md").get_by_role("button", name="More for guide.md").click()
    await page.get_by_role("menuitem", name="Reindex").click()
    await is_indexed(page, "guide.md")
    await page.get_by_label("Find a document").fill("nothing like it")
    await page.get_by_role("heading", name="Nothing found").wait_for()
    await page.get_by_role("button", name="Clear filters").click()
    await row(page, "guide.md").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_in_the_knowledge_of_an_agent(library, page, agent, scheme):
    await page.emulate_media(color_scheme=scheme)
    await open_page(library, page, f"/agents/{agent}/knowledge")
    await page.get_by_role("heading", name="No documents yet").wait_for()
    assert await axe(page) == []
    await add(page, PUMP, TANK, {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": b"x"})
    await is_indexed(page, "pump.txt")
    await is_indexed(page, "tank.txt")
    await page.get_by_label("Question for the index").fill("How much water is in the tank?")
    await page.keyboard.press("Enter")
    await page.get_by_role("region", name="Given to the model", exact=True).wait_for()
    await page.get_by_label("Select tank.txt").check()
    for width in (1440, 1024, 390):
        await page.set_viewport_size({"width": width, "height": 900})
        assert await axe(page) == [], width
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
    await page.get_by_role("link", name="tank.txt").first.click()
    await page.get_by_role("complementary", name="Passages").get_by_text("nine litres").wait_for()
    for width in (390, 1440):
        await page.set_viewport_size({"width": width, "height": 900})
        assert await axe(page) == [], width


async def test_somebody_who_may_only_read_sees_documents_and_changes_nothing(library, page, agent):
    person = await new_person(library)
    (user,) = (await library.call("GET", f"/users?search={person.email.partition('@')[0]}"))["users"]
    await library.call("PUT", f"/users/{user['id']}/role", {"role": "viewer"})
    await page.goto(f"{library.url}/console/agents/{agent}/knowledge")
    await page.get_by_label("Email").fill(person.email)
    await page.get_by_label("Password", exact=True).fill(person.password)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("heading", name="No documents yet").wait_for()
    await expect(page.get_by_role("button", name="Choose files")).to_have_count(0)
    await page.get_by_label("Question for the index").wait_for()
