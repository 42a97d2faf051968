"""A run as it is watched: over server-sent events, from this process and from others."""

from retinue.app import Service
from retinue.kit.clock import ManualClock
from tests.chat.listening import Listener
from tests.client import Api
from tests.factories.workflows import PATH, make_workflow, node, start


def list_events(listener: Listener) -> list[tuple[str, int, str | None]]:
    return [(one.event, one.id, one.data.get("node_id")) for one in listener.events]


async def test_a_stream_tells_every_step_to_those_who_come_early_late_or_back(
    service: Service, admin: Api, clock: ManualClock
) -> None:
    workflow = await make_workflow(
        admin,
        node("a", set={"x": 1}),
        node("call", "http", url="http://127.0.0.1:9", on_error="continue"),
        node("ask", "approval"),
        node("wait", "delay", seconds=100),
        links=["a>call", "call>wait"],
    )
    id = await start(admin, workflow)
    path = f"{PATH}/{workflow['id']}/executions/{id}"
    early = Listener(admin, f"{path}/stream", method="GET")
    await early.until("execution_started")
    # Another process on the same database, whose commits this one has to look for.
    elsewhere = Service(service.settings, clock)
    await elsewhere.start()
    await elsewhere.runner.drain()
    await elsewhere.stop()
    await early.until("node_started", 4)
    await early.until("approval_required")
    back = Listener(admin, f"{path}/stream", method="GET", headers={"Last-Event-ID": "3"})
    await back.until("approval_required")
    assert (await admin.post(f"{path}/cancel", {})).status == 200
    await early.until("execution_failed")
    await back.until("execution_failed")
    steps = list_events(early)
    assert steps[0] == ("execution_started", 1, None)
    assert [number for _, number, _ in steps] == list(range(1, len(steps) + 1))
    assert {(event, who) for event, _, who in steps} == {
        ("execution_started", None), ("execution_failed", None), ("approval_required", "ask"),
        ("node_started", "a"), ("node_started", "call"), ("node_started", "ask"), ("node_started", "wait"),
        ("node_completed", "a"), ("node_completed", "call"),
    }  # fmt: skip
    assert list_events(back) == steps[3:]
    late = Listener(admin, f"{path}/stream", method="GET")
    await late.until("execution_failed")
    assert late.body == early.body
    ended = {one.data["node_id"]: one.data for one in early.events if one.event == "node_completed"}
    assert (ended["a"]["status"], ended["a"]["output"]) == ("completed", {"x": 1})
    assert (ended["call"]["status"], ended["call"]["error"]["code"]) == ("failed", "network_error")
    assert early.events[-1].data["status"] == "cancelled"


async def test_a_last_event_id_that_is_no_number_is_refused(admin: Api) -> None:
    workflow = await make_workflow(admin, node("a"))
    id = await start(admin, workflow)
    path = f"{PATH}/{workflow['id']}/executions/{id}/stream"
    assert (await admin.get(path, headers={"Last-Event-ID": "x"})).status == 422
