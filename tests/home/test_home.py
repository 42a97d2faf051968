"""Home: what needs somebody, today's figures and the first steps, each only for those who may see it."""

import time
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.agents.models import Agent, AgentStatus, LogSettings, WebSearch
from retinue.app import Service
from retinue.chat.models import ChatLog
from retinue.credentials.models import Credential, CredentialType
from retinue.home.today import percentile_95
from retinue.kit.clock import ManualClock
from retinue.kit.context import Context
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import TenantRecord
from retinue.knowledge.models import Document, DocumentStatus, KnowledgeBase
from retinue.notifications.models import Channel, ChannelType
from retinue.providers.models import ProviderKey, ProviderName
from retinue.usage import periods
from retinue.usage.models import Budget, BudgetAction, ScopeType, UsageEntry
from retinue.webhooks.models import Webhook
from retinue.workflows.models import RunStatus, Workflow, WorkflowExecution
from tests.client import Api
from tests.factories.chat_logs import chat_log
from tests.factories.people import People

pytestmark = pytest.mark.one_service("a process keeps what it found for ten seconds")

HOME = "/api/v1/home"


async def store(people: People, *records: TenantRecord) -> None:
    tenant = await people.default_tenant()
    async with people.context(tenant.id) as ctx:
        for record in records:
            await ctx.db.insert(record)


async def home(person: Api) -> dict[str, Any]:
    answer = await person.get(HOME)
    assert answer.status == 200, answer
    return answer.json()


def now(people: People) -> str:
    return people.context().now


def new_agent(**more: Any) -> Agent:
    needed = {"web_search": WebSearch(), "log_settings": LogSettings(), "created_by": "usr"}
    return Agent(name="Clerk", primary_model="m", fallback_models=[], system_prompt="p", **needed, **more)


def failing_webhook(people: People) -> Webhook:
    return Webhook(
        url="https://api.crm.example/hook",
        events=["*"],
        filters={},
        headers={},
        secrets=Sealed.of("s"),
        secret_prefix="whsec",
        disable_at=people.context().clock.ahead(86400),
        failed_count=45,
        created_by="usr",
    )


def run(workflow: Workflow, status: RunStatus, **more: Any) -> WorkflowExecution:
    return WorkflowExecution(
        workflow_id=workflow.id, version_id="wfv", version=1, status=status, trigger="manual", **more
    )


async def test_a_new_tenant_needs_nothing_and_has_everything_before_it(people: People) -> None:
    admin = await people.super_admin()
    shown = await home(admin)
    assert (shown["needs"], shown["compared_with"]) == ([], None)
    assert shown["counts"] == {"approvals": 0, "unread": 0}
    assert set(shown["checklist"].values()) == {False}
    assert (shown["today"]["chats"], shown["today"]["budget"], len(shown["today"]["series"])) == (0, None, 24)


async def test_everything_that_fails_is_named_with_the_place_where_it_is_solved(people: People) -> None:
    admin = await people.super_admin()
    flow = Workflow(name="Nightly stock sync")
    agent = new_agent()
    await store(people, failing_webhook(people), flow, agent)
    base = KnowledgeBase(owner_id=agent.id)
    await store(people, base)
    ahead = people.context().clock.ahead
    await store(
        people,
        run(flow, RunStatus.failed, error={"code": "column_type_mismatch", "message": "secret words"}),
        run(flow, RunStatus.failed),
        Channel(
            name="Mail",
            type=ChannelType.email,
            provider="smtp",
            config={},
            secret_keys=[],
            last_error="550",
            created_by="usr",
        ),
        ProviderKey(
            provider=ProviderName.openai, name="OpenAI", found_models=[], is_valid=False, created_by="usr"
        ),
        _credential("Carrier API", expires_at=ahead(3 * 86400)),
        _credential("Far away", expires_at=ahead(90 * 86400)),
        _credential("Over", expires_at=ahead(-60)),
        _credential("Refused", is_valid=False),
        Document(
            base_id=base.id,
            name="prices.pdf",
            mime_type="application/pdf",
            size_bytes=1,
            file_id="fil",
            status=DocumentStatus.failed,
            error={"code": "unreadable_document"},
            metadata={},
        ),
    )
    shown = await home(admin)
    told = {(need["title_code"], need["object"]["name"]): need for need in shown["needs"]}
    assert set(told) == {
        ("webhook_failing", "api.crm.example"),
        ("run_failed", "Nightly stock sync"),
        ("channel_failing", "Mail"),
        ("api_key_refused", "OpenAI"),
        ("credential_expires", "Carrier API"),
        ("credential_expired", "Over"),
        ("credential_invalid", "Refused"),
        ("document_failed", "prices.pdf"),
    }
    severities = [need["severity"] for need in shown["needs"]]
    assert severities == sorted(severities), "worst first"
    assert told["run_failed", "Nightly stock sync"]["params"]["failed_count"] == 2
    assert told["document_failed", "prices.pdf"]["params"]["agent_id"] == agent.id
    assert "secret words" not in str(shown)


