"""Tests that text of a form or a visitor stays text: on the page, in other pages, and in answers."""

from itertools import cycle

from tests.browser.forms import send, wait_for_thanks
from tests.browser.payloads import PAYLOADS, RUN, assert_nothing_ran


def hostile_form():
    texts = cycle(PAYLOADS)
    typed = (
        "text", "textarea", "email", "phone", "url", "number", "select", "multi_select", "checkbox_group",
        "radio", "checkbox", "date", "datetime", "file", "section", "paragraph", "signature", "rating",
        "slider",
    )  # fmt: skip
    fields = []
    for number in range(2 * len(typed)):
        type = typed[number % len(typed)]
        id = f"f{number}" if number % 2 else f"{number}{next(texts)}"[:64].replace("\u2028", "")
        field = {"id": id, "type": type}
        field |= {name: next(texts) for name in ("label", "placeholder", "help_text", "content")}
        if type in {"select", "multi_select", "checkbox_group", "radio"}:
            field["options"] = [{"value": next(texts), "label": next(texts)} for _ in range(3)]
        if type in {"text", "textarea", "signature"}:
            field["default_value"] = next(texts)
        fields.append(field)
    fields[2]["required"] = True
    settings = {"success_message": PAYLOADS[0], "submit_button_text": "Send", "odd": PAYLOADS[1]}
    settings["spam"] = {"honeypot": PAYLOADS[3][:64]}
    branding = {
        "primary_color": "#123456",
        "logo_url": "/x\"'><script>window.top.ran=1</script>",
        "odd": PAYLOADS[2],
    }
    more = {
        "name": PAYLOADS[0],
        "description": "\n".join(PAYLOADS),
        "settings": settings,
        "branding": branding,
    }
    return fields, more


async def test_no_text_of_a_form_runs_or_becomes_an_element(site, other_site, page):
    fields, more = hostile_form()
    form = await site.make_form(*fields, **more)
    snippets = (await site.call("GET", f"/api/v1/public/forms/{form['slug']}/embed"))["data"]
    assert "ran=1" not in str(snippets)
    script = other_site.publish("hostile", snippets["script_embed"])
    for address in (site.page_of(form), script):
        await page.goto(address)
        await page.get_by_role("button", name="Send", exact=True).wait_for()
        shown = await page.evaluate("document.querySelector('retinue-form').shadowRoot.textContent")
        assert [payload for payload in PAYLOADS if payload not in shown] == []
        await assert_nothing_ran(page)
        await send(page)
        await page.locator(".summary").get_by_text(f"{fields[2]['label']} is required").wait_for()
        await assert_nothing_ran(page)
        await page.locator("input[type=email]").first.fill("a@b.de")
        await send(page)
        await page.locator(".result.good").get_by_text(PAYLOADS[0]).wait_for()
        await assert_nothing_ran(page, has_logo=False)


async def test_no_answer_runs_when_it_comes_back(site, page):
    fields = [
        {"id": f"f{number}", "type": "text", "label": f"Q {number}."} for number in range(len(PAYLOADS))
    ]
    form = await site.make_form(
        *fields, {"id": "mail", "type": "email", "label": "Mail"}, {"id": "ref", "type": "hidden"}
    )
    await page.goto(
        f"{site.page_of(form)}?ref=%3Cimg%20src=x%20onerror={RUN}%3E&f1=<script>{RUN}</script>#<script>"
    )
    for number, payload in enumerate(PAYLOADS):
        await page.get_by_label(f"Q {number}.").fill(payload)
    await page.get_by_label("Mail").fill(PAYLOADS[0])
    await send(page)
    await page.get_by_text("Please look at this again").wait_for()
    await assert_nothing_ran(page, has_logo=False)
    await page.get_by_label("Mail").fill("")
    await page.get_by_role("button", name="Save and continue later").click()
    link = await page.get_by_label("Link to come back").input_value()
    await page.goto(link)
    await page.get_by_label("Q 3.").and_(page.locator("input")).wait_for()
    await assert_nothing_ran(page, has_logo=False)
    await send(page)
    await wait_for_thanks(page)
    for session in ("<script>window.top.ran=1</script>", "../../../auth/login", "x" * 40):
        await page.goto(site.page_of(form, f"?session={session}"))
        await page.get_by_role("button", name="Send", exact=True).wait_for()
        await assert_nothing_ran(page, has_logo=False)


async def test_a_file_is_called_what_it_likes(site, page):
    form = await site.make_form({"id": "paper", "type": "file", "label": "Paper"})
    await page.goto(site.page_of(form))
    name = "<img src=x onerror=window.top.ran=1>.txt"
    await page.get_by_label("Paper").set_input_files(
        {"name": name, "mimeType": "text/html", "buffer": b"harmless"}
    )
    await page.get_by_text("8 bytes").wait_for()
    await assert_nothing_ran(page, has_logo=False)
    await send(page)
    await wait_for_thanks(page)
