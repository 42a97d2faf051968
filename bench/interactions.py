"""How soon the console paints after a key or a click, in Chromium, as the browser itself times it.

Event Timing gives the milliseconds from the input until the next frame is shown, in steps of eight; frames
without an event are timed for scrolling. Each figure is the worst of its interactions.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from typing import Any

from bench.console_data import Large
from bench.figures import Figure
from bench.requests import PASSWORD

GOAL_MS = 100.0
_REST_S = 0.6
"""Longer than a search or a draft waits after the last key, so that what follows is measured too."""

_OBSERVE = """() => {
  window.timed = { events: [], tasks: [] };
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) timed.events.push([one.name, one.duration]);
  }).observe({ type: "event", durationThreshold: 16, buffered: false });
  new PerformanceObserver((list) => {
    for (const one of list.getEntries()) timed.tasks.push(one.duration);
  }).observe({ type: "longtask", buffered: false });
}"""
_TAKE = """() => {
  const { events, tasks } = window.timed;
  window.timed.events = [];
  window.timed.tasks = [];
  return { events, tasks };
}"""
# The longest time between two frames while the element is scrolled from top to bottom.
_SCROLL = """async (selector) => {
  const target = document.querySelector(selector);
  const step = Math.max(200, (target.scrollHeight - target.clientHeight) / 60);
  let worst = 0, before = performance.now();
  for (let i = 0; i < 60; i++) {
    target.scrollBy(0, step);
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    if (i > 1) worst = Math.max(worst, now - before);
    before = now;
  }
  return worst;
}"""
_KEYS = {"keydown", "keyup", "keypress", "pointerdown", "pointerup", "click", "mousedown", "mouseup", "input"}


class Measured:
    def __init__(self, page: Any, url: str) -> None:
        self.page = page
        self.url = url
        self.figures: list[Figure] = []

    async def of(self, name: str, act: Callable[[], Awaitable[Any]]) -> None:
        """Do it, and keep how long the slowest of its inputs waited for the next frame."""
        await asyncio.sleep(_REST_S)
        await self.page.evaluate(_TAKE)
        await act()
        await asyncio.sleep(_REST_S)
        taken = await self.page.evaluate(_TAKE)
        worst = max((duration for kind, duration in taken["events"] if kind in _KEYS), default=16)
        self.figures.append(Figure(f"browser: {name}", worst, "ms", GOAL_MS))
        self.figures.append(
            Figure(f"browser: {name}, longest task", max(taken["tasks"], default=0), "ms", None)
        )

    async def scrolling(self, name: str, selector: str) -> None:
        worst = await self.page.evaluate(_SCROLL, selector)
        self.figures.append(Figure(f"browser: {name}, longest frame", worst, "ms", GOAL_MS))

    async def open(self, path: str, wait_for: str) -> None:
        await self.page.goto(f"{self.url}/console{path}")
        await self.page.locator(wait_for).first.wait_for()
        await self.page.evaluate(_OBSERVE)

    async def typed(self, text: str) -> None:
        await self.page.keyboard.type(text, delay=60)

    async def pressed(self, key: str, times: int) -> None:
        for _ in range(times):
            await self.page.keyboard.press(key)
            await asyncio.sleep(0.06)


async def interactions(port: int, large: Large) -> list[Figure]:
    from playwright.async_api import async_playwright

    url = f"http://127.0.0.1:{port}"
    async with async_playwright() as started:
        chromium = await started.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )
        context = await chromium.new_context(viewport={"width": 1440, "height": 900}, locale="en-GB")
        context.set_default_timeout(60_000)
        page = await context.new_page()
        await page.goto(f"{url}/console/inbox")
        await page.get_by_label("Email").fill("admin@example.com")
        await page.get_by_label("Password", exact=True).fill(PASSWORD)
        await page.get_by_role("button", name="Sign in").click()
        await page.get_by_role("heading", name="Inbox").wait_for()
        measured = Measured(page, url)
        for part in (_lists, _palette, _conversation, _agent):
            await part(measured, large)
        await chromium.close()
        return measured.figures


async def _lists(measured: Measured, _: Large) -> None:
    page = measured.page
    await measured.open("/agents", "[data-row]")
    await page.keyboard.press("/")
    await measured.of("typing in the search of agents", lambda: measured.typed("parcels desk"))
    await page.keyboard.press("Escape")
    await measured.of("walking through agents", lambda: measured.pressed("j", 20))
    await measured.of("choosing all agents of a page", page.get_by_label("Choose all").first.click)
    await measured.open("/conversations", "[data-row]")
    await measured.of("walking through conversations", lambda: measured.pressed("j", 20))
    await measured.of("filtering conversations", page.get_by_text("Closed", exact=True).first.click)
    await page.keyboard.press("/")
    await measured.of("typing in the search of conversations", lambda: measured.typed("parcel 0004"))
    await measured.of("opening the choice of agents", page.get_by_role("combobox", name="Agent").first.click)
    await measured.of("typing in the choice of agents", lambda: measured.typed("travel"))
    await page.keyboard.press("Escape")


async def _palette(measured: Measured, _: Large) -> None:
    await measured.open("/conversations", "[data-row]")
    await measured.of("opening the palette", lambda: measured.page.keyboard.press("Control+k"))
    await measured.of("typing in the palette", lambda: measured.typed("invoices clerk"))
    await measured.of("walking through the palette", lambda: measured.pressed("ArrowDown", 8))
    await measured.page.keyboard.press("Escape")


async def _conversation(measured: Measured, large: Large) -> None:
    page = measured.page
    await measured.open("/conversations?search=The+long+one", "[data-row]")
    await measured.of(
        "opening the long conversation", page.get_by_role("link", name="The long one").first.click
    )
    transcript = 'section[aria-label="Transcript"]'
    await page.locator(transcript).wait_for()
    # The last fifty turns are there; three presses bring the others.
    for _ in range(3):
        button = page.get_by_role("button", name="Show earlier")
        await measured.of("showing 150 earlier turns", button.click)
        await page.wait_for_function("() => !document.querySelector('[data-loading=true]')")
    await button.wait_for(state="detached")
    await measured.scrolling("scrolling the long conversation", transcript)
    turns = page.get_by_role("region", name="Trace").locator("button[aria-expanded=false]")
    await measured.of("opening another turn of it", turns.first.click)
    await page.locator("[data-row]").first.wait_for()
    await measured.of("walking through its steps", lambda: measured.pressed("j", 20))
    await measured.of("walking back", lambda: measured.pressed("k", 20))


async def _agent(measured: Measured, large: Large) -> None:
    page = measured.page
    agent = f"/agents/{large.agent_id}"
    await measured.open(f"{agent}?from={large.conversation_id}", ".cm-content")
    await page.get_by_role("log").locator("table").first.wait_for()
    await page.get_by_label("Say something").click()
    await measured.of("typing beside a long chat", lambda: measured.typed("And where is the next one?"))
    await page.locator(".cm-content").click()
    await measured.of("typing in 20,000 characters of instructions", lambda: measured.typed("Stay polite. "))
    for tab in ("Knowledge", "Share", "Versions", "Build"):
        await measured.of(f"to the tab {tab}", page.get_by_role("link", name=tab, exact=True).click)
