"""Forms in the pages of others: both snippets as the API gives them."""

import pytest

from tests.browser.forms import EVERY_TYPE, NAME, send, violations, wait_for_thanks

PAPER = next(one for one in EVERY_TYPE if one.get("id") == "paper")


async def snippets(site, form):
    return (await site.call("GET", f"/api/v1/public/forms/{form['slug']}/embed"))["data"]


@pytest.mark.journey
async def test_the_script_puts_the_form_where_it_stands_in_a_strict_page_of_another_origin(
    site, other_site, page
):
    form = await site.make_form(NAME, PAPER, {"id": "ref", "type": "hidden"}, name="Ask us")
    snippet = (await snippets(site, form))["script_embed"]
    policy = f"default-src 'none'; script-src {site.url}; connect-src {site.url}"
    address = other_site.publish("script", f"<p>Before</p>{snippet}<p>After</p>", policy)
    await page.goto(f"{address}?ref=mail&token=secret")
    await page.get_by_label("Name").fill("Ada")
    order = await page.evaluate("[...document.body.children].map((element) => element.localName)")
    assert order == ["h1", "p", "script", "retinue-form", "p"]
    assert await page.get_by_role("heading", name="Ask us", level=2).is_visible()
    paper = {"name": "a.txt", "mimeType": "text/plain", "buffer": b"hello"}
    await page.get_by_label("Paper").set_input_files(paper)
    await page.get_by_text("5 bytes").wait_for()
    assert await violations(page) == []
    await page.evaluate(
        "addEventListener('retinue-submitted', ({ detail }) => { window.heard = detail.submissionId; })"
    )
    await send(page)
    await wait_for_thanks(page)
    (kept,) = await site.submissions(form)
    assert (kept["data"]["name"], kept["data"]["ref"]) == ("Ada", "mail")
    assert kept["files"][0]["filename"] == "a.txt"
    assert (kept["metadata"]["source"], kept["metadata"]["page_url"]) == ("embed", address)
    assert "secret" not in str(kept)
    assert await page.evaluate("window.heard") == kept["id"]


async def test_two_forms_stand_in_one_page_and_one_of_the_pages_own(site, other_site, page):
    forms = [await site.make_form(NAME, name=name) for name in ("First", "Second", "Third")]
    scripts = "".join([(await snippets(site, form))["script_embed"] for form in forms[:2]])
    own = f'<retinue-form form="{forms[2]["slug"]}" base-url="{site.url}" heading-level="4"></retinue-form>'
    loud = "* { color: red; text-transform: uppercase; font: 9px serif; }"
    small = f"<style>html {{ font-size: 5px; }} {loud}</style>"
    await page.goto(other_site.publish("two", small + scripts + own))
    for form in forms:
        await page.get_by_role("region", name=form["name"]).get_by_label("Name").fill(form["name"])
        await page.get_by_role("region", name=form["name"]).get_by_role("button", name="Send").click()
        await page.get_by_role("region", name=form["name"]).get_by_text("Thank you.").wait_for()
        assert [kept["data"]["name"] for kept in await site.submissions(form)] == [form["name"]]
    third = page.get_by_role("heading", name="Third", level=4)
    # The style of the page stays outside.
    look = "(heading) => [getComputedStyle(heading).fontSize, getComputedStyle(heading).color]"
    assert await third.evaluate(look) == ["24px", "rgb(28, 36, 48)"]


async def test_the_frame_shows_the_form_and_tells_its_height(site, other_site, page):
    form = await site.make_form(NAME, *({"type": "textarea"} for _ in range(6)))
    listening = """<script>
      addEventListener("message", ({ data, origin }) => {
        window.told = { ...data, origin };
        document.querySelector("iframe").style.height = `${data.height}px`;
      });
    </script>"""
    await page.goto(other_site.publish("frame", listening + (await snippets(site, form))["iframe_embed"]))
    frame = page.frame_locator("iframe")
    await frame.get_by_label("Name").fill("Ada")
    told = await page.evaluate("window.told")
    assert (told["type"], told["form"], told["origin"]) == ("retinue-form:height", form["slug"], site.url)
    inner = page.frames[1]
    size = "[document.documentElement.scrollHeight, innerHeight]"
    needed, shown = await inner.evaluate(size)
    assert 700 < needed <= shown
    assert await violations(page) == []
    await frame.get_by_role("button", name="Send").click()
    await frame.get_by_text("Thank you.").wait_for()
    (kept,) = await site.submissions(form)
    assert (kept["data"]["name"], kept["metadata"]["source"]) == ("Ada", "frame")


async def test_who_is_sent_elsewhere_from_a_frame_leaves_the_whole_page(site, other_site, page):
    form = await site.make_form(NAME, settings={"redirect_url": "/docs"})
    await page.goto(other_site.publish("away", (await snippets(site, form))["iframe_embed"]))
    await page.frame_locator("iframe").get_by_label("Name").fill("Ada")
    await page.frame_locator("iframe").get_by_role("button", name="Send").click()
    await page.wait_for_url(f"{site.url}/docs")


async def test_only_the_page_for_frames_can_be_framed(site, other_site, page):
    form = await site.make_form(NAME)
    await page.goto(other_site.publish("bare", f'<iframe src="{site.page_of(form)}"></iframe>'))
    await page.wait_for_load_state("networkidle")
    assert await page.frame_locator("iframe").get_by_label("Name").count() == 0
    (refused,) = page.problems
    assert "frame-ancestors 'none'" in refused
    page.problems.clear()


async def test_a_form_that_is_gone_says_so(site, other_site, page):
    form = await site.make_form(NAME)
    snippet = (await snippets(site, form))["script_embed"]
    await site.call("POST", f"/api/v1/forms/{form['id']}/archive")
    await page.goto(other_site.publish("gone", snippet))
    await page.get_by_text("There is no form here, or it is not open.").wait_for()
