"""Tests that the notifications about an approval are marked as read once it is decided."""

import pytest

from retinue.access.models import Role
from retinue.app import Service
from retinue.approvals.jobs import expire_approvals
from retinue.approvals.service import Approvers, cancel_waiting
from retinue.kit.clock import ManualClock
from retinue.kit.context.continuations import ContinuationRef
from tests.approvals.conftest import Ask
from tests.chat.listening import Listener
from tests.client import Api
from tests.factories.notifications import NOTIFICATIONS, notifications_of
from tests.factories.people import People

APPROVALS = "/api/v1/approvals"


async def decide(person: Api, id: str, verb: str = "approve") -> None:
    answer = await person.post(f"{APPROVALS}/{id}/{verb}", {})
    assert answer.status == 200, answer


async def unread(person: Api) -> list[str]:
    """The ids of the approvals that an unread notification of this person asks for, the newest first."""
    shown = await notifications_of(person, read="false")
    counted = (await person.get(f"{NOTIFICATIONS}/unread/count")).json()["count"]
    assert counted == shown["unread"] == len(shown["data"])
    return [one["data"]["approval_id"] for one in shown["data"]]


@pytest.mark.parametrize("end", ["approve", "reject", "cancel", "expire", "abandon"])
async def test_a_decided_approval_is_read_in_every_inbox(
    service: Service, people: People, requester: Api, boss: Api, ask: Ask, clock: ManualClock, end: str
) -> None:
    other = await people.signed_in(Role.agent_user)
    asked = (boss.user.id, other.user.id)
    waiting = ContinuationRef("nobody", "k1") if end == "abandon" else None
    done = await ask(*asked, expires_in_s=60, **({"waiting": waiting} if waiting else {}))
    await requester.post(f"{APPROVALS}/{done.id}/remind")
    await service.runner.drain()
    still = await ask(*asked)
    await service.runner.drain()
    for person in (boss, other):
        assert await unread(person) == [still.id, done.id, done.id]

    live = Listener(other, f"{NOTIFICATIONS}/stream", method="GET")
    await live.until("unread")
    if end == "expire":
        clock.advance(61)
        async with people.context(requester.user.tenant_id) as ctx:
            await expire_approvals(ctx.detached())
    elif end == "abandon":
        async with people.context(requester.user.tenant_id) as ctx:
            assert await cancel_waiting(ctx, "nobody", "k1") == 1
    else:
        await decide(requester if end == "cancel" else boss, done.id, end)
    await service.runner.drain()
    for person in (boss, other):
        assert await unread(person) == [still.id]
        assert all(one["read_at"] for one in (await notifications_of(person, read="true"))["data"])
    await live.until("unread", 2)
    await live.leave()
    assert [one.data["count"] for one in live.events if one.event == "unread"] == [3, 1]


async def test_of_several_approvers_only_those_who_decided_are_done(
    service: Service, people: People, boss: Api, ask: Ask
) -> None:
    second, third = [await people.signed_in(Role.agent_user) for _ in range(2)]
    everyone = (boss, second, third)
    approvers = Approvers(user_ids=tuple(person.user.id for person in everyone))
    approval = await ask(approvers=approvers, required_approvals=2)
    await service.runner.drain()
    await decide(boss, approval.id)
    await service.runner.drain()
    assert [await unread(person) for person in everyone] == [[], [approval.id], [approval.id]]
    await decide(second, approval.id)
    await service.runner.drain()
    assert [await unread(person) for person in everyone] == [[], [], []]
