"""Runs that nobody waits for: accepted with 202, run once by a worker, looked up by their id."""

import pytest

from retinue.kit.jobs.models import Job
from retinue.tools.models import ExecutionStatus, ToolExecution
from tests.factories.tools import endpoint, executions_of, make_tool, try_tool


async def run_in_background(api, tool, input=None):
    answer = await try_tool(api, tool, input, query={"async": "true"})
    assert answer.status == 202, answer
    data = answer.json()["data"]
    assert set(data) == {"execution_id", "status"}
    assert data["status"] == "pending"
    return data["execution_id"]


async def look_up(api, tool, execution_id):
    answer = await api.get(f"/v1/tools/{tool['id']}/executions/{execution_id}")
    assert answer.status == 200, answer
    return answer.json()["data"]


async def test_an_accepted_run_is_pending_and_then_done_by_a_worker(service, admin, remote) -> None:
    tool = await make_tool(admin, remote.url)
    id = await run_in_background(admin, tool, {"q": "rain"})
    assert (await look_up(admin, tool, id))["status"] == "pending"
    assert remote.seen == []
    assert await executions_of(admin, tool) == []
    await service.runner.drain()
    ended = await look_up(admin, tool, id)
    assert (ended["status"], ended["input"]) == ("completed", {"q": "rain"})
    assert ended["output"]["body"]["target"] == "/echo?q=rain"
    assert ended["user_id"] == admin.user.id
    assert await executions_of(admin, tool) == [ended]
    assert (await admin.get(f"/v1/tools/{tool['id']}")).json()["data"]["usage_count"] == 1


async def test_a_failed_run_is_recorded_like_any_other(service, admin) -> None:
    tool = await make_tool(admin, config={"base_url": "http://127.0.0.1:1", "endpoints": endpoint("/")})
    id = await run_in_background(admin, tool)
    await service.runner.drain()
    assert (await look_up(admin, tool, id))["error"]["code"] == "network_error"


async def test_bad_input_is_refused_before_it_is_accepted(admin, people) -> None:
    tool = await make_tool(admin, input_schema={"required": ["city"]})
    answer = await try_tool(admin, tool, query={"async": "true"})
    assert (answer.status, answer.details) == (422, {"input.city": "is required"})
    async with people.context(admin.user.tenant_id) as ctx:
        assert await ctx.db.count(ToolExecution) == 0


async def test_input_that_only_the_executor_can_judge_fails_the_run(service, admin, remote) -> None:
    tool = await make_tool(admin, remote.url)
    id = await run_in_background(admin, tool, {"endpoint": "nowhere"})
    await service.runner.drain()
    ended = await look_up(admin, tool, id)
    assert (ended["status"], ended["error"]["code"]) == ("failed", "runtime_error")
    assert "input.endpoint" in ended["error"]["details"]


async def test_a_run_that_a_crash_cut_off_is_not_done_a_second_time(service, admin, people, remote) -> None:
    tool = await make_tool(admin, remote.url)
    id = await run_in_background(admin, tool)
    async with people.context(admin.user.tenant_id) as ctx:
        execution = await ctx.db.get(ToolExecution, id)
        await ctx.db.update(execution, status=ExecutionStatus.running)
    await service.runner.drain()
    ended = await look_up(admin, tool, id)
    assert (ended["status"], ended["error"]["code"]) == ("failed", "runtime_error")
    assert "interrupted" in ended["error"]["message"]
    assert remote.seen == []


async def test_a_finished_run_is_left_alone_when_its_job_comes_again(service, admin, people, remote) -> None:
    tool = await make_tool(admin, remote.url)
    id = await run_in_background(admin, tool)
    job = await only_job(people)
    await service.runner.drain()
    before = await look_up(admin, tool, id)
    async with people.context(admin.user.tenant_id) as ctx:
        await ctx.system("test").insert(job)
    await service.runner.drain()
    assert await look_up(admin, tool, id) == before
    assert len(remote.seen) == 1


async def only_job(people) -> Job:
    async with people.context() as ctx:
        (job,) = await ctx.system("test").all(Job, kind="tools.run_accepted")
        return job


async def test_a_tool_that_is_gone_is_not_run(service, admin, remote) -> None:
    tool = await make_tool(admin, remote.url)
    await run_in_background(admin, tool)
    assert (await admin.delete(f"/v1/tools/{tool['id']}")).status == 204
    await service.runner.drain()
    assert remote.seen == []


async def test_a_rule_for_the_caller_lets_an_accepted_run_use_a_credential(service, admin, remote) -> None:
    body = {"name": "Key", "type": "bearer_token", "secrets": {"token": "tok-0815"}}
    credential_id = (await admin.post("/v1/credentials", body)).json()["data"]["id"]
    tool = await make_tool(
        admin, remote.url, auth_type="bearer", auth_config={"credential_id": credential_id}
    )
    rule = {"integration_type": "role", "integration_id": "super_admin"}
    assert (await admin.post(f"/v1/credentials/{credential_id}/access", rule)).status == 201
    id = await run_in_background(admin, tool)
    await service.runner.drain()
    assert (await look_up(admin, tool, id))["status"] == "completed"
    assert remote.last.headers["Authorization"] == "Bearer tok-0815"


@pytest.mark.parametrize("value", ["maybe", "2", ""])
async def test_async_is_true_or_false(admin, value) -> None:
    answer = await try_tool(admin, await make_tool(admin), query={"async": value})
    assert (answer.status, list(answer.details)) == (422, ["async"])


@pytest.mark.parametrize("change", ["demoted", "deactivated", "deleted"])
async def test_an_accepted_run_does_nothing_that_its_caller_may_no_longer_do(
    service, admin, people, remote, change
) -> None:
    tool = await make_tool(admin, remote.url)
    developer = await people.signed_in("agent_developer")
    id = await run_in_background(developer, tool)
    path = f"/users/{developer.user.id}"
    if change == "demoted":
        answer = await admin.put(f"{path}/role", {"role": "viewer"})
    else:
        answer = await (admin.post(f"{path}/deactivate") if change == "deactivated" else admin.delete(path))
    assert answer.status in {200, 204}, answer
    await service.runner.drain()
    ended = await look_up(admin, tool, id)
    assert (ended["status"], ended["error"]["code"]) == ("failed", "forbidden")
    assert remote.seen == []


async def test_an_accepted_run_uses_credentials_with_the_role_of_today(
    service, admin, people, remote
) -> None:
    body = {"name": "Key", "type": "bearer_token", "secrets": {"token": "tok-0815"}}
    credential_id = (await admin.post("/v1/credentials", body)).json()["data"]["id"]
    auth = {"auth_type": "bearer", "auth_config": {"credential_id": credential_id}}
    tool = await make_tool(admin, remote.url, **auth)
    rule = {"integration_type": "role", "integration_id": "tenant_admin"}
    assert (await admin.post(f"/v1/credentials/{credential_id}/access", rule)).status == 201
    boss = await people.signed_in("tenant_admin")
    id = await run_in_background(boss, tool)
    changed = await admin.put(f"/users/{boss.user.id}/role", {"role": "agent_developer"})
    assert changed.status == 200, changed
    await service.runner.drain()
    assert (await look_up(admin, tool, id))["error"]["code"] == "credential_access_denied"
    assert remote.seen == []
