"""Actions of people on a form's page, and checks of the page."""

from functools import cache
from importlib import resources
from typing import Any

EVERY_TYPE = (
    {"type": "section", "label": "About you", "content": "So that we know whom to call."},
    {"id": "name", "type": "text", "label": "Full name", "required": True, "help_text": "As on your card."},
    {"id": "email", "type": "email", "label": "E-mail", "required": True},
    {"id": "phone", "type": "phone", "label": "Phone"},
    {"id": "site", "type": "url", "label": "Web site"},
    {"type": "paragraph", "content": "Prices are without tax.\nDelivery takes a week."},
    {"id": "size", "type": "select", "label": "Size", "options": ["S", "M", "L"]},
    {
        "id": "toppings",
        "type": "checkbox_group",
        "label": "Toppings",
        "options": [{"value": 1, "label": "Olives"}, {"value": 2.0, "label": "Capers"}],
    },
    {
        "id": "languages",
        "type": "multi_select",
        "label": "Languages",
        "options": [f"Language {number}" for number in range(20)],
    },
    {
        "id": "pay",
        "type": "radio",
        "label": "Payment",
        "options": [{"value": "card", "label": "Card"}, {"value": "bill", "label": "Invoice"}],
    },
    {
        "id": "vat",
        "type": "text",
        "label": "VAT number",
        "required": True,
        "conditional": {"field": "pay", "operator": "equals", "value": "bill"},
    },
    {"id": "count", "type": "number", "label": "How many", "validation": {"min": 1, "max": 99}},
    {"id": "day", "type": "date", "label": "Day", "validation": {"min_date": "2026-01-01"}},
    {"id": "moment", "type": "datetime", "label": "Moment"},
    {"id": "stars", "type": "rating", "label": "How do you like us?"},
    {"id": "loud", "type": "slider", "label": "Volume", "validation": {"min": 0, "max": 11}},
    {"id": "notes", "type": "textarea", "label": "Anything else", "placeholder": "Take your time"},
    {
        "id": "paper",
        "type": "file",
        "label": "Paper",
        "validation": {"allowed_types": ["pdf", "txt"], "max_size_mb": 1},
    },
    {"id": "sign", "type": "signature", "label": "Signature"},
    {"id": "ref", "type": "hidden", "default_value": "none"},
    {"id": "ok", "type": "checkbox", "label": "I agree", "required": True},
)
NAME = {"id": "name", "type": "text", "label": "Name", "required": True}
THANKS = "Thank you. Your answers were received."
_LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


async def send(page: Any) -> None:
    await page.get_by_role("button", name="Send", exact=True).click()


async def wait_for_thanks(page: Any, text: str = THANKS) -> None:
    await page.get_by_text(text).wait_for()


async def lose_the_answer(route: Any) -> None:
    """Let the server handle the request, and drop its answer."""
    await route.fetch()
    await route.abort()


async def problems(page: Any) -> dict[str, str]:
    """Return the message of each invalid field, by the label of the field."""
    shown = page.locator(".field.wrong")
    found = {}
    for at in range(await shown.count()):
        field = shown.nth(at)
        label = await field.locator("label, legend").first.inner_text()
        found[label.removesuffix(" *").strip()] = await field.locator(".problem").inner_text()
    return found


# Colours are mixed while something fades in. What never ends, such as a spinner, is not waited for.
_ENDED = """() => Promise.all(document.getAnimations()
  .filter((one) => Number.isFinite(one.effect?.getComputedTiming().endTime))
  .map((one) => one.finished.catch(() => undefined)))"""


async def violations(page: Any, within: str = "html") -> list[str]:
    """Return the violations of WCAG 2.2, levels A and AA, that axe finds in these elements."""
    await page.evaluate(_axe())
    await page.evaluate(_ENDED)
    run = "(within) => axe.run(within, { runOnly: { type: 'tag', values: %s } })" % _LEVELS  # noqa: UP031  braces
    found = await page.evaluate(run, within)
    assert len(found["passes"]) > 5
    return [f"{one['id']}: {node['html']}" for one in found["violations"] for node in one["nodes"]]


@cache
def _axe() -> str:
    return resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
