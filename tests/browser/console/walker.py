"""Someone who opens every screen and uses every control on it, and notes what the server refuses."""

import asyncio
import re
from typing import Any
from urllib.parse import urlsplit

import msgspec
from playwright.async_api import Error as PlaywrightError

from tests.browser.console.world import World

MAX_STEPS = 160
"""Limit for one screen; the largest screen has fewer controls."""
_QUIET_S = 0.06
_PATIENCE_S = 8.0
_LATE_S = 2.0
"""Time that an empty screen gets to draw its controls on a busy machine."""
_LAST = re.compile(
    r"\b(delete|remove|revoke|archive|discard|end|back|approve|reject|withdraw)\b", re.IGNORECASE
)
_LEAVES = re.compile(r"^(cancel|close)$", re.IGNORECASE)
_MAX_OPTIONS = 2
"""Limit for one list: its other options send the same request with another value."""
# Signing out ends the walk, other tenants belong to other people, and the names below are in English.
# What the roles may is what the walk is about.
_NEVER = re.compile(r"sign out|act in|deutsch|review and save", re.IGNORECASE)
_TEXTS = {
    "email": "walk@example.com",
    "number": "1",
    "url": "https://example.com",
    "date": "2026-03-01",
    "datetime-local": "2026-03-01T09:30",
    "time": "09:30",
}
_FILE = {"name": "note.txt", "mimeType": "text/plain", "buffer": b"The tank holds nine litres."}

# What can be used now, in the topmost layer only: an open list or menu, else a dialog, else the page.
_CONTROLS = """() => {
  const isShown = (element) => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && getComputedStyle(element).visibility === "visible";
  };
  const layers = ['[role="listbox"]', '[role="menu"]', '[role="dialog"]'];
  const open = layers.flatMap((one) => [...document.querySelectorAll(one)].filter(isShown)).at(0);
  const scope = open ?? document.querySelector("main") ?? document.body;
  const kinds = 'button, [role="menuitem"], [role="option"], [role="tab"], [role="switch"], summary,'
    + 'input:not([type="hidden"]):not([type="file"]), textarea, [contenteditable="true"]';
  const isOff = (element) => element.matches(":disabled") || element.readOnly
    || element.closest('[aria-disabled="true"], [data-disabled], fieldset:disabled, [inert]');
  const nameOf = (element) => {
    const by = element.getAttribute("aria-labelledby");
    const label = element.getAttribute("aria-label") ?? (by && document.getElementById(by)?.textContent)
      ?? element.labels?.[0]?.textContent ?? "";
    return (label || element.textContent || element.placeholder || element.title || "").trim();
  };
  document.querySelectorAll("[data-walk]").forEach((one) => one.removeAttribute("data-walk"));
  const found = [];
  for (const element of scope.querySelectorAll(kinds)) {
    if (isOff(element)) continue;
    const isChoice = element.matches('input[type="radio"], input[type="checkbox"]');
    const target = isChoice && element.labels?.[0] && !isShown(element) ? element.labels[0] : element;
    if (!isShown(target) || (isChoice && element.type === "radio" && element.checked)) continue;
    target.setAttribute("data-walk", String(found.length));
    const isText = element.matches('textarea, [contenteditable="true"]')
      || (element.tagName === "INPUT" && !isChoice && element.getAttribute("aria-haspopup") !== "listbox"
        && !["button", "submit", "range", "color"].includes(element.type));
    found.push({
      kind: isText ? "text" : element.getAttribute("role") ?? element.type ?? element.tagName.toLowerCase(),
      name: nameOf(element).slice(0, 80),
      inputType: element.type ?? "",
    });
  }
  const layer = open ? open.getAttribute("role") : "page";
  const title = open?.getAttribute("aria-label") ?? open?.querySelector("h1, h2")?.textContent ?? "";
  return { layer, title, found };
}"""


