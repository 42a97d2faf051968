"""Lists stay fresh: the stream tells what changed, to those who may read it."""

from typing import Any

from retinue.access.models import Role
from retinue.kit.clock import ManualClock
from retinue.kit.principal import SYSTEM, Principal
from retinue.notifications import live_changes, live_inboxes
from retinue.notifications.stream_listener import MAX_PENDING_CHANGES, ObjectChange, StreamListener
from tests.chat.listening import Listener
from tests.client import Api
from tests.factories.agents import agent_body, make_agent
from tests.factories.notifications import NOTIFICATIONS
from tests.factories.people import People

STREAM = f"{NOTIFICATIONS}/stream"


async def open_listener(api: Api) -> Listener:
    listener = Listener(api, STREAM, method="GET")
    await listener.until("unread")
    return listener


def changes(listener: Listener) -> list[dict[str, Any]]:
    return [one.data for one in listener.events if one.event == "changed"]


async def test_a_stream_tells_what_changed_to_whom_may_read_it(
    admin: Api, people: People, clock: ManualClock, monkeypatch
) -> None:
    monkeypatch.setattr(live_inboxes, "POLL_INTERVAL_SECONDS", 0.02)
    viewer = await people.signed_in(Role.viewer)
    elsewhere = await people.signed_in(Role.tenant_admin, await people.tenant("Other"))
    hers, theirs, foreign = (
        await open_listener(admin),
        await open_listener(viewer),
        await open_listener(elsewhere),
    )
    agent = await make_agent(admin)
    invited = await admin.post("/users/invite", {"email": "guest@example.com", "role": "viewer"})
    assert invited.status == 201
    await hers.until("changed", 2)
    await theirs.until("changed")
    change = {"type": "agent", "id": agent["id"], "by": admin.user.id}
    assert change in changes(hers)
    assert {one["type"] for one in changes(hers)} == {"agent", "user"}
    assert changes(theirs) == [change], "a viewer may not read users"
    for listener in (hers, theirs, foreign):
        await listener.leave()
    assert changes(foreign) == []


async def test_many_changes_become_one_for_each_type(admin: Api, clock: ManualClock, monkeypatch) -> None:
    monkeypatch.setattr(live_inboxes, "POLL_INTERVAL_SECONDS", 0.05)
    monkeypatch.setattr(live_changes, "MAX_CHANGES_PER_POLL", 3)
    listener = await open_listener(admin)
    operations = [{"op": "create", "data": agent_body(name=f"A{number}")} for number in range(5)]
    assert (await admin.post("/v1/agents/batch", {"operations": operations, "atomic": True})).status == 200
    await listener.until("changed")
    await listener.leave()
    assert changes(listener) == [{"type": "agent", "id": None, "by": None}]


async def test_a_listener_that_does_not_read_holds_a_bounded_number(people: People) -> None:
    listener = StreamListener(SYSTEM)
    for number in range(10 * MAX_PENDING_CHANGES):
        listener.add_change(ObjectChange(type="agent", id=f"agt_{number}", by=None))
        listener.add_change(ObjectChange(type="tool", id="tool_1", by=None))
    assert set(listener.take_changes()) == {
        ObjectChange(type="agent", id=None, by=None),
        ObjectChange(type="tool", id=None, by=None),
    }
    assert listener.take_changes() == []


async def test_others_conversations_change_without_a_name(people: People, admin: Api) -> None:
    def told(*held: str) -> ObjectChange | None:
        reader = Principal(kind="user", permissions=frozenset(held))
        return live_changes._change(reader, "agent.chat.message", "conv_1", "usr_1")

    assert told("conversations:read") == ObjectChange(type="conversation", id=None, by=None)
    everything = told("conversations:read", "agents:write")
    assert everything == ObjectChange(type="conversation", id="conv_1", by="usr_1")
    assert told("agents:write") is None
