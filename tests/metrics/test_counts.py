"""Known things are done, and the metrics say how many."""

from typing import Any

import pytest

from retinue.app import Service
from retinue.kit.clock import ManualClock
from retinue.webhooks.job_kinds import DELIVER_WEBHOOK
from tests.adapters.llm_server import ProviderServer, refusing
from tests.chat.speaking import stream
from tests.client import Api
from tests.factories import second_factors
from tests.factories.agents import change_agent, make_agent
from tests.factories.people import People
from tests.factories.tools import make_tool, run_tool
from tests.factories.workflows import make_workflow, node, run
from tests.metrics.scrapes import scrape
from tests.usage.spending import add_budget, chat, usage
from tests.webhooks.hooks import Hooks
from tests.webhooks.receiver import Receiver

Json = dict[str, Any]


async def test_requests_are_counted_by_template_method_and_status(admin: Api) -> None:
    before = await scrape(admin)
    paths = (*["/api/v1/agents/agt_none"] * 3, "/api/v1/agents", "/no/such/path")
    assert [(await admin.get(path)).status for path in paths] == [404, 404, 404, 200, 404]
    assert (await admin.request("BREW", "/api/v1/agents")).status == 405
    after = await scrape(admin)

    def more(**labels: str) -> float:
        name = "retinue_http_requests_total"
        return after[name, labels] - before[name, labels]

    assert more(route="/api/v1/agents/{agent_id}", method="GET", status="404") == 3
    assert more(route="/api/v1/agents", method="GET", status="200") == 1
    assert more(route="unknown", status="404") == 1
    assert more(method="other", status="405") == 1
    durations = "retinue_http_request_duration_seconds_count"
    assert after[durations, {"cost": "read"}] - before[durations, {"cost": "read"}] >= 5
    assert after["retinue_http_requests_in_flight"] == 1, "the scrape itself"
    assert after["retinue_streams_open"] == 0


async def test_sign_ins_are_counted_by_outcome(
    service: Service, admin: Api, people: People, clock: ManualClock
) -> None:
    before = await scrape(admin)
    person = await people.signed_in("viewer", await people.tenant())
    stranger = Api(service)
    for _ in range(2):
        wrong = {"email": person.user.email, "password": "not the password"}
        assert (await stranger.post("/auth/login", wrong)).status == 401
    factor = await second_factors.enable(person, clock)
    clock.advance(60)
    token = await second_factors.mfa_token(stranger, person.user)
    assert (await second_factors.complete(stranger, token, "000000")).status == 401
    assert (await second_factors.complete(stranger, token, factor.code())).status == 200
    after = await scrape(admin)

    def more(method: str, outcome: str) -> float:
        labels = {"method": method, "outcome": outcome}
        return after["retinue_logins_total", labels] - before["retinue_logins_total", labels]

    assert more("password", "invalid_credentials") == 2
    assert more("password", "mfa_required") == 1
    assert (more("mfa", "invalid_code"), more("mfa", "success")) == (1, 1)


async def chat_three_times(admin: Api, agent: Json, provider: ProviderServer) -> None:
    """Have one reply at once, one as a stream, and one that fails."""
    usage_details = {"cached_tokens": 200}
    counts = {"prompt_tokens": 1000, "completion_tokens": 50, "prompt_tokens_details": usage_details}
    provider.says("One.", usage=counts)
    assert (await chat(admin, agent)).status == 200
    provider.says("Two.", usage=counts)
    assert await stream(admin, agent)
    provider.fails(refusing(400, {"error": {"message": "no"}}))
    assert (await chat(admin, agent)).status >= 400


async def test_chats_models_tokens_and_cost_agree_with_the_usage_api(
    admin: Api, agent: Json, provider: ProviderServer
) -> None:
    await chat_three_times(admin, agent, provider)
    found = await scrape(admin)
    chats = {status: found["retinue_chats_total", {"status": status}] for status in ("completed", "failed")}
    assert chats == {"completed": 2, "failed": 1}
    assert found["retinue_chat_duration_seconds_count"] == 3
    assert found["retinue_chat_time_to_first_token_seconds_count"] == 1
    model = {"provider": "openai", "model": "gpt-4o"}
    assert found["retinue_model_calls_total", {**model, "outcome": "success"}] == 2
    assert found["retinue_model_calls_total", model] == 3
    tokens = {kind: found["retinue_model_tokens_total", {**model, "type": kind}] for kind in TOKEN_TYPES}
    assert tokens == {"input": 1600, "cached": 400, "output": 100}
    told = (await usage(admin))["totals"]["estimated_cost_usd"]
    assert found["retinue_model_cost_usd_total", model] == pytest.approx(told)
    assert told > 0


