"""Files that a visitor sends with the widget: chosen, pasted and dropped, and refused in words."""

from playwright.async_api import expect

from tests.adapters.llm_server import provider_server
from tests.browser.forms import violations
from tests.browser.widgets import widget_tag
from tests.chat.attaching import CANARY, chats_of, images_in, photo, photo_with_canary

DROP = """(panel, [name, text]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([text], name));
  for (const type of ["dragover", "drop"]) {
    panel.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
  }
}"""
PASTE = """(input, text) => {
  const clipboardData = new DataTransfer();
  clipboardData.items.add(new File([text], "pasted.txt", { type: "text/plain" }));
  input.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
}"""


async def test_files_are_chosen_pasted_dropped_and_refused_in_words(site, other_site, page):
    async with provider_server() as provider:
        tag = await widget_tag(site, provider)
        policy = f"default-src 'none'; script-src {site.url}; connect-src {site.url}; img-src blob:"
        await page.goto(other_site.publish("attachments", tag, policy))
        await page.get_by_role("button", name="Open Help desk").click()
        await page.get_by_role("button", name="Attach files").wait_for()
        picker = page.locator("retinue-chat input[type=file]")
        tray = page.locator("retinue-chat .tray")
        await picker.set_input_files(
            {"name": "holiday.jpg", "mimeType": "image/jpeg", "buffer": photo_with_canary()}
        )
        await expect(tray.get_by_text("holiday.jpg")).to_be_visible()
        await expect(tray.locator("progress")).to_have_count(0)
        await page.get_by_role("dialog").evaluate(DROP, ["notes.md", "# Dropped notes"])
        await page.get_by_label("Ask away").evaluate(PASTE, "Pasted text")
        await expect(tray.get_by_role("listitem")).to_have_count(3)
        await picker.set_input_files({"name": "a.exe", "mimeType": "", "buffer": b"MZ"})
        await tray.get_by_text("This type of file cannot be sent").wait_for()
        assert await violations(page) == []
        await expect(page.get_by_role("button", name="Send")).to_be_enabled()
        provider.says("A red picture, and notes.")
        await page.get_by_role("button", name="Send").click()
        await page.get_by_text("A red picture, and notes.").wait_for()
        await expect(tray).to_be_hidden()
        await expect(page.get_by_role("log").get_by_text("notes.md")).to_be_visible()
        (request,) = chats_of(provider)
        assert len(images_in(request)) == 1
        assert CANARY not in request.body
        assert b"Dropped notes" in request.body
        assert b"Pasted text" in request.body
        # What the service refuses comes back into the field, to be sent without the file that it named.
        field = page.get_by_label("Ask away")
        await field.fill("And what is this?")
        await picker.set_input_files(
            [
                {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"More notes"},
                {"name": "broken.png", "mimeType": "image/png", "buffer": photo(format="PNG")[:40]},
            ]
        )
        await expect(tray.get_by_role("listitem")).to_have_count(2)
        await expect(tray.locator("progress")).to_have_count(0)
        await page.get_by_role("button", name="Send").click()
        await expect(tray.get_by_role("alert")).to_have_text(
            "broken.png cannot be read: damaged, protected or empty."
        )
        await expect(field).to_have_value("And what is this?")
        await expect(page.get_by_role("log").get_by_text("And what is this?")).to_have_count(0)
        await expect(tray.locator("[data-refused]")).to_have_text("broken.png")
        assert await violations(page) == []
        await tray.get_by_role("button", name="Remove broken.png").click()
        await expect(tray.get_by_role("alert")).to_be_empty()
        provider.says("More notes, that is all.")
        await page.get_by_role("button", name="Send").click()
        await page.get_by_text("More notes, that is all.").wait_for()
        await expect(field).to_have_value("")
        assert b"More notes" in chats_of(provider)[-1].body
        # The names of before are shown again.
        await page.reload()
        await page.get_by_role("button", name="Open Help desk").click()
        await expect(page.get_by_role("log").get_by_text("holiday.jpg")).to_be_visible()
