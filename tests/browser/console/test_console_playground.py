"""The playground of the Build page: continued conversations, failing models and fast replies."""

import pytest
from playwright.async_api import expect

from tests.browser.console.build_page import say, speak_slowly, talker
from tests.browser.console.steps import AGENTS, open_page
from tests.browser.forms import violations


@pytest.mark.slow
async def test_a_conversation_goes_on_in_the_playground(site, page):
    async with talker(site) as (agent_id, _, provider):
        provider.says("On Friday.")
        reply = await site.call("POST", f"{AGENTS}/{agent_id}/chat", {"message": "When does it come?"})
        await open_page(site, page, f"/conversations/{reply['conversation_id']}")
        await page.get_by_role("link", name="Continue in playground").click()
        log = page.get_by_role("log")
        await log.get_by_text("On Friday.").wait_for()
        provider.says("At noon.")
        await say(page, "At which time?")
        await log.get_by_text("At noon.").wait_for()
        said = [
            message["content"] for message in provider.last.json["messages"] if message["role"] != "system"
        ]
        assert said[:3] == ["When does it come?", "On Friday.", "At which time?"]
        before = (await site.call("GET", f"/api/v1/conversations/{reply['conversation_id']}"))[
            "message_count"
        ]
        assert before == 2, "the conversation it came from stays as it was"
        assert "from=" not in page.url


@pytest.mark.slow
async def test_a_model_that_fails_says_so_and_leads_to_the_models(site, page):
    agent = {"name": "Lost", "primary_model": "openai_compatible/gone", "system_prompt": "x"}
    async with talker(site):
        agent_id = (await site.call("POST", AGENTS, agent))["id"]
        await open_page(site, page, f"/agents/{agent_id}")
        await say(page, "Hello")
        alert = page.get_by_role("log").get_by_role("alert")
        await alert.get_by_text("No model is reachable for this agent.").wait_for()
        await expect(alert.get_by_role("link", name="Open Models")).to_be_visible()


@pytest.mark.slow
async def test_a_stream_of_a_hundred_words_a_second_stays_smooth(site, page):
    async with talker(site) as (agent_id, _, provider):
        await open_page(site, page, f"/agents/{agent_id}")
        provider.fails(speak_slowly([f"word{n} " for n in range(300)], 0.008))
        await page.evaluate(
            "() => { window.slow = []; new PerformanceObserver((l) => l.getEntries().forEach((e) =>"
            " window.slow.push(e.duration))).observe({ type: 'longtask' }) }"
        )
        await say(page, "Speak")
        await page.get_by_role("log").get_by_text("word299").wait_for()
        # A task of 50 ms or more is one that a person feels; the machine itself may cause a few.
        slow = await page.evaluate("window.slow")
        assert sum(slow) < 1500, slow


CODE = """Run this:

```python
# Refunds of today
def refund(order: str, sum=12.5) -> dict:
    return {"order": order, "sum": sum, "late": None}
```

```json
{"order": "A-17", "sum": 12.5, "isLate": false}
```

```sh
curl -s "$HOST/refunds" | jq '.data[0]' # first
```

```html
<a class="link" href="/refunds">All</a>
```

```diff
-old
+new
```
"""


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_code_is_coloured_when_there_is_some_and_copied_by_keyboard(site, page, scheme):
    await page.emulate_media(color_scheme=scheme)
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    chunks = []
    page.on("request", lambda request: "highlighted_code" in request.url and chunks.append(request.url))
    async with talker(site) as (agent_id, _, provider):
        await open_page(site, page, f"/agents/{agent_id}")
        log = page.get_by_role("log")
        provider.says("Without a language:\n\n```\nplain\n```")
        await say(page, "Hello")
        await log.get_by_text("plain", exact=True).wait_for()
        assert not chunks
        provider.says(CODE)
        await say(page, "How?")
        block = log.get_by_role("region", name="Code").filter(has_text="def refund")
        await block.locator("span", has_text="return").wait_for()
        assert any(".js" in url for url in chunks)
        colours = await block.locator("span").evaluate_all(
            "all => [...new Set(all.map(one => getComputedStyle(one).color))].length"
        )
        assert colours >= 4
        assert await violations(page) == []
        await block.focus()
        await page.keyboard.press("Tab")
        button = page.locator(":focus")
        await expect(button).to_have_text("Copy")
        await expect(button).to_have_css("opacity", "1")
        await page.keyboard.press("Enter")
        await expect(button).to_have_text("Copied")
        await expect(log.get_by_role("status").filter(has_text="Copied")).to_have_count(1)
        copied = await page.evaluate("navigator.clipboard.readText()")
        assert copied.startswith("# Refunds of today\ndef refund(")