TOKEN_TYPES = ("input", "cached", "output")


async def test_a_made_up_model_makes_no_series(admin: Api, agent: Json, provider: ProviderServer) -> None:
    await change_agent(admin, agent, primary_model="openai/made-up-by-a-tenant")
    provider.says("Hello.")
    assert (await chat(admin, agent)).status == 200
    unknown = await make_agent(admin, primary_model="nobody/has-this-one", status="published")
    await chat(admin, unknown)
    found = await scrape(admin)
    assert found["retinue_model_calls_total", {"provider": "openai", "model": "other"}] == 1
    assert "made-up-by-a-tenant" not in found.text
    assert "has-this-one" not in found.text


async def test_a_budget_that_refuses_is_counted(admin: Api, agent: Json, provider: ProviderServer) -> None:
    await add_budget(admin, {"type": "agent", "id": agent["id"]}, limit_tokens=100, action="block")
    provider.says("Hello.", usage={"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100})
    assert (await chat(admin, agent)).status == 200
    assert (await chat(admin, agent)).status == 429
    found = await scrape(admin)
    assert found["retinue_budget_refusals_total"] == 1
    assert found["retinue_rate_limited_total"] == 0


async def test_refusals_of_rate_limits_are_counted_by_window(admin: Api, people: People) -> None:
    person = await people.signed_in("viewer", await people.tenant(plan="free"))
    refused = 0
    for _ in range(200):
        refused += (await person.get("/auth/me")).status == 429
    found = await scrape(admin)
    assert refused > 0
    assert found["retinue_rate_limited_total", {"window": "minute"}] == refused


async def test_runs_of_tools_are_counted_by_kind_and_status(admin: Api, receiver: Receiver) -> None:
    code = {"runtime": "javascript", "code": "function run() { throw new Error('no') }"}
    function = await make_tool(admin, tool_type="function", config=code)
    assert (await run_tool(admin, function))["status"] == "failed"
    await run_tool(admin, await make_tool(admin, receiver.url))
    found = await scrape(admin)
    assert found["retinue_tool_executions_total", {"kind": "rest_api"}] == 1
    assert found["retinue_tool_executions_total", {"kind": "function", "status": "failed"}] == 1
    assert found["retinue_tool_duration_seconds_count"] == 2
    assert found["retinue_sandbox_runs_total", {"status": "runtime_error"}] == 1


async def test_deliveries_jobs_and_waiting_work_are_counted(
    service: Service, admin: Api, hooks: Hooks, receiver: Receiver
) -> None:
    receiver.answers["/hook"] = [(200, {}, b""), (500, {}, b""), (200, {}, b"")]
    await hooks.make()
    await hooks.work()
    await hooks.happen()
    await hooks.work()
    await hooks.happen()
    await service.sampler.sample_database()
    assert (await scrape(admin))["retinue_events_waiting"] >= 1
    await hooks.work()
    found = await scrape(admin)
    outcomes = {name: found["retinue_webhook_deliveries_total", {"outcome": name}] for name in OUTCOMES}
    assert outcomes == {"delivered": 1, "retried": 1, "failed": 0}
    assert found["retinue_webhook_delivery_lag_seconds_count"] == 1
    kind = DELIVER_WEBHOOK.name
    assert found["retinue_jobs_total", {"kind": kind, "outcome": "done"}] == 1
    assert found["retinue_jobs_total", {"kind": kind, "outcome": "retried"}] == 1
    hooks.clock.advance(100)
    await service.sampler.sample_database()
    found = await scrape(admin)
    queues = {
        sample.labels["queue"]
        for sample in found.samples
        if sample.name == "retinue_jobs_waiting" and sample.value
    }
    assert len(queues) >= 1
    assert found["retinue_job_oldest_age_seconds"] > 0
    assert found["retinue_events_waiting"] == 0
    assert found["retinue_approvals_waiting"] == 0


OUTCOMES = ("delivered", "retried", "failed")


async def test_workflow_runs_are_counted_by_status(service: Service, admin: Api) -> None:
    workflow = await make_workflow(admin, node("a", set={"n": 1}))
    assert (await run(service, admin, workflow))["status"] == "completed"
    found = await scrape(admin)
    assert found["retinue_workflow_runs_total", {"status": "completed"}] == 1


async def test_refused_addresses_are_counted_by_reason(admin: Api) -> None:
    before = (await scrape(admin))["retinue_egress_refused_total", {"reason": "address"}]
    hook = {"url": "https://169.254.169.254/latest", "events": ["order.placed"]}
    assert (await admin.post("/api/v1/webhooks", hook)).status == 422
    assert (await scrape(admin))["retinue_egress_refused_total", {"reason": "address"}] == before + 1
