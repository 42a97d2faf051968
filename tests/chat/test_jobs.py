"""Turns that nobody waits for."""

import asyncio
from typing import Any

import pytest

from retinue.app import Service
from retinue.chat.job_kinds import ANSWER_TURN, AcceptedTurn
from retinue.chat.models import ChatJob, JobStatus
from retinue.chat.replies import background
from retinue.kit.clock import ManualClock
from tests.adapters.llm_server import ProviderServer, hanging, refusing
from tests.chat.background_jobs import accept, job_of
from tests.chat.speaking import messages_of, path_of
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.happenings import events
from tests.factories.people import People
from tests.factories.providers import add_key_for


async def test_a_worker_answers_what_was_accepted(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    job = await accept(admin, agent, "Later, please")
    assert job["status"] == "pending"
    assert (await job_of(admin, agent, job))["result"] is None
    provider.says("Done.")
    await service.runner.drain()
    done = await job_of(admin, agent, job)
    assert (done["status"], done["type"], done["error"]) == ("completed", "chat", None)
    assert done["result"]["message"]["content"] == "Done."
    assert done["started_at"] <= done["completed_at"]
    assert (await admin.get(f"/api/v1/jobs/{job['job_id']}")).json() == done
    stored = await messages_of(admin, job["conversation_id"])
    assert [one["content"] for one in stored] == ["Later, please", "Done."]
    listed = (await admin.get(path_of(agent, "/jobs"), query={"status": "completed"})).json()
    assert [one["job_id"] for one in listed["data"]] == [job["job_id"]]


async def test_a_job_that_is_run_again_answers_once(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer, people: People
) -> None:
    job = await accept(admin, agent)
    await service.runner.drain()
    async with people.context(admin.user.tenant_id) as ctx:
        ctx.defer(ANSWER_TURN, AcceptedTurn(job["job_id"]))
    await service.runner.drain()
    assert len(await messages_of(admin, job["conversation_id"])) == 2
    assert len(provider.requests) == 1


async def test_a_failed_model_fails_the_job_with_its_reason(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    provider.fails(refusing(400, {"error": {"message": "no"}}))
    job = await accept(admin, agent)
    await service.runner.drain()
    failed = await job_of(admin, agent, job)
    assert (failed["status"], failed["error"]["code"]) == ("failed", "model_error")
    assert failed["result"] is None


async def test_a_pending_job_is_cancelled_and_never_runs(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer
) -> None:
    job = await accept(admin, agent)
    path = path_of(agent, f"/jobs/{job['job_id']}/cancel")
    assert (await admin.post(path)).json()["status"] == "cancelled"
    again = await admin.post(path)
    assert (again.status, again.code) == (409, "invalid_transition")
    await service.runner.drain()
    assert not provider.requests


async def test_a_running_job_is_cancelled(
    service: Service,
    admin: Api,
    agent: dict[str, Any],
    provider: ProviderServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(background, "POLL_SECONDS", 0.02)
    provider.fails(hanging())
    job = await accept(admin, agent)
    working = asyncio.create_task(service.runner.drain())
    async with asyncio.timeout(10):
        while not provider.requests:
            await asyncio.sleep(0.01)
        await admin.post(path_of(agent, f"/jobs/{job['job_id']}/cancel"))
        await working
    assert (await job_of(admin, agent, job))["status"] == "cancelled"


async def test_waiting_for_a_job_ends_with_it(
    service: Service, admin: Api, agent: dict[str, Any], clock: ManualClock
) -> None:
    job = await accept(admin, agent)
    waiting = asyncio.create_task(job_of(admin, agent, job, wait=60))
    await service.runner.drain()
    async with asyncio.timeout(10):
        assert (await waiting)["status"] == "completed"
    too_long = await admin.get(path_of(agent, f"/jobs/{job['job_id']}"), query={"wait": 61})
    assert too_long.status == 422


async def test_a_job_of_a_deactivated_user_is_not_answered(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer, people: People
) -> None:
    member = await people.signed_in("agent_user")
    job = await accept(member, agent)
    await admin.post(f"/users/{member.user.id}/deactivate")
    await service.runner.drain()
    assert (await job_of(admin, agent, job))["status"] == "failed"
    assert not provider.requests


async def test_a_job_of_a_user_who_may_no_longer_chat_fails_and_says_why(
    service: Service, admin: Api, agent: dict[str, Any], provider: ProviderServer, people: People
) -> None:
    member = await people.signed_in("agent_user")
    job = await accept(member, agent)
    changed = await admin.put(f"/users/{member.user.id}/role", {"role": "viewer"})
    assert changed.status == 200, changed
    await service.runner.drain()
    failed = await job_of(admin, agent, job)
    assert (failed["status"], failed["error"]["code"]) == ("failed", "forbidden")
    assert not provider.requests


async def test_a_super_administrator_is_answered_in_every_tenant(
    service: Service, admin: Api, provider: ProviderServer, people: People
) -> None:
    tenant = await people.tenant()
    owner = await people.signed_in("tenant_admin", tenant)
    await add_key_for(owner, provider, models=["test-model"])
    agent = await make_agent(owner, primary_model="openai_compatible/test-model")
    answer = await admin.post(
        path_of(agent, "/async"), {"message": "Hello"}, headers={"X-Tenant-ID": tenant.id}
    )
    assert answer.status == 202, answer
    await service.runner.drain()
    assert (await job_of(owner, agent, answer.json()))["status"] == "completed"


async def test_what_was_told_to_a_job_goes_with_its_end(
    service: Service, admin: Api, agent: dict[str, Any], people: People, provider: ProviderServer
) -> None:
    job = await accept(admin, agent, context={"page": "Secret"})
    await service.runner.drain()
    assert "Secret" in provider.last.body.decode()
    async with people.context() as ctx:
        stored = await ctx.system("test").get(ChatJob, job["job_id"])
    assert stored is not None
    assert (stored.status, stored.context) == (JobStatus.completed, None)


async def test_the_events_of_a_job_tell_its_course(
    service: Service,
    admin: Api,
    agent: dict[str, Any],
    provider: ProviderServer,
    people: People,
    clock: ManualClock,
) -> None:
    job = await accept(admin, agent, "Hi")
    provider.says("Ho")
    await service.runner.drain()
    assert len(await events(people, "agent.chat.started")) == 1
    said = [one.data for one in await events(people, "agent.chat.message")]
    assert [(one["role"], one["content"], one["job_id"]) for one in said] == [
        ("user", "Hi", job["job_id"]),
        ("assistant", "Ho", job["job_id"]),
    ]
    usage = (await job_of(admin, agent, job))["result"]["usage"]
    assert [(one["usage"], one["tool_call_count"]) for one in said] == [(None, 0), (usage, 0)]
    (ended,) = await events(people, "agent.chat.completed")
    assert ended.data.pop("duration_ms") >= 0
    assert ended.data == {
        "agent_id": agent["id"],
        "conversation_id": job["conversation_id"],
        "job_id": job["job_id"],
        "reason": "job_completed",
        "message_count": 2,
        "usage": usage,
    }
    clock.advance(31 * 60)
    await service.runner.drain()
    assert len(await events(people, "agent.chat.completed")) == 1
