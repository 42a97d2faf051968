"""There is always one super administrator left, however many try to change that at once."""

import asyncio

import pytest

from retinue.access.models import Role
from retinue.users.models import User, UserStatus
from tests.client import Api


async def super_admins(people) -> int:
    async with people.context() as ctx:
        return await ctx.system("test").count(User, role=Role.super_admin, status=UserStatus.active)


TAKE_AWAY = {
    "demote": lambda api, user: api.put(f"/users/{user.id}/role", {"role": "viewer"}),
    "deactivate": lambda api, user: api.post(f"/users/{user.id}/deactivate"),
    "delete": lambda api, user: api.delete(f"/users/{user.id}"),
}


class SlowBody:
    """Lets a request in, and holds its body back until told."""

    def __init__(self, app) -> None:
        self._app = app
        self.is_let_in = asyncio.Event()
        self.arrives = asyncio.Event()

    async def __call__(self, scope, receive, send) -> None:
        async def later():
            self.is_let_in.set()
            await self.arrives.wait()
            return await receive()

        await self._app(scope, later, send)


async def test_the_last_one_stays_even_if_the_caller_was_one_when_the_request_was_let_in(
    service, people, admin
):
    other = await people.signed_in("super_admin", await people.tenant())
    slow = SlowBody(service)
    demotion = asyncio.create_task(TAKE_AWAY["demote"](Api(slow, token=other.token), admin.user))
    await slow.is_let_in.wait()
    assert (await TAKE_AWAY["demote"](admin, other.user)).status == 200
    slow.arrives.set()
    refused = await demotion
    assert (refused.status, refused.code) == (409, "last_super_admin")
    assert await super_admins(people) == 1


@pytest.mark.parametrize("action", TAKE_AWAY)
async def test_two_super_admins_cannot_take_each_other_away_at_once(people, admin, action):
    other = await people.signed_in("super_admin", await people.tenant())
    take_away = TAKE_AWAY[action]
    answers = await asyncio.gather(take_away(admin, other.user), take_away(other, admin.user))
    statuses = sorted(answer.status for answer in answers)
    # Whoever is second is refused as the last one, or was no super administrator any more when asking.
    assert statuses in ([200, 401], [200, 403], [200, 409]), answers
    assert await super_admins(people) == 1


async def test_a_circle_of_super_admins_leaves_one(people, admin):
    circle = [admin, *[await people.signed_in("super_admin") for _ in range(3)]]
    actions = [*TAKE_AWAY.values(), TAKE_AWAY["demote"]]
    calls = [actions[n](circle[n], circle[(n + 1) % 4].user) for n in range(4)]
    answers = await asyncio.gather(*calls)
    done = [answer for answer in answers if answer.status == 200]
    assert {answer.status for answer in answers} - {200, 401, 403, 404, 409} == set()
    assert 1 <= await super_admins(people) == 4 - len(done)


async def test_one_of_several_goes_the_same_way_twice_at_once(people, admin):
    other = await people.user("super_admin")
    answers = await asyncio.gather(
        *(admin.put(f"/users/{other.id}/role", {"role": "viewer"}) for _ in range(3))
    )
    assert [answer.status for answer in answers] == [200, 200, 200]
    assert await super_admins(people) == 1


async def test_an_inactive_super_admin_does_not_count_and_can_be_taken_away(people, admin):
    closed = await people.user("super_admin", status=UserStatus.inactive)
    assert (await admin.put(f"/users/{closed.id}/role", {"role": "viewer"})).status == 200
    another = await people.user("super_admin", status=UserStatus.inactive)
    assert (await admin.delete(f"/users/{another.id}")).status == 200
