"""Running a tool through HTTP: what is answered, what is recorded, and that a failure is no error."""

import asyncio

import pytest
from structlog.testing import capture_logs

from retinue.access.models import Role
from retinue.domains import DOMAINS
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.tool_kinds import ToolKind
from tests.factories.people import People
from tests.factories.tools import (
    change_tool,
    endpoint,
    executions_of,
    make_tool,
    run_tool,
    try_tool,
)

ALWAYS = {"execution_id", "status", "execution_time_ms", "executed_at", "logs", "attempts", "correlation_id"}
RECORD = {
    "id",
    "tool_id",
    "agent_id",
    "agent_name",
    "user_id",
    "source",
    "status",
    "input",
    "output",
    "error",
    "logs",
    "attempts",
    "execution_time_ms",
    "executed_at",
    "correlation_id",
}


class Behaviour:
    """A kind of custom tool that does what a test says."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.finish = asyncio.Event()
        self.raises: Exception | None = None
        self.output: object = None
        self.waits = False

    async def run(self, _ctx, _run):
        self.began.set()
        if self.waits:
            await self.finish.wait()
        if self.raises is not None:
            raise self.raises
        return self.output


@pytest.fixture
def behaviour() -> Behaviour:
    return Behaviour()


@pytest.fixture
async def owner(make_service, behaviour):
    """The administrator of an instance that knows one more kind of tool."""
    kind = ToolKind(name="behaving", run=behaviour.run)
    service = await make_service(manifests=(*DOMAINS, Manifest(name="more", tool_kinds=(kind,))))
    return await People(service).super_admin()


async def make_behaving(api, **config):
    return await make_tool(api, tool_type="custom", config={"kind": "behaving", **config})


async def test_a_completed_run_has_its_output_and_no_error(admin, remote) -> None:
    tool = await make_tool(admin, remote.url)
    answer = await try_tool(admin, tool, {"q": "rain"}, headers={"X-Correlation-ID": "chain-1"})
    assert answer.status == 200
    ended = answer.json()["data"]
    assert set(ended) == ALWAYS | {"output"}
    assert ended["execution_id"].startswith("exe_")
    assert (ended["status"], ended["attempts"], ended["logs"]) == ("completed", 1, "")
    assert ended["correlation_id"] == "chain-1"
    assert ended["output"]["status_code"] == 200
    assert ended["output"]["body"]["target"] == "/echo?q=rain"


async def test_a_failed_run_is_a_normal_answer_with_an_error_and_no_output(admin, remote) -> None:
    remote.answers.append((500, {"Content-Type": "application/json"}, b'{"why":"tired"}'))
    tool = await make_tool(admin, config={"base_url": remote.url, "endpoints": endpoint("/scripted")})
    ended = await run_tool(admin, tool)
    assert set(ended) == ALWAYS | {"error"}
    assert ended["status"] == "failed"
    assert ended["error"]["code"] == "http_error"
    assert ended["error"]["details"]["body"] == {"why": "tired"}


async def test_a_run_that_takes_too_long_is_stopped(admin, remote) -> None:
    config = {"base_url": remote.url, "endpoints": endpoint("/hanging"), "timeout_ms": 50}
    ended = await run_tool(admin, await make_tool(admin, config=config))
    assert (ended["status"], ended["error"]["code"]) == ("timeout", "timeout")


async def test_an_executor_that_does_not_watch_the_clock_is_stopped_too(owner, behaviour) -> None:
    behaviour.waits = True
    tool = await make_behaving(owner, timeout_ms=20)
    ended = await run_tool(owner, tool)
    assert (ended["status"], ended["error"]["code"]) == ("timeout", "timeout")
    assert ended["error"]["message"] == "The tool did not finish within 20 ms."
    (stored,) = await executions_of(owner, tool)
    assert stored["status"] == "timeout"


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ({}, "not_configured"),
        ({"base_url": "http://169.254.169.254/", "endpoints": endpoint("/")}, "ssrf_blocked"),
        ({"base_url": "http://127.0.0.1:1", "endpoints": endpoint("/")}, "network_error"),
    ],
)
async def test_what_is_wrong_with_the_configuration_shows_when_it_is_run(admin, config, code) -> None:
    ended = await run_tool(admin, await make_tool(admin, config=config))
    assert (ended["status"], ended["error"]["code"]) == ("failed", code)


async def test_input_may_be_left_out_and_must_be_an_object(admin, remote) -> None:
    tool = await make_tool(admin, remote.url)
    path = f"/v1/tools/{tool['id']}/execute"
    assert (await admin.request("POST", path)).status == 200
    assert (await admin.post(path, {})).status == 200
    for wrong in ([], "x", 7, None):
        answer = await admin.post(path, {"input": wrong})
        assert (answer.status, list(answer.details)) == (422, ["input"])


async def test_a_disabled_tool_is_not_run(admin, remote) -> None:
    tool = await make_tool(admin, remote.url, is_enabled=False)
    for answer in (await try_tool(admin, tool), await try_tool(admin, tool, query={"async": "true"})):
        assert (answer.status, answer.code) == (409, "tool_disabled")
    assert remote.seen == []
    await change_tool(admin, tool, is_enabled=True)
    assert (await run_tool(admin, tool))["status"] == "completed"


async def test_input_that_only_the_executor_can_judge_is_refused_and_not_recorded(admin, remote) -> None:
    tool = await make_tool(admin, remote.url)
    answer = await try_tool(admin, tool, {"endpoint": "nowhere"})
    assert (answer.status, list(answer.details)) == (422, ["input.endpoint"])
    assert await executions_of(admin, tool) == []


async def test_every_run_is_recorded_and_counted(people, remote, clock) -> None:
    developer = await people.signed_in(Role.agent_developer)
    tool = await make_tool(developer, remote.url)
    answers = []
    for number in range(3):
        clock.advance(60)
        answers.append(await run_tool(developer, tool, {"n": number}))
    found = await executions_of(developer, tool)
    assert [set(record) for record in found] == [RECORD] * 3
    assert [record["id"] for record in found] == [ended["execution_id"] for ended in reversed(answers)]
    last = found[0]
    assert (last["tool_id"], last["agent_id"], last["source"]) == (tool["id"], None, "api")
    assert (last["user_id"], last["input"]) == (developer.user.id, {"n": 2})
    assert last["output"] == answers[2]["output"]
    assert last["error"] is None
    shown = (await developer.get(f"/v1/tools/{tool['id']}")).json()["data"]
    assert (shown["usage_count"], shown["last_used_at"]) == (3, last["executed_at"])
    assert shown["updated_at"] == tool["updated_at"]


async def test_a_hundred_runs_at_once_are_all_counted(admin, remote) -> None:
    tool = await make_tool(admin, remote.url)
    await asyncio.gather(*(run_tool(admin, tool) for _ in range(100)))
    assert (await admin.get(f"/v1/tools/{tool['id']}")).json()["data"]["usage_count"] == 100
    assert len(await executions_of(admin, tool, per_page=100)) == 100


async def test_one_execution_is_read_by_its_id_and_its_tool(admin, remote) -> None:
    tool, other = await make_tool(admin, remote.url), await make_tool(admin, remote.url)
    ended = await run_tool(admin, tool)
    path = f"executions/{ended['execution_id']}"
    answer = await admin.get(f"/v1/tools/{tool['id']}/{path}")
    assert answer.json()["data"] == (await executions_of(admin, tool))[0]
    answer = await admin.get(f"/v1/tools/{other['id']}/{path}")
    assert (answer.status, answer.code) == (404, "execution_not_found")


async def test_an_unforeseen_failure_is_a_failed_run_and_tells_nothing(owner, behaviour) -> None:
    behaviour.raises = RuntimeError("the stack knows hunter2")
    with capture_logs() as logs:
        ended = await run_tool(owner, await make_behaving(owner))
    assert (ended["status"], ended["error"]) == (
        "failed",
        {"code": "runtime_error", "message": "The tool failed unexpectedly."},
    )
    assert [entry["exc_info"] for entry in logs if "exc_info" in entry] == [behaviour.raises]


@pytest.mark.parametrize("output", ["\ud800", object()], ids=["surrogate", "object"])
async def test_output_that_is_no_json_fails_the_run(owner, behaviour, output) -> None:
    behaviour.output = output
    ended = await run_tool(owner, await make_behaving(owner))
    assert (ended["status"], ended["error"]["code"]) == ("failed", "invalid_output")


async def test_output_is_answered_in_full_and_recorded_to_64_kibibytes(owner, behaviour) -> None:
    behaviour.output = {"text": 'a"\\ü' * 40_000}
    tool = await make_behaving(owner)
    ended = await run_tool(owner, tool, {"long": "b" * 70_000})
    assert ended["output"] == behaviour.output
    (stored,) = await executions_of(owner, tool)
    for field in ("input", "output"):
        assert set(stored[field]) == {"truncated", "size_bytes", "preview"}
        assert stored[field]["truncated"] is True
        assert stored[field]["size_bytes"] > 64 * 1024
        assert len(stored[field]["preview"]) > 10_000
    assert stored["output"]["preview"].startswith('{"text":"a\\"')
    behaviour.output = "x" * (1024 * 1024)
    ended = await run_tool(owner, tool)
    assert (ended["status"], ended["error"]["code"]) == ("failed", "output_too_large")


async def test_nothing_at_all_is_an_output_too(owner, behaviour) -> None:
    behaviour.output = None
    ended = await run_tool(owner, await make_behaving(owner))
    assert (ended["status"], ended["output"]) == ("completed", None)


async def test_a_run_that_is_cut_off_is_recorded_as_interrupted(owner, behaviour) -> None:
    behaviour.waits = True
    tool = await make_behaving(owner)
    running = asyncio.create_task(try_tool(owner, tool, {"n": 1}))
    await behaviour.began.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (stored,) = await executions_of(owner, tool)
    assert (stored["status"], stored["error"]["code"]) == ("failed", "runtime_error")


async def test_no_transaction_is_open_while_a_tool_runs(owner, behaviour) -> None:
    behaviour.waits = True
    tool = await make_behaving(owner)
    running = asyncio.create_task(run_tool(owner, tool))
    await behaviour.began.wait()
    other = await make_tool(owner, name="Written meanwhile")
    assert (await owner.delete(f"/v1/tools/{other['id']}")).status == 204
    behaviour.finish.set()
    assert (await running)["status"] == "completed"


async def test_a_tool_that_is_deleted_while_it_runs_still_answers(owner, behaviour) -> None:
    behaviour.waits = True
    tool = await make_behaving(owner)
    running = asyncio.create_task(run_tool(owner, tool))
    await behaviour.began.wait()
    assert (await owner.delete(f"/v1/tools/{tool['id']}")).status == 204
    behaviour.finish.set()
    assert (await running)["status"] == "completed"


async def test_the_same_key_runs_a_tool_once(admin, remote) -> None:
    tool = await make_tool(admin, remote.url)
    key = {"Idempotency-Key": "once"}
    first, second = [await try_tool(admin, tool, {"n": 1}, headers=key) for _ in range(2)]
    assert first.body == second.body
    assert len(remote.seen) == 1