class Control(msgspec.Struct, frozen=True):
    at: int
    kind: str
    name: str
    layer: str
    input_type: str

    @property
    def key(self) -> tuple[str, str, str]:
        if self.kind == "option":
            return (self.layer, self.kind, str(self.at))
        # Counts and times in a name change; the control is the same.
        return (self.layer, self.kind, re.sub(r"\d+", "#", self.name))

    @property
    def turn(self) -> tuple[bool, bool, bool, bool]:
        """Return the order of a control: texts first, so that buttons are enabled; deletions last."""
        return (
            bool(_LEAVES.match(self.name)),
            bool(_LAST.search(self.name)),
            self.kind != "text",
            self.kind == "submit",
        )


class Walker:
    """Walks as one person; `refused` holds each answer that a control or a screen should not have had."""

    def __init__(self, page: Any, world: World) -> None:
        self.page = page
        self.world = world
        self.doing = ""
        self.refused: list[str] = []
        self.used: set[str] = set()
        self.links: dict[str, tuple[str, str]] = {}
        self._bad = {403, 404, 429}
        self._pending: set[Any] = set()
        page.on("request", lambda one: self._pending.add(one) if _is_counted(one) else None)
        for event in ("requestfinished", "requestfailed"):
            page.on(event, self._forget)
        page.on("response", self._note)
        page.on("filechooser", lambda chooser: asyncio.ensure_future(chooser.set_files(_FILE)))
        page.context.on("page", lambda other: asyncio.ensure_future(other.close()))

    def _forget(self, request: Any) -> None:
        self._pending.discard(request)

    def _note(self, response: Any) -> None:
        self._pending.discard(response.request)
        status = response.status
        if status in self._bad or status >= 500:
            path = urlsplit(response.url).path
            self.refused.append(f"{self.world.role}, {self.doing}: {response.request.method} {path} {status}")

    async def settled(self) -> None:
        """Wait until nothing is asked of the server, twice in a row."""
        quiet = 0
        for _ in range(int(_PATIENCE_S / _QUIET_S)):
            await asyncio.sleep(_QUIET_S)
            quiet = 0 if self._pending else quiet + 1
            if quiet == 2:
                return

    async def open(self, path: str) -> None:
        self._pending.clear()
        await self.page.goto(f"{self.world.person.site.url}/console{path}")
        await self.page.locator("h1, h2").first.wait_for()
        await self.settled()
        for _ in range(int(_LATE_S / _QUIET_S)):
            if await self.controls():
                return
            await self.settled()

    async def look(self, path: str, needs: str | None) -> bool:
        """Open a screen; nothing it loads may be refused. Without its permission it says what is missing."""
        self.doing = f"opening {path}"
        if needs is None or needs in self.world.permissions:
            self._bad = {403, 404, 429}
            await self.open(path)
            for href in await self.page.locator('a[href^="/console"]').evaluate_all(_HREFS):
                self.links.setdefault(_ID.sub("id", href), (href, path))
            return True
        self._bad = {429}
        await self.open(path)
        await self.page.get_by_role("heading", name="You cannot see this").wait_for()
        await self.page.locator("code", has_text=needs).first.wait_for()
        return False

    async def follow_links(self) -> None:
        """Follow one link of each kind that the screens looked at and the navigation show."""
        self._bad = {403, 404, 429}
        for href, path in self.links.values():
            self.doing = f"following {href} on {path}"
            await self.open(href.removeprefix("/console"))

    async def use_palette(self, *texts: str) -> None:
        """Choose each entry of the palette that these texts find."""
        self._bad = {403, 404, 429}
        chosen: set[str] = set()
        for text in texts:
            while await self._choose_entry(text, chosen):
                pass
        self.used |= {f"palette {name}" for name in chosen}

    async def _choose_entry(self, text: str, chosen: set[str]) -> bool:
        await self.open("/inbox")
        await self.page.keyboard.press("Control+k")
        await self.page.get_by_placeholder("Search or run a command").fill(text)
        # The palette waits for the last key before it asks the server.
        await asyncio.sleep(0.3)
        await self.settled()
        for entry in await self.page.locator(".mantine-Spotlight-action").all():
            name = await entry.inner_text()
            if name not in chosen and not _NEVER.search(name):
                chosen.add(name)
                self.doing = f"palette {text!r}: {name!r}"
                await entry.click()
                await self.settled()
                return True
        return False

    async def controls(self) -> list[Control]:
        seen = await self.page.evaluate(_CONTROLS)
        layer = f"{seen['layer']} {seen['title']}".strip()
        found = [
            Control(at, one["kind"], one["name"], layer, one["inputType"])
            for at, one in enumerate(seen["found"])
        ]
        return [
            one
            for one in found
            if not _NEVER.search(one.name) and (one.kind != "option" or one.at < _MAX_OPTIONS)
        ]

    async def use_all(self, path: str) -> None:
        """Use what is enabled on this screen, in its menus and in its dialogs, each once."""
        # An object that is gone is no refusal: the walk itself deletes some.
        self._bad = {403, 429}
        done: set[tuple[str, str, str]] = set()
        openers: dict[str, Control] = {}
        last: Control | None = None
        is_fresh = True
        for _ in range(MAX_STEPS):
            found = await self.controls()
            layer = found[0].layer if found else "page"
            if layer != "page" and last is not None and last.layer == "page":
                openers[layer] = last
                # A dialog that opens again is empty again.
                done -= {key for key in done if key[:2] == (layer, "text")}
            fresh = [one for one in found if one.key not in done]
            if not fresh:
                if layer == "page" and not await self._is_covered():
                    if is_fresh:
                        return
                    # Filters and choices have hidden some: what the screen begins with is looked at again.
                    await self.open(path)
                    is_fresh = True
                else:
                    await self._leave(path)
                last = None
                continue
            is_fresh = False
            last = min(fresh, key=lambda one: one.turn)
            done.add(last.key)
            await self._act(path, last)
            # What opens a menu or a dialog is used again until every entry and button was.
            if layer in openers and any(one.kind != "text" for one in fresh if one is not last):
                done.discard(openers[layer].key)
            if self._is_elsewhere(path):
                await self.open(path)
        raise AssertionError(f"{path} has more controls than {MAX_STEPS}: {sorted(done)}")

    async def _act(self, path: str, control: Control) -> None:
        self.doing = f"{path}: {control.kind} {control.name!r} in {control.layer}"
        self.used.add(f"{control.kind} {control.name}")
        target = self.page.locator(f'[data-walk="{control.at}"]')
        try:
            if control.kind == "text":
                await self._write(target, control)
            else:
                await target.click(timeout=3_000)
        except PlaywrightError as error:
            # It moved or is covered by now; the next look at the page decides what is left to use.
            if not re.search("Timeout|detached|not attached", str(error)):
                raise
        await self.settled()

    async def _write(self, target: Any, control: Control) -> None:
        asked = re.search(r"Type (.+) to confirm", control.name)
        if asked:
            text = asked[1]
        elif control.name == "Name of the agent":
            text = self.world.name
        elif control.name == "Headers":
            text = "X-Walk: 1"
        else:
            text = _TEXTS.get(control.input_type, "Walk-1-walk")
        if control.input_type:
            await target.fill(text, timeout=3_000)
        else:
            await target.click(timeout=3_000)
            await self.page.keyboard.type("x")
        # Searches and drafts wait for the last key.
        await asyncio.sleep(0.3)

    async def _is_covered(self) -> bool:
        return await self.page.locator('[role="dialog"]:visible, [role="menu"]:visible').count() > 0

    async def _leave(self, path: str) -> None:
        await self.page.keyboard.press("Escape")
        await asyncio.sleep(0.15)
        if await self._is_covered():
            await self.open(path)

    def _is_elsewhere(self, path: str) -> bool:
        return urlsplit(self.page.url).path != urlsplit(f"/console{path}").path


_ID = re.compile(r"(?<=[/=])([a-z]+_[a-z0-9]{20,}|[0-9a-f]{32})")
_HREFS = "(links) => links.map((link) => link.getAttribute('href'))"


def _is_counted(request: Any) -> bool:
    """Scripts are parts of screens. A stream of notifications never ends."""
    return request.resource_type in {"fetch", "xhr", "script"} and not request.url.endswith(
        "/notifications/stream"
    )
