"""The page that a link in a mail opens, as an approver sees it."""

from typing import Any

from playwright.async_api import expect

from retinue.approvals.types import Requester
from retinue.users.models import User
from tests.browser.forms import violations
from tests.browser.site import Site
from tests.e2e.chatting import open_database
from tests.factories.approvals import some_approval, some_link

FIELDS = (
    {"id": "why", "type": "text", "label": "Why", "required": True},
    {"id": "much", "type": "number", "label": "How much", "validation": {"max": 100}},
    {"id": "kind", "type": "select", "label": "Kind", "options": ["full", "part"]},
    {"id": "sure", "type": "checkbox", "label": "I am sure"},
    {"id": "teams", "type": "checkbox_group", "label": "Teams", "options": ["sales", "support"]},
    {"id": "trace", "type": "hidden", "label": "Not shown"},
)


async def link_to_approval(site: Site, **more: Any) -> tuple[str, str]:
    """The id of something that waits for the administrator, and the address in the mail."""
    async with open_database(site.server) as ctx:
        admin = await ctx.system("test").find(User, email="admin@example.com")
        assert admin is not None
        ctx.bind_tenant(admin.tenant_id)
        approval = await some_approval(ctx, "usr_someone", admin.id, **more)
        token = await some_link(ctx, approval, admin)
    return approval.id, f"{site.url}/api/v1/public/approvals/{token}"


async def test_what_was_filled_in_is_still_there_when_something_is_wrong(site: Site, page: Any) -> None:
    id, url = await link_to_approval(site, fields=FIELDS)
    await page.goto(url)
    await expect(page.get_by_text("Not shown")).to_have_count(0)
    await page.get_by_label("How much").fill("1000")
    await page.get_by_label("Kind").select_option("part")
    await page.get_by_label("I am sure").check()
    await page.get_by_label("support").check()
    await page.get_by_label("Comment").fill("Well <b>done</b>")
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_role("status")).to_have_text(
        "Nothing is decided yet. Please correct the marked fields."
    )
    assert await violations(page) == []
    await expect(page.get_by_label("Why")).to_have_attribute("aria-invalid", "true")
    await expect(page.get_by_text("must be at most 100")).to_be_visible()
    await expect(page.get_by_label("Comment")).to_have_value("Well <b>done</b>")
    await page.get_by_label("Why").fill("Because")
    await page.get_by_label("How much").fill("10")
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_role("status")).to_have_text("You have approved this.")
    (response,) = (await site.call("GET", f"/api/v1/approvals/{id}"))["data"]["responses"]
    assert response["comment"] == "Well <b>done</b>"
    assert response["data"] == {
        "why": "Because",
        "much": 10,
        "kind": "part",
        "sure": True,
        "teams": ["support"],
    }
    await page.goto(url)
    await expect(page.get_by_role("status")).to_have_text("This was approved.")
    await expect(page.get_by_role("button")).to_have_count(0)


async def test_a_link_that_is_no_good_says_so_on_a_page(site: Site, page: Any) -> None:
    answer = await page.goto(f"{site.url}/api/v1/public/approvals/{'x' * 43}")
    assert answer.status == 404
    await expect(page.get_by_role("heading")).to_have_text("This link cannot be used")
    status, told = await site.answer("GET", f"/api/v1/public/approvals/{'x' * 43}")
    assert (status, told["error"]["code"]) == (404, "approval_not_found")


async def test_who_asks_why_and_for_what_is_shown_and_editable_fields_are_editable(
    site: Site, page: Any
) -> None:
    async with open_database(site.server) as ctx:
        admin = await ctx.system("test").find(User, email="admin@example.com")
        assert admin is not None
    id, url = await link_to_approval(
        site,
        requested_by=Requester("user", admin.id),
        allow_self_approval=True,
        description="The agent Clerk wants to use the tool Refund.",
        editable_fields=("amount", "note", "is_urgent", "lines"),
        payload={
            "tool": "Refund",
            "function": "refund",
            "message": "My money back <b>now</b>!",
            "input": {
                "amount": 120,
                "to": "Ada",
                "note": "Two\nlines",
                "is_urgent": True,
                "lines": [{"sku": "A-1"}],
            },
        },
    )
    await page.goto(url)
    for text in ("asks for your approval", "wants to use the tool Refund.", "My money back <b>now</b>!"):
        await expect(page.get_by_text(text)).to_be_visible()
    await expect(page.get_by_text("Ada", exact=True)).to_be_visible()
    assert await violations(page) == []
    await page.get_by_label("amount").fill("")
    await page.get_by_label("lines").fill("[{]")
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_text("must be a number")).to_be_visible()
    await expect(page.get_by_text("must be valid JSON")).to_be_visible()
    await expect(page.get_by_label("note")).to_have_value("Two\nlines")
    await page.get_by_label("amount").fill("90.5")
    await page.get_by_label("lines").fill('[{"sku": "B-2"}]')
    await page.get_by_label("is_urgent").uncheck()
    await page.get_by_role("button", name="Approve").click()
    await expect(page.get_by_role("status")).to_have_text("You have approved this.")
    decided = (await site.call("GET", f"/api/v1/approvals/{id}"))["data"]
    assert decided["edited_input"] == {"amount": 90.5, "lines": [{"sku": "B-2"}], "is_urgent": False}
    await page.goto(url)
    for name, asked in (("amount", "120"), ("amount", "90.5")):
        await expect(page.locator(f"dt:text-is('{name}') + dd:text-is('{asked}')")).to_be_visible()
