"""Things are deleted while they are used: nobody gets a 5xx, and nothing is left of what is gone.

On PostgreSQL those who use a thing and those who delete it take locks in different orders; a transaction
that is rolled back for that is repeated. The server looks for deadlocks sooner than usual here, so that
rounds are quick.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from retinue.app import Service
from retinue.kit.clock import SystemClock
from retinue.kit.db.databases import direct_url
from tests.adapters.llm_server import ProviderServer
from tests.client import Api, Response
from tests.conftest import broken_jobs
from tests.databases import SERVER
from tests.factories.agents import make_agent
from tests.factories.credentials import SECRETS
from tests.factories.credentials import create as make_credential
from tests.factories.forms import make_form, send
from tests.factories.people import People
from tests.factories.providers import add_key_for
from tests.factories.tools import make_tool
from tests.factories.workflows import make_workflow, node

pytestmark = [
    pytest.mark.every_case,
    pytest.mark.one_service("its worker runs in the background"),
    pytest.mark.skipif(not SERVER, reason="SQLite has one writer, so two never wait for each other"),
]

ROUNDS = 8
USES = 16

Use = Callable[[int], Awaitable[Response]]
Storm = Callable[[], Awaitable[tuple[Use, Callable[[], Awaitable[Response]]]]]


@pytest.fixture
def clock() -> SystemClock:
    return SystemClock()


@pytest.fixture
async def service(make_service: Any) -> AsyncIterator[Service]:
    made: Service = await make_service(database_pool=20, burst=False)
    url = direct_url(made.settings)
    await _set_patience(url, "= '20ms'")
    await made.runner.start()
    yield made
    await made.runner.stop()
    await _set_patience(url, "TO DEFAULT")


async def _set_patience(url: str, value: str) -> None:
    connection = await asyncpg.connect(url)
    name = await connection.fetchval("SELECT current_database()")
    await connection.execute(f'ALTER DATABASE "{name}" SET deadlock_timeout {value}')
    # The server's own connections are made anew, and are patient no longer.
    await connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND application_name = 'retinue' AND state = 'idle'"
    )
    await connection.close()


async def weather(service: Service, storm: Storm) -> list[int]:
    """Delete and use things for some rounds; return the statuses of all uses."""
    found: list[int] = []
    for number in range(ROUNDS):
        use, delete = await storm()
        uses = [asyncio.create_task(use(number)) for number in range(USES)]
        await asyncio.sleep(0.01 * number)
        gone = await delete()
        answers = await asyncio.gather(*uses)
        faults = [answer for answer in (gone, *answers) if answer.status >= 500]
        assert faults == []
        assert gone.status in {200, 204}, gone
        after = await use(USES)
        assert after.status in {404, 409, 422}, after
        found += [answer.status for answer in answers]
    assert await broken_jobs(service) == []
    return found


async def test_agents_are_deleted_during_chats(
    service: Service, admin: Api, provider: ProviderServer
) -> None:
    await add_key_for(admin, provider, models=["test-model"])

    async def storm() -> Any:
        agent = await make_agent(admin, primary_model="openai_compatible/test-model", status="published")
        path = f"/api/v1/agents/{agent['id']}"
        first = (await admin.post(f"{path}/chat", {"message": "Hello"})).json()

        async def chat(number: int) -> Response:
            goes_on = {"conversation_id": first["conversation_id"]} if number % 2 else {}
            return await admin.post(f"{path}/chat", {"message": "Again", **goes_on})

        return chat, lambda: admin.delete(path)

    assert set(await weather(service, storm)) <= {200, 404, 409}


async def test_users_are_deleted_during_notifications(service: Service, admin: Api, people: People) -> None:
    async def storm() -> Any:
        user = await people.user("agent_user")
        other = await people.user("agent_user")

        async def notify(_: int) -> Response:
            body = {"title": "Hi", "message": "There", "type": "note", "user_ids": [user.id, other.id]}
            return await admin.post("/api/v1/notifications", body)

        async def told(number: int) -> Response:
            answer = await notify(number)
            return answer if number < USES else await admin.get(f"/users/{user.id}")

        return told, lambda: admin.delete(f"/users/{user.id}")

    await weather(service, storm)


async def test_forms_are_deleted_while_they_are_submitted(service: Service, admin: Api, api: Api) -> None:
    async def storm() -> Any:
        form = await make_form(admin)
        return lambda _: send(api, form), lambda: admin.delete(f"/api/v1/forms/{form['id']}")

    assert 201 in await weather(service, storm)


async def test_tables_are_deleted_while_rows_are_added(service: Service, admin: Api) -> None:
    async def storm() -> Any:
        columns = [{"name": "n", "type": "integer"}]
        made = (await admin.post("/api/v1/data-tables", {"name": "Rows", "columns": columns})).json()
        path = f"/api/v1/data-tables/{made['data']['id']}"
        return lambda n: admin.post(f"{path}/rows", {"n": n}), lambda: admin.delete(path)

    await weather(service, storm)


@pytest.mark.parametrize("which", ["inner", "outer"])
async def test_workflows_are_deleted_while_they_run(service: Service, admin: Api, which: str) -> None:
    async def storm() -> Any:
        inner = await make_workflow(
            admin, node("a"), node("b", "emit_event", event_type="go.on"), links=["a>b"]
        )
        outer = await make_workflow(
            admin,
            node("loop", "loop", items=[1, 2, 3], on_item_error="continue",
                 node={"type": "sub_workflow", "config": {"workflow_id": inner["id"]}}),
        )  # fmt: skip
        path = {
            name: f"/api/v1/workflows/{one['id']}" for name, one in {"inner": inner, "outer": outer}.items()
        }

        async def execute(number: int) -> Response:
            return await admin.post(f"{path['outer' if number < USES else which]}/execute", {})

        return execute, lambda: admin.delete(path[which])

    await weather(service, storm)


async def test_webhooks_are_deleted_during_deliveries(
    service: Service, admin: Api, provider: ProviderServer
) -> None:
    async def storm() -> Any:
        body = {"url": f"{provider.url}/hook", "events": ["go.on"]}
        made = (await admin.post("/api/v1/webhooks", body)).json()
        path = f"/api/v1/webhooks/{made['id']}"

        async def happen(number: int) -> Response:
            if number == USES:
                return await admin.get(path)
            return await admin.post("/api/v1/events/test", {"event_type": "go.on", "data": {}})

        return happen, lambda: admin.delete(path)

    await weather(service, storm)


async def test_tools_are_deleted_while_they_are_used(service: Service, admin: Api) -> None:
    async def storm() -> Any:
        tool = await make_tool(admin)
        path = f"/v1/tools/{tool['id']}"
        return lambda _: admin.post(f"{path}/execute", {"input": {}}), lambda: admin.delete(path)

    await weather(service, storm)


async def test_credentials_are_deleted_while_their_secrets_change(service: Service, admin: Api) -> None:
    async def storm() -> Any:
        made = await make_credential(admin)
        path = f"/v1/credentials/{made['id']}"
        secrets = {"secrets": SECRETS["api_key"]}

        async def change(number: int) -> Response:
            return await (
                admin.put(f"{path}/secrets", secrets) if number % 2 else admin.get(f"{path}/reveal")
            )

        return change, lambda: admin.delete(path)

    await weather(service, storm)
