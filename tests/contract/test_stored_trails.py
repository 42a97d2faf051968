"""Trails that the release before stored: after the migration, a stream is replayed as before."""

from importlib import import_module
from typing import Any

import msgspec
import pytest
import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations

from retinue.app import Service
from retinue.chat.models import Message
from retinue.chat.trail import (
    ApprovalAwaited,
    CallFinished,
    CallStarted,
    TextAdded,
    TrailStep,
    TurnSuspended,
)
from retinue.workflows.models import WorkflowExecution
from retinue.workflows.trail import TrailEntry, TrailEntryKind
from tests.chat.approving import LOOK_AT_GRAZ, Cast, Desk, Json, delegation
from tests.chat.conftest import agent, cast, desk, helper, provider, remote, weather
from tests.chat.speaking import events_of, path_of
from tests.client import Api
from tests.contract.migrating import on_connection
from tests.factories.people import People
from tests.factories.workflows import PATH, make_workflow, node, start

__all__ = ["agent", "cast", "desk", "helper", "provider", "remote", "weather"]

MIGRATION = import_module("retinue.migrations.versions.0029_tagged_trails")
EVERYTHING = {"include": "sub_agents"}
SIGNS = {TrailEntryKind.started: "+", TrailEntryKind.finished: "=", TrailEntryKind.approval_requested: "?"}


def old_step(step: TrailStep) -> int | str:
    """Return what the release before stored for this step."""
    match step:
        case TextAdded():
            return step.length
        case CallStarted():
            return f"{'B' if step.is_from_sub_agent else 'b'}{step.id}"
        case CallFinished():
            return "D" if step.is_from_sub_agent else "d"
        case ApprovalAwaited():
            return f"a{step.approval_id}"
        case TurnSuspended():
            return "s"


def old_entries(trail: list[TrailEntry]) -> str:
    return " ".join(SIGNS[entry.kind] + entry.node_id for entry in trail)


def migrate_again(connection: sa.Connection) -> None:
    with Operations.context(MigrationContext.configure(connection)):
        MIGRATION.upgrade()


async def store_old_and_migrate(
    service: Service, replies: list[Message], executions: list[WorkflowExecution]
) -> None:
    """Write the trails in their old form into columns of the old types, and run the migration."""

    def rewrite(connection: sa.Connection) -> None:
        on_postgresql = connection.dialect.name == "postgresql"
        if on_postgresql:
            connection.exec_driver_sql(
                'ALTER TABLE workflow_executions ALTER COLUMN trail TYPE text COLLATE "C" USING trail::text'
            )
        json_type = "jsonb" if on_postgresql else "text"
        for reply in replies:
            assert reply.trail is not None
            old = msgspec.json.encode([old_step(step) for step in reply.trail]).decode()
            connection.execute(
                sa.text(f"UPDATE messages SET trail = CAST(:old AS {json_type}) WHERE id = :id"),
                {"old": old, "id": reply.id},
            )
        for execution in executions:
            connection.execute(
                sa.text("UPDATE workflow_executions SET trail = :old WHERE id = :id"),
                {"old": old_entries(execution.trail), "id": execution.id},
            )
        migrate_again(connection)

    await on_connection(service.settings, rewrite)


async def all_of(people: People, admin: Api, record: Any) -> list[Any]:
    async with people.context(admin.user.tenant_id) as ctx:
        return await ctx.db.all(record)


@pytest.mark.every_case
@pytest.mark.parametrize("batch_size", [1, 500])
async def test_a_reply_that_waited_for_a_sub_agents_approval_is_replayed_as_before(
    service: Service,
    people: People,
    desk: Desk,
    cast: Cast,
    helper: Json,
    monkeypatch: pytest.MonkeyPatch,
    batch_size: int,
) -> None:
    monkeypatch.setattr(MIGRATION, "BATCH_SIZE", batch_size)
    paths = []
    for _ in range(2):
        cast.says(desk.agent, "I ask.", delegation(helper, "d1", "Weather in Graz?"))
        cast.says(helper, "Let me look.", LOOK_AT_GRAZ)
        answer = await desk.admin.post(path_of(desk.agent, "/stream"), {"message": "Hello"}, query=EVERYTHING)
        heard = events_of(answer.body)
        asked = next(one for one in heard if one.event == "approval_required")
        cast.says(helper, "It rains.")
        cast.says(desk.agent, "It rains.")
        await desk.approve(asked.data["approval_id"])
        await desk.work()
        paths.append(path_of(desk.agent, f"/stream/{heard[0].data['message_id']}"))
    replayed = [(await desk.admin.get(path, query=EVERYTHING)).body for path in paths]
    replies = [one for one in await all_of(people, desk.admin, Message) if one.trail is not None]
    assert len(replies) == 2
    kinds = {type(step) for reply in replies for step in reply.trail}
    assert kinds == {TextAdded, CallStarted, CallFinished, ApprovalAwaited, TurnSuspended}

    await store_old_and_migrate(service, replies, [])

    again = [one for one in await all_of(people, desk.admin, Message) if one.trail is not None]
    assert [one.trail for one in again] == [one.trail for one in replies]
    assert [(await desk.admin.get(path, query=EVERYTHING)).body for path in paths] == replayed
    assert {one.event for one in events_of(replayed[0])} >= {"tool_use", "tool_result", "content_delta"}


@pytest.mark.every_case
@pytest.mark.parametrize("batch_size", [1, 500])
async def test_an_execution_is_replayed_as_before(
    service: Service, people: People, admin: Api, monkeypatch: pytest.MonkeyPatch, batch_size: int
) -> None:
    monkeypatch.setattr(MIGRATION, "BATCH_SIZE", batch_size)
    workflow = await make_workflow(
        admin, node("a", set={"x": 1}), node("ask", "approval"), node("b-2", set={"y": 2}), links=["a>b-2"]
    )
    ids = [await start(admin, workflow) for _ in range(2)]
    await service.runner.drain()
    never_begun = await start(admin, workflow)
    paths = [f"{PATH}/{workflow['id']}/executions/{id}" for id in (*ids, never_begun)]
    for path in paths:
        assert (await admin.post(f"{path}/cancel", {})).status == 200
    replayed = [(await admin.get(f"{path}/stream")).body for path in paths]
    executions = await all_of(people, admin, WorkflowExecution)
    assert {entry.kind for entry in executions[0].trail} == set(TrailEntryKind)
    assert any(execution.trail == [] for execution in executions)

    await store_old_and_migrate(service, [], executions)

    again = await all_of(people, admin, WorkflowExecution)
    assert [one.trail for one in again] == [one.trail for one in executions]
    assert [(await admin.get(f"{path}/stream")).body for path in paths] == replayed


def test_every_old_step_has_a_tagged_one() -> None:
    stored = MIGRATION._tag_reply_trail('[6, "bcall_1", "d", "B", "Bd1", "D", "aapv_1", "s", 9]')
    assert msgspec.json.decode(stored) == [
        ["text", 6], ["call_started", "call_1", False], ["call_finished", False],
        ["call_started", "", True], ["call_started", "d1", True], ["call_finished", True],
        ["approval", "apv_1"], ["suspended"], ["text", 9],
    ]  # fmt: skip
    steps = msgspec.json.decode(stored, type=list[TrailStep])
    assert msgspec.json.encode(steps).decode() == stored
    entries = MIGRATION._tag_execution_trail("+n1 =n1 ?n-2")
    assert entries == '[["started","n1"],["finished","n1"],["approval_requested","n-2"]]'
    assert MIGRATION._tag_execution_trail("") == "[]"
