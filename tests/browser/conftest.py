"""Debian's Chromium, one for all tests of a worker, in front of one real server."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.site import OtherSite, Site
from tests.e2e.processes import ServerProcess

CHROMIUM = shutil.which("chromium")
HERE = Path(__file__).parent
PATIENCE_MS = 60_000
"""Longer than anything takes here, also while all of a machine's cores run other tests."""

MAX_JOURNEYS = 20


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs browser tests on one database only; `make test` runs the main journeys, each in one look."""
    reason = (
        "Chromium is not installed (Debian: apt-get install chromium); what a browser shows is not tested"
    )
    seen: set[str] = set()
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.either_database)
            journey = item.nodeid.partition("[")[0]
            if item.get_closest_marker("journey") is None or journey in seen:
                item.add_marker(pytest.mark.campaign)
            seen.add(journey)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason=reason))
    journeys = [item for item in items if item.get_closest_marker("journey") and not _is_campaign(item)]
    if len(journeys) > MAX_JOURNEYS:
        raise pytest.UsageError(f"{len(journeys)} journeys are more than {MAX_JOURNEYS}: choose")


def _is_campaign(item: pytest.Item) -> bool:
    return item.get_closest_marker("campaign") is not None


@pytest.fixture(scope="session")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    server = ServerProcess(folder, is_shared=True, RETINUE_DEFAULT_PLAN="enterprise")
    server.env["RETINUE_BASE_URL"] = f"http://127.0.0.1:{server.port}"
    async with server:
        await server.start()
        yield await Site(server).sign_in()


@pytest.fixture(scope="session")
async def other_site() -> AsyncIterator[OtherSite]:
    other = await OtherSite().start()
    yield other
    await other.stop()


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Any]:
    from playwright.async_api import async_playwright, expect

    expect.set_options(timeout=PATIENCE_MS)
    async with async_playwright() as started:
        chromium = await started.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        )
        yield chromium
        await chromium.close()


@pytest.fixture
async def page(browser: Any) -> AsyncIterator[Any]:
    """A new visitor; nothing may fail on the page unnoticed, and no script may ask anything."""
    context = await browser.new_context(locale="en-GB", timezone_id="Europe/Berlin")
    context.set_default_timeout(PATIENCE_MS)
    opened = await context.new_page()
    opened.problems = problems = []
    opened.on("pageerror", lambda error: problems.append(f"error: {error}"))
    opened.on("console", lambda said: problems.append(said.text) if _is_problem(said) else None)
    opened.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
    yield opened
    await context.close()
    assert problems == []


def _is_problem(said: Any) -> bool:
    """A refused request is written there too, and is what many tests are about."""
    return said.type in {"error", "warning"} and not said.text.startswith("Failed to load resource")