def _credential(name: str, **more: Any) -> Credential:
    return Credential(
        name=name,
        type=CredentialType.api_key,
        secrets=Sealed.of("s"),
        secret_keys=[],
        masked={},
        metadata={},
        destinations=[],
        created_by="usr",
        entered_by="usr",
        **more,
    )


async def test_a_workflow_that_succeeded_since_needs_nobody(people: People, clock: ManualClock) -> None:
    admin = await people.super_admin()
    mended, old = Workflow(name="Mended"), Workflow(name="Old")
    await store(people, mended, old)
    await store(people, run(old, RunStatus.failed))
    clock.advance(25 * 3600)
    admin = await people.super_admin()
    await store(people, run(mended, RunStatus.failed))
    clock.advance(60)
    await store(people, run(mended, RunStatus.completed))
    assert (await home(admin))["needs"] == []


async def test_what_somebody_may_not_see_is_left_out(people: People) -> None:
    await people.super_admin()
    await store(
        people, failing_webhook(people), Budget(scope_type=ScopeType.tenant, scope_id="", created_by="u")
    )
    user = await people.sign_in(await people.user(Role.agent_user))
    shown = await home(user)
    assert shown["needs"] == []
    assert (shown["today"], shown["compared_with"]) == (None, None)
    assert shown["checklist"]["budget"] is None
    assert shown["counts"]["unread"] == 0
    assert (await people.api.get(HOME)).status == 401


async def test_another_tenant_sees_nothing_of_it(people: People) -> None:
    await store(people, failing_webhook(people))
    other = await people.tenant("Other")
    stranger = await people.sign_in(await people.user(Role.tenant_admin, other))
    assert (await home(stranger))["needs"] == []


async def test_a_super_administrator_sees_the_home_of_the_tenant_acted_in(people: People) -> None:
    admin = await people.super_admin()
    await store(people, failing_webhook(people))
    other = await people.tenant("Other")
    assert (await home(admin))["needs"]
    there = await admin.get(HOME, headers={"X-Tenant-ID": other.id})
    assert (there.status, there.json()["needs"]) == (200, [])


async def test_today_is_summed_by_hour_and_compared_with_a_week_ago(
    people: People, clock: ManualClock
) -> None:
    ctx = people.context()
    hour = ctx.now[:13]
    week_ago = ctx.clock.ahead(-7 * 86400)[:13]
    entry = {"prompt_tokens": 70, "completion_tokens": 30, "cached_tokens": 50, "cost_usd": 0.5}
    agent = new_agent()
    await store(
        people,
        agent,
        UsageEntry(hour=hour, chat_requests=2, **entry),
        UsageEntry(hour=hour, chat_requests=1, provider_key_id="pak", **entry),
        UsageEntry(hour=week_ago, chat_requests=8, **entry),
        Budget(scope_type=ScopeType.tenant, scope_id="", limit_usd=10.0, created_by="usr"),
    )
    await store(people, *(_log(agent, ms) for ms in (100, 200, 5000, None)))
    shown = await home(await people.super_admin())
    figures = shown["today"]
    assert (figures["chats"], figures["tokens"], figures["cached_tokens"]) == (2, 100, 50)
    assert (figures["cost_usd"], figures["p95_first_token_ms"]) == (0.5, 5000)
    assert figures["budget"]["limit_usd"] == 10.0
    assert figures["budget"]["spent"] >= 0.5
    at_now = figures["series"][int(hour[11:])]
    assert (at_now["chats"], at_now["p95_first_token_ms"]) == (2, 5000)
    assert sum(one["chats"] for one in figures["series"]) == 2
    assert shown["compared_with"] == {"day": week_ago[:10], "chats": 8, "tokens": 100, "cost_usd": 0.5}


def _log(agent: Agent, first_token_ms: int | None) -> ChatLog:
    return chat_log(agent, model="m", response_time_ms=9000, first_token_ms=first_token_ms)


@pytest.mark.parametrize(
    ("times", "expected"), [([], None), ([7], 7), (list(range(100)), 95), ([3, 1, 2], 3)]
)
def test_the_percentile(times: list[int], expected: int | None) -> None:
    assert percentile_95(times) == expected


async def test_a_budget_near_its_end_is_named(people: People) -> None:
    ctx = people.context()
    budget = Budget(
        scope_type=ScopeType.tenant, scope_id="", limit_usd=1.0, announced_for=ctx.now[:7], created_by="usr"
    )
    await store(people, budget, UsageEntry(hour=ctx.now[:13], cost_usd=0.9))
    (need,) = (await home(await people.super_admin()))["needs"]
    assert (need["title_code"], need["params"]["percent"], need["severity"]) == ("budget_near", 90, "warn")


