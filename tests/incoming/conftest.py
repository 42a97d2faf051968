"""A service on which a workflow can be started, by a starter that keeps what it was told."""

from typing import Any

import pytest

from retinue.app import Service
from retinue.domains import DOMAINS
from retinue.files.models import File
from retinue.kit.context import Context
from retinue.kit.context.manifest import Manifest
from retinue.kit.context.subscription_actions import WorkflowStart, WorkflowStarter
from retinue.kit.errors import Conflict

WORKFLOW = "wf_known"
REFUSING = "wf_draft"
BROKEN = "wf_broken"
STARTED = "started workflow"


class Starts:
    """Records the requested starts; a start is a row of the transaction, as a workflow's is."""

    def __init__(self) -> None:
        self.asked: list[WorkflowStart] = []

    async def start(self, ctx: Context, start: WorkflowStart) -> str:
        self.asked.append(start)
        made = await ctx.db.insert(
            File(
                filename=start.source_id,
                mime_type=start.trigger,
                size_bytes=0,
                sha256=start.workflow_id,
                purpose=STARTED,
            )
        )
        if start.workflow_id == REFUSING:
            raise Conflict("The workflow is not published.")
        if start.workflow_id == BROKEN:
            raise RuntimeError("a bug")
        return made.id

    async def exists(self, _ctx: Context, workflow_id: str) -> bool:
        return workflow_id in {WORKFLOW, REFUSING, BROKEN}


@pytest.fixture
def starts() -> Starts:
    return Starts()


def with_workflows(starts: Starts) -> tuple[Manifest, ...]:
    starter = WorkflowStarter(start=starts.start, exists=starts.exists)
    return (*DOMAINS, Manifest(name="starter", workflow_starters=(starter,)))


@pytest.fixture
async def service(make_service: Any, starts: Starts) -> Service:
    return await make_service(manifests=with_workflows(starts))
