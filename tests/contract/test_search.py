"""Search folds case in every script, in the same way on every list and on both databases."""

from typing import Any

import pytest

from retinue.access.models import Role
from retinue.chat.models import ChatChannel, ChatLog, Conversation, TurnStatus
from tests.client import Api
from tests.factories.agents import make_agent
from tests.factories.credentials import create
from tests.factories.forms import NAME, make_form, submit
from tests.factories.people import People
from tests.factories.workflows import make_workflow
from tests.tables.tables import BASE as TABLES

pytestmark = pytest.mark.every_case

# What is stored, and what finds it; the second of each pair must not.
FOUND = {
    "Café ÉTÉ": ["été", "ÉTÉ", "cafÉ", "e\u0301te\u0301", "café été"],
    "Cafe\u0301 decomposed": ["café d", "CAFÉ D"],
    "ЖУК жужжит": ["жук", "ЖУЖЖИТ", "Жук Жу"],
    "Große Straße": ["straße", "STRASSE", "STRAẞE", "grosse", "GROẞE"],
    "İstanbul 100%": ["İSTANBUL", "i\u0307stanbul", "100%"],
    "ΟΔΟΣ οδός": ["οδος", "ΟΔΌΣ"],
    "snake_case": ["SNAKE_CASE", "e_c"],
}
NOT_FOUND = ["snakeXcase", "e%c", "жу_", "100_", "zzz", "\\", "[a-z]", ".*", "(?#61)"]


async def names_found(
    api: Api, path: str, search: str, name: str = "name", list_at: str = "data"
) -> set[str]:
    answer = await api.get(path, query={"search": search, "per_page": 100})
    assert answer.status == 200, answer
    return {one[name] for one in answer.json()[list_at]}


async def assert_folds(api: Api, path: str, name: str = "name", list_at: str = "data") -> None:
    for stored, questions in FOUND.items():
        for question in questions:
            found = await names_found(api, path, question, name, list_at)
            assert stored in found, (path, stored, question, found)
    for question in NOT_FOUND:
        found = await names_found(api, path, question, name, list_at)
        assert not found.intersection(FOUND), (path, question, found)


async def test_the_lists_of_what_people_make(admin: Api, people: People) -> None:
    person = await people.signed_in(Role.tenant_admin)
    for name in FOUND:
        await make_agent(person, name=name)
        await create(person, "api_key", secrets={"api_key": "k"}, name=name)
        await make_form(person, NAME, name=name)
        await make_workflow(person, name=name)
        body = {"name": name, "category": "custom", "tool_type": "custom", "auth_type": "none", "config": {}}
        assert (await person.post("/v1/tools", body)).status == 201
        assert (await person.post(TABLES, {"name": name, "columns": []})).status == 201
        member = await people.user(Role.viewer)
        async with people.context(member.tenant_id) as ctx:
            await ctx.db.update(member, first_name=name)
    for path in (
        "/api/v1/agents",
        "/v1/credentials",
        "/api/v1/forms",
        "/api/v1/workflows",
        "/v1/tools",
        TABLES,
    ):
        await assert_folds(person, path)
    await assert_folds(person, "/users", "first_name", "users")


async def test_rows_of_data_tables_and_their_filters(people: People) -> None:
    person = await people.signed_in(Role.agent_developer)
    columns = [
        {"name": "name", "type": "text"},
        {"name": "indexed", "type": "text", "indexed": True},
        {"name": "tags", "type": "multi_select", "options": list(FOUND)},
    ]
    table = (await person.post(TABLES, {"name": "Names", "columns": columns})).json()["data"]
    here = f"{TABLES}/{table['id']}/rows"
    for name in FOUND:
        for column in ("name", "indexed"):
            row = {"name": name, column: name}
            assert (await person.post(here, row)).status == 201
    await assert_folds(person, here)
    for stored, questions in FOUND.items():
        for column in ("name", "indexed"):
            for question in questions:
                query = {"filter": f'{{"{column}": {{"contains": "{question}"}}}}'}
                found = (await person.get(here, query=query)).json()["data"]
                assert stored in {one[column] for one in found}, (stored, question)


async def test_conversations_and_logs(people: People) -> None:
    person = await people.signed_in(Role.tenant_admin)
    agent = await make_agent(person)
    async with people.context(person.user.tenant_id) as ctx:
        for name in FOUND:
            conversation = Conversation(
                agent_id=agent["id"], title=name, channel=ChatChannel.console, last_message_at=ctx.now
            )
            await ctx.db.insert(conversation)
            log: dict[str, Any] = {"user_message": "Hello", "assistant_message": f"… {name} …"}
            await ctx.db.insert(
                ChatLog(
                    agent_id=agent["id"],
                    conversation_id=conversation.id,
                    message_id=conversation.id,
                    channel=ChatChannel.console,
                    tool_calls=[],
                    model="m",
                    response_time_ms=1,
                    status=TurnStatus.completed,
                    correlation_id="c",
                    **log,
                )
            )
    await assert_folds(person, "/api/v1/conversations", "title")
    for stored, questions in FOUND.items():
        for question in questions:
            found = await names_found(
                person, f"/api/v1/agents/{agent['id']}/logs", question, "assistant_message"
            )
            assert f"… {stored} …" in found, (stored, question)


async def test_submissions(people: People, api: Api) -> None:
    """By the beginnings of words, and besides without regard to accents."""
    person = await people.signed_in(Role.agent_developer)
    form = await make_form(person, NAME)
    for name in FOUND:
        await submit(api, form, {"name": name})
    for stored, questions in FOUND.items():
        for question in questions:
            answer = await person.get(f"/api/v1/forms/{form['id']}/submissions", query={"search": question})
            if question.isalpha():
                found = {one["data"]["name"] for one in answer.json()["data"]}
                assert stored in found, (stored, question, found)