async def test_a_used_up_budget_says_who_answers_nobody(people: People) -> None:
    ctx, agent = people.context(), new_agent()
    await store(people, agent)
    month = ctx.now[:7]
    spent = {"limit_usd": 1.0, "announced_for": month, "created_by": "usr"}
    of_agent = Budget(scope_type=ScopeType.agent, scope_id=agent.id, **spent)
    of_tenant = Budget(scope_type=ScopeType.tenant, scope_id="", action=BudgetAction.notify, **spent)
    key = ProviderKey(
        provider=ProviderName.openai,
        name="Main key",
        found_models=[],
        monthly_budget_usd=0.5,
        created_by="usr",
    )
    await store(people, of_agent, of_tenant, key)
    hour = ctx.now[:13]
    await store(
        people,
        UsageEntry(hour=hour, agent_id=agent.id, cost_usd=1.05),
        UsageEntry(hour=hour, provider_key_id=key.id, cost_usd=0.5),
    )
    found = [one for one in (await home(await people.super_admin()))["needs"] if one["kind"] == "budget"]
    by_object = {one["object"]["id"]: one for one in found}
    assert by_object.keys() == {of_agent.id, of_tenant.id, key.id}
    desk = by_object[of_agent.id]
    assert (desk["title_code"], desk["severity"], desk["action"]) == ("budget_blocks", "bad", "raise_limit")
    assert desk["object"] == {"type": "budget", "id": of_agent.id, "name": "Clerk"}
    assert desk["params"] == {
        "percent": 105,
        "resets_at": periods.end_of(month),
        "scope": "agent",
        "scope_id": agent.id,
        "scope_name": "Clerk",
        "budget_id": of_agent.id,
        "period": "month",
        "action": "block",
        "refused_count": 0,
        "refused_because": None,
    }
    assert by_object[of_tenant.id]["title_code"] == "budget_spent"
    of_key = by_object[key.id]
    # Another key may answer instead, so nobody is said to be silent.
    assert (of_key["title_code"], of_key["object"]["type"], of_key["params"]["budget_id"]) == (
        "budget_spent",
        "api_key",
        None,
    )


async def test_a_key_that_may_spend_nothing_is_named(people: People) -> None:
    key = ProviderKey(
        provider=ProviderName.openai, name="Paused", found_models=[], monthly_budget_usd=0.0, created_by="usr"
    )
    await store(people, key)
    (need,) = [one for one in (await home(await people.super_admin()))["needs"] if one["kind"] == "budget"]
    assert (need["object"]["id"], need["params"]["percent"]) == (key.id, 100)


async def test_a_budget_that_is_over_when_it_is_set_is_named(people: People, service: Service) -> None:
    admin, agent = await people.super_admin(), new_agent()
    await store(people, agent)
    await store(people, UsageEntry(hour=now(people)[:13], agent_id=agent.id, cost_usd=1.0))
    body = {"scope": {"type": "agent", "id": agent.id}, "limit_usd": 0.5}
    assert (await admin.post("/api/v1/budgets", body)).status == 201
    await service.runner.drain()
    (need,) = [one for one in (await home(admin))["needs"] if one["kind"] == "budget"]
    assert (need["title_code"], need["object"]["name"]) == ("budget_blocks", "Clerk")


async def test_the_first_steps_are_done_when_they_are_really_done(people: People, clock: ManualClock) -> None:
    admin = await people.super_admin()
    assert (await home(admin))["checklist"]["agent"] is False
    agent = new_agent(status=AgentStatus.published)
    await store(people, agent)
    assert (await home(admin))["checklist"]["agent"] is False, "ten seconds old at most"
    clock.advance(11)
    await people.sign_in(await people.user())
    checklist = (await home(admin))["checklist"]
    assert (checklist["agent"], checklist["colleague"], checklist["budget"]) == (True, True, False)


async def test_home_reads_few_rows_of_a_large_tenant(people: People) -> None:
    """Fifty thousand executions and turns, of which few need anybody: no query reads them all."""
    admin = await people.super_admin()
    flow = Workflow(name="Busy")
    agent = new_agent()
    await store(people, flow, agent)
    tenant = await people.default_tenant()
    async with people.context(tenant.id) as ctx:
        await _fill(ctx, flow, agent)
    started = time.process_time()
    assert (await home(admin))["today"]["p95_first_token_ms"] is not None
    assert time.process_time() - started < 0.25


async def _fill(ctx: Context, flow: Workflow, agent: Agent) -> None:
    for _ in range(10):
        await ctx.db.insert_many([run(flow, RunStatus.completed) for _ in range(2_500)])
        await ctx.db.insert_many([_log(agent, 400) for _ in range(2_500)])
