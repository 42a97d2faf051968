"""Everyone can use the page: with a keyboard alone, with a screen reader, in the dark, on a phone."""

import pytest

from tests.browser.forms import EVERY_TYPE, send, violations, wait_for_thanks

FOCUSED = """(() => {
  const element = document.querySelector("retinue-form").shadowRoot.activeElement;
  return element?.getAttribute("aria-label") ?? element?.labels?.[0]?.textContent ?? element?.textContent;
})()"""


GREY = {"primary_color": "#777"}
YELLOW = {"primary_color": "#ffe600", "background_color": "#112233"}


@pytest.mark.parametrize(
    ("scheme", "branding"),
    [
        ("light", {}),
        ("dark", YELLOW),
        *(pytest.param(*more, marks=pytest.mark.slow) for more in (
            ("light", YELLOW), ("dark", {}), ("light", GREY), ("dark", GREY),
        )),
    ],
)  # fmt: skip
async def test_axe_finds_nothing_on_the_page_whatever_its_colours(site, page, scheme, branding):
    await page.emulate_media(color_scheme=scheme)
    form = await site.make_form(*EVERY_TYPE, description="What it is about.", branding=branding)
    await page.goto(site.page_of(form))
    await page.get_by_label("3 of 5").check(force=True)
    await page.get_by_label("Invoice").check()
    await page.get_by_role("button", name="Save and continue later").click()
    await page.get_by_label("Link to come back").wait_for()
    assert await violations(page) == []


@pytest.mark.journey
async def test_the_whole_form_is_filled_in_with_the_keyboard_alone(site, page):
    kinds = ("text", "select", "radio", "rating", "slider", "signature", "checkbox")
    asked = [one for one in EVERY_TYPE if one["type"] in kinds]
    form = await site.make_form(*asked)
    await page.goto(site.page_of(form))
    await page.get_by_label("Full name").focus()
    await page.keyboard.type("Ada")
    for keys, label in (
        (("Tab", "m"), "Size"),
        (("Tab", "Space"), "Card"),
        (("ArrowDown",), "Invoice"),
        (("Tab",), "Clear Payment"),
        (("Tab", "G", "B"), "VAT number *"),
        (("Tab", "Space"), "1 of 5★"),
        (("ArrowRight", "ArrowRight"), "3 of 5★"),
        (("Tab", "Tab", "ArrowRight"), "Volume"),
        (("Tab", "A"), "Sign above, or write your name:"),
        (("Tab", "Space"), "I agree *"),
        (("Tab",), "Send"),
    ):
        for key in keys:
            await page.keyboard.press(key)
        assert await page.evaluate(FOCUSED) == label
    await page.keyboard.press("Enter")
    await wait_for_thanks(page)
    focused = "document.querySelector('retinue-form').shadowRoot.activeElement.getAttribute('role')"
    assert await page.evaluate(focused) == "status"
    assert await violations(page) == []
    (kept,) = await site.submissions(form)
    expected = {"name": "Ada", "size": "M", "pay": "bill", "vat": "GB", "stars": 3, "sign": "A", "ok": True}
    assert kept["data"] == {**expected, "loud": kept["data"]["loud"]}


async def test_nothing_is_wider_than_a_phone(site, page):
    await page.set_viewport_size({"width": 320, "height": 640})
    form = await site.make_form(
        *EVERY_TYPE, {"type": "text", "label": "Donaudampfschifffahrtsgesellschaft" * 4}, name="W" * 100
    )
    await page.goto(site.page_of(form))
    await page.get_by_label("E-mail").fill("nobody")
    await send(page)
    await page.get_by_text("Please look at this again").wait_for()
    assert await page.evaluate("document.documentElement.scrollWidth") == 320


async def test_the_other_pages_of_ours_share_its_style(site, page):
    await page.goto(f"{site.url}/register")
    assert await page.evaluate("getComputedStyle(document.querySelector('main')).borderRadius") == "10px"
    assert await violations(page) == []
