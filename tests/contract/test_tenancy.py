"""Another tenant's id, anywhere in any path, is answered exactly as an id that nobody has."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.kit.http.routing import EMBED_KEY, Route
from tests.client import Api
from tests.contract.domains import SHARED
from tests.contract.knowledge import World
from tests.contract.routes import ABSENT, WITH_PARAMETERS, call, groups, label
from tests.contract.world import fill_world
from tests.factories.embed_keys import embed_key_of, some_embed_key
from tests.factories.households import some_agent
from tests.factories.people import People

pytestmark = pytest.mark.every_case

# Where any id will do: nobody's has nothing. tests/events shows that another tenant's has nothing either.
ANY_ID = {"trace_events", "activate_subscriptions", "deactivate_subscriptions"}


@pytest.fixture
async def foreign(people) -> dict[str, str]:
    """An id of each kind that belongs to another tenant; every text of it is a canary."""
    tenant = await people.tenant("CANARY-other")
    user = await people.user(Role.tenant_admin, tenant, first_name="CANARY-name")
    async with people.context(tenant.id) as ctx:
        return await fill_world(World(ctx, user, user, "CANARY"))


async def caller_of(people: People, route: Route) -> Api:
    """Return someone of another tenant who may call the route."""
    person = await people.signed_in(Role.tenant_admin, await people.tenant("Mine"))
    if route.requires is not EMBED_KEY:
        return person
    async with people.context(person.user.tenant_id) as ctx:
        own = await some_agent(ctx)
        key = embed_key_of(own.id)
        await ctx.db.insert(some_embed_key(own, person.user.id, text=key))
    return people.api.signed_in(key)


def comparable(answer: Any) -> tuple[int, bytes]:
    return answer.status, answer.body


@groups([r for r in WITH_PARAMETERS if not set(r.parameters) <= SHARED and r.name not in ANY_ID], 20)
async def test_another_tenants_id_is_simply_not_there(people, foreign, routes: list[Route]) -> None:
    for route in routes:
        for parameter in route.parameters:
            assert parameter in foreign or parameter in SHARED, (
                f"tell tests/<domain>/contract.py how to make a {parameter}"
            )
        caller = await caller_of(people, route)
        body = {"role": "viewer"} if route.body is not None else None
        theirs = await call(caller, route, foreign, json=body)
        nobodys = await call(caller, route, json=body)
        assert theirs.status == 404, label(route)
        assert comparable(theirs) == comparable(nobodys), label(route)
        assert b"CANARY" not in theirs.body, label(route)


ODD_IDS = ("..", "%2e%2e", "%00", "x" * 10_000, ABSENT.upper(), "a%2fb", "%F0%9F%92%A9", "'--", "*")


@groups(WITH_PARAMETERS, 20)
async def test_odd_ids_are_not_found_and_break_nothing(people, admin, routes: list[Route]) -> None:
    for route in routes:
        caller = admin if route.requires is not EMBED_KEY else await caller_of(people, route)
        body = {"role": "viewer", "permissions": []} if route.body is not None else None
        for odd in ODD_IDS:
            answer = await call(caller, route, dict.fromkeys(route.parameters, odd), json=body)
            # What is none of a few known words is not valid, where an id that nobody has is not found.
            expected = {404, 422} if "channel_type" in route.parameters else {404}
            expected = {200, 404} if route.name in ANY_ID else expected
            assert answer.status in expected, (label(route), odd, answer)
