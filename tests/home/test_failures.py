"""Home knows what fails, tells those who can do something about it, and claims no more than it knows."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from retinue.access.models import Role
from retinue.agents.models import Agent, LogSettings, WebSearch
from retinue.app import Service
from retinue.audit.models import AuditStream
from retinue.chat.models import ChatLog, TurnStatus
from retinue.events.models import ActionType, Subscription
from retinue.kit.clock import ManualClock
from retinue.kit.crypto import Sealed
from retinue.kit.db.models import TenantRecord
from retinue.traces.models import TraceExporter
from retinue.usage.models import UsageEntry
from tests.client import Api
from tests.factories.chat_logs import chat_log
from tests.factories.people import PASSWORD, People
from tests.services import restarted_without_key

pytestmark = pytest.mark.one_service("a process keeps what it found for ten seconds")


async def store(people: People, *records: TenantRecord) -> None:
    async with people.context((await people.default_tenant()).id) as ctx:
        for record in records:
            await ctx.db.insert(record)


async def home(person: Api) -> dict[str, Any]:
    answer = await person.get("/api/v1/home")
    assert answer.status == 200, answer
    return answer.json()


async def needs(person: Api) -> dict[str, dict[str, Any]]:
    return {need["title_code"]: need for need in (await home(person))["needs"]}


def new_agent() -> Agent:
    needed = {"web_search": WebSearch(), "log_settings": LogSettings(), "created_by": "usr"}
    return Agent(name="Clerk", primary_model="m", fallback_models=[], system_prompt="p", **needed)


def chat(agent: Agent, model: str, error: str | None = None) -> ChatLog:
    if error is None:
        return chat_log(agent, model=model, response_time_ms=90)
    refusal = {"code": error, "message": "secret words"}
    return chat_log(agent, model=model, response_time_ms=90, status=TurnStatus.failed, error=refusal)


def receivers(people: People) -> list[TenantRecord]:
    now = people.context().now
    stream: dict[str, Any] = {
        "url": "https://siem.example/",
        "headers": {},
        "secret": Sealed.of("s"),
        "due_at": now,
        "created_by": "usr",
    }
    exporter: dict[str, Any] = {
        "endpoint": "https://otel.example",
        "headers": {},
        "due_at": now,
        "last_error": "It answered 500.",
        "created_by": "usr",
    }
    return [
        AuditStream(name="SIEM", last_error="The receiver answered 500.", failure_count=3, **stream),
        AuditStream(name="Off", last_error="The receiver answered 500.", enabled=False, **stream),
        TraceExporter(name="Tempo", failing_since=now, **exporter),
        TraceExporter(name="Off", enabled=False, **exporter),
        Subscription(
            event_type="order.*",
            action_type=ActionType.webhook,
            action_config={"url": "https://crm.example/hook?key=CANARY"},
            filters={},
            failure_count=7,
            last_error="The receiver answered 500.",
            created_by="usr",
        ),
    ]


async def test_receivers_that_refuse_are_named(people: People) -> None:
    admin = await people.super_admin()
    await store(people, *receivers(people))
    found = await needs(admin)
    assert set(found) == {"audit_stream_failing", "trace_exporter_failing", "subscription_failing"}
    assert found["audit_stream_failing"]["object"]["name"] == "SIEM"
    assert found["audit_stream_failing"]["params"]["lag"] > 0
    assert found["trace_exporter_failing"]["object"]["name"] == "Tempo"
    told = found["subscription_failing"]["params"]
    assert (told["host"], told["failure_count"]) == ("crm.example", 7)
    assert "CANARY" not in str(found)


async def test_a_stream_that_nobody_sends_is_late_after_a_quarter_of_an_hour(
    people: People, clock: ManualClock
) -> None:
    stream = receivers(people)[0]
    stream.last_error = None
    await store(people, stream)
    assert await needs(await people.super_admin()) == {}
    clock.advance(1_000)
    assert set(await needs(await people.super_admin())) == {"audit_stream_late"}


async def test_a_model_whose_chats_fail_is_named_until_one_is_answered(
    people: People, clock: ManualClock
) -> None:
    agent = new_agent()
    await store(people, agent)
    for model, error in (
        ("openai/down", "model_error"),
        ("openai/down", "model_timeout"),
        ("openai/once", "model_error"),
        ("openai/broke", "budget_exceeded"),
        ("openai/broke", "budget_exceeded"),
        ("openai/mended", "model_error"),
        ("openai/mended", "model_error"),
        ("openai/mended", None),
    ):
        await store(people, chat(agent, model, error))
        clock.advance(1)
    shown = await home(await people.super_admin())
    (need,) = shown["needs"]
    assert (need["title_code"], need["object"]["name"]) == ("model_failing", "openai/down")
    assert (need["params"]["failed_count"], need["params"]["error"]) == (2, "model_timeout")
    assert shown["today"]["failed_chats"] == 7
    assert "secret words" not in str(shown)
    clock.advance(11)
    await store(people, chat(agent, "openai/down"))
    assert await needs(await people.super_admin()) == {}


async def test_a_cost_that_is_not_known_is_said_to_be_unknown(people: People) -> None:
    hour = people.context().now[:13]
    used = {"hour": hour, "prompt_tokens": 3000}
    await store(
        people,
        UsageEntry(model="openai_compatible/tea-large", **used),
        UsageEntry(model="local/demo", **used),
        UsageEntry(hour=hour, chat_requests=1),
    )
    today = (await home(await people.super_admin()))["today"]
    assert today["unpriced_models"] == ["openai_compatible/tea-large"]


async def test_accounts_that_wait_for_approval_are_told_to_who_may_approve(people: People) -> None:
    await people.user(is_pending=True)
    await people.user(is_pending=True)
    (need,) = (await home(await people.signed_in(Role.tenant_admin)))["needs"]
    assert (need["title_code"], need["params"]["count"]) == ("accounts_waiting", 2)
    assert await needs(await people.signed_in(Role.agent_developer)) == {}


async def test_who_cannot_act_is_neither_asked_nor_told_that_all_is_well(people: People) -> None:
    agent = new_agent()
    await store(people, agent, *receivers(people))
    await store(people, *(chat(agent, "openai/down", "model_error") for _ in range(2)))
    for role, codes in (
        (Role.viewer, set()),
        (Role.agent_user, set()),
        (Role.agent_developer, {"subscription_failing", "model_failing"}),
    ):
        person = await people.signed_in(role)
        assert set(await needs(person)) == codes, role
        assert (await home(person))["sees_all_needs"] is False
    boss = await people.signed_in(Role.tenant_admin)
    assert (await home(boss))["sees_all_needs"] is True
    assert len(await needs(boss)) == 4


@pytest.fixture
async def sealed_service(service: Service, clock: ManualClock) -> AsyncIterator[Service]:
    async with restarted_without_key(service, clock) as sealed:
        yield sealed


async def test_a_sealed_vault_is_on_home_and_in_health(sealed_service: Service) -> None:
    people = People(sealed_service)
    assert set(await needs(await people.super_admin())) == {"vault_sealed"}
    assert await needs(await people.signed_in(Role.viewer)) == {}
    health = await people.api.get("/health")
    assert (health.status, health.json()["status"], health.json()["vault"]) == (200, "sealed", "sealed")


async def _own_administrator(service: Service) -> Api:
    """Return who set the instance up in the browser, under another address than the printed one."""
    assert service.setup_token is not None
    person = {"first_name": "Mara", "last_name": "Lind", "email": "mara@halden.example", "password": PASSWORD}
    answer = await Api(service).post("/auth/setup", {**person, "token": service.setup_token.reveal()})
    assert answer.status == 200, answer
    return Api(service).signed_in(answer.json()["access_token"])


async def test_the_printed_administrator_is_named_until_somebody_deactivates_it(make_service: Any) -> None:
    service = await make_service(admin_password=None)
    mara = await _own_administrator(service)
    need = (await needs(mara))["administrator_unused"]
    assert (need["object"]["name"], need["action"]) == (service.settings.admin_email, "deactivate")
    assert "administrator_unused" not in await needs(await People(service).signed_in(Role.tenant_admin))
    assert (await mara.post(f"/users/{need['object']['id']}/deactivate")).status == 200
    assert "administrator_unused" not in await needs(mara), "at once"


async def test_an_administrator_with_a_chosen_password_is_nobody_s_need(people: People) -> None:
    """The service of the tests is started with one, so nothing was printed."""
    other = await people.sign_in(await people.user(Role.super_admin))
    assert await needs(other) == {}
