"""Failpoints of a server that delivers webhooks, and waits for the next start."""

import asyncio
import contextlib

from retinue.incoming.models import ReceivedPayload
from retinue.kit.events.models import EventEntry
from retinue.webhooks.models import DeliveryStatus, WebhookDelivery
from retinue.workflows.models import RunStatus, WorkflowExecution
from tests.e2e.chatting import open_database
from tests.e2e.load import Unreachable, call
from tests.e2e.processes import ServerProcess

PLACES = (
    "before_relay_commit",
    "after_relay_commit",
    "after_claim",
    "before_webhook_send",
    "after_webhook_send",
    "before_finish",
    "after_finish",
)

PATIENCE_S = 60


async def wait_until_ready(server: ServerProcess) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with contextlib.suppress(*Unreachable):
                await call(server.port, "GET", "/health")
                return
            await asyncio.sleep(0.02)


async def wait_until_quiet(server: ServerProcess) -> None:
    """Wait until nothing is pending, up to the limit: work that remains after it is stuck."""
    async with open_database(server) as ctx:
        system = ctx.detached().system("the checker looks at everything")
        for _ in range(PATIENCE_S * 10):
            waiting = [
                await system.count(WebhookDelivery, status=DeliveryStatus.pending),
                await system.count(EventEntry, is_dispatched=False),
                await system.count(ReceivedPayload, is_waiting=True),
                await system.count(WorkflowExecution, status=RunStatus.running),
                await system.count(WorkflowExecution, status=RunStatus.pending),
            ]
            if not any(waiting):
                return
            await asyncio.sleep(0.1)
