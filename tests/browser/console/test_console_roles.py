"""Every role on every screen of the console: nothing that is loaded and no enabled control is refused."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from retinue.access.models import Role
from tests.adapters.llm_server import ProviderServer
from tests.browser.console.library import serve_library
from tests.browser.console.walker import Walker
from tests.browser.console.world import World, world_of
from tests.browser.site import Site


@pytest.fixture(scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[Site, ProviderServer]]:
    """A server of its own: the walk deletes things and changes roles."""
    async with serve_library(tmp_path_factory.mktemp("office")) as served:
        yield served


async def sign_in_walker(page: Any, world: World) -> Walker:
    await page.emulate_media(reduced_motion="reduce")
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.goto(f"{world.person.site.url}/console/inbox")
    await page.get_by_label("Email").fill(world.person.email)
    await page.get_by_label("Password", exact=True).fill(world.person.password)
    await page.get_by_role("button", name="Sign in").click()
    await page.get_by_role("heading", name="Inbox").wait_for()
    return Walker(page, world)


async def open_screens(page: Any, world: World) -> tuple[Walker, list[str]]:
    """Open every screen; return the walker and the screens that were shown."""
    walker = await sign_in_walker(page, world)
    return walker, [path for path, needs in world.screens().items() if await walker.look(path, needs)]


@pytest.mark.slow
@pytest.mark.parametrize("role", [one.value for one in Role])
async def test_no_role_is_refused_what_a_screen_loads_links_to_or_offers(office, page, role):
    site, provider = office
    async with world_of(site, provider, role) as world:
        walker, shown = await open_screens(page, world)
        await walker.follow_links()
        await walker.use_palette("", world.name, ">")
        for path in shown:
            await walker.open(path)
            await walker.use_all(path)
    assert walker.refused == [], "\n".join(walker.refused)
    # What makes the walk worth something: it decides, writes and deletes as far as the role may.
    expected = {"submit Save name", "menuitem Copy id", f"palette {world.name}"}
    if "approvals:decide" in world.permissions:
        expected |= {"button RejectR", "text Comment"}
    if "agents:write" in world.permissions:
        expected |= {"button Publish", "menuitem Delete", "button Save look", "button Revoke"}
    if "api_keys:write" in world.permissions:
        expected |= {"button Test", "button Remove"}
    missing = {one for one in expected if not any(used.startswith(one) for used in walker.used)}
    assert missing == set(), sorted(walker.used)


# The two roles that may least; the long form walks all of them through everything.
@pytest.mark.parametrize(("role", "used"), [("viewer", "/compare"), ("agent_user", "/approvals?id=")])
async def test_roles_with_few_permissions_are_refused_nothing_on_the_main_screens(office, page, role, used):
    site, provider = office
    async with world_of(site, provider, role) as world:
        walker, shown = await open_screens(page, world)
        (path,) = (one for one in shown if used in one)
        await walker.open(path)
        await walker.use_all(path)
    assert walker.refused == [], "\n".join(walker.refused)
