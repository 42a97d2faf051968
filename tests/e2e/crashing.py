"""Kill the server under load, again and again, and look at what it left behind."""

import asyncio
import email
import random
from collections import Counter
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Caller, Context
from retinue.kit.db.statements import Statement
from retinue.kit.events.audit_verification import verify_chain
from retinue.kit.events.models import EventEntry
from retinue.kit.jobs.models import Job
from retinue.kit.principal import SYSTEM
from retinue.kit.setting_loader import load_settings
from retinue.tenants.models import Tenant
from retinue.users.models import Invitation
from retinue.wiring import close_instance, open_instance, server_settings
from tests.e2e.load import Inviters, Ledger, call
from tests.e2e.processes import ADMIN_PASSWORD, ServerProcess

PATIENCE_S = 60


async def sign_in(port: int) -> str:
    body = {"email": "admin@example.com", "password": ADMIN_PASSWORD}
    status, answer = await call(port, "POST", "/auth/login", body=body)
    assert status == 200, answer
    token = answer["access_token"]
    _, tenant = await call(port, "GET", "/api/v1/tenant", token=token)
    unlimited = {"requests_per_minute": None, "requests_per_hour": None, "requests_per_day": None}
    status, answer = await call(
        port, "PUT", f"/api/v1/tenants/{tenant['id']}", token=token, body={"limits": unlimited}
    )
    assert status == 200, answer
    return str(token)


async def crash(server: ServerProcess, kills: int, seed: int) -> Ledger:
    """Kill at random moments under load, restart at once; the last start is left to finish its work."""
    chance = random.Random(seed)
    await server.start()
    inviters = Inviters(server.port, await sign_in(server.port))
    inviters.start()
    for _ in range(kills):
        await asyncio.sleep(chance.uniform(0.05, 0.6))
        server.kill()
        await server.start()
    ledger = await inviters.finish()
    await quiesce(server)
    await server.stop()
    return ledger


async def quiesce(server: ServerProcess) -> None:
    """Wait until the worker has nothing left to do; what it leaves after that is stuck."""
    instance = await open_instance(_settings(server))
    try:
        for _ in range(int(PATIENCE_S / 0.1)):
            async with Context(instance, SYSTEM, Caller(correlation_id="cor_test")) as ctx:
                system = ctx.system("the checker looks at everything")
                waiting = await system.scalar(
                    Statement(
                        sa.select(sa.func.count())
                        .select_from(Job.__table__)
                        .where(Job.__table__.c.queue == "mail")
                    )
                )
                undispatched = await system.count(EventEntry, is_dispatched=False)
            if not waiting and not undispatched:
                return
            await asyncio.sleep(0.1)
    finally:
        await close_instance(instance)


def _settings(server: ServerProcess) -> Any:
    settings, _ = load_settings({**server.env, "RETINUE_WORKER": "off"})
    return server_settings(settings, [("127.0.0.1", server.port)])


async def problems(server: ServerProcess, ledger: Ledger) -> list[str]:
    """Return every broken promise in words; none if all were kept."""
    found = [f"refused: {refusal}" for refusal in ledger.refused]
    instance = await open_instance(_settings(server))
    try:
        async with Context(instance, SYSTEM, Caller(correlation_id="cor_test")) as ctx:
            system = ctx.system("the checker looks at everything")
            stored = {row.email: row for row in await system.all(Invitation)}
            events = Counter(
                row.subject_id for row in await system.all(EventEntry, type="system.user.invited")
            )
            jobs = await system.all(Job, queue="mail")
            for tenant in await system.all(Tenant):
                verdict = await verify_chain(system, tenant.id)
                if not verdict.is_good:
                    found.append(f"audit chain: {verdict}")
    finally:
        await close_instance(instance)
    found += _lost(ledger, stored)
    found += _unannounced(stored, events)
    found += [f"job left behind: {job.kind} {job.state} {job.last_error}" for job in jobs]
    found += _unsent(server, stored)
    return found


def _lost(ledger: Ledger, stored: dict[str, Invitation]) -> list[str]:
    lost = [
        f"acknowledged but not there: {address}"
        for address, id in ledger.acked.items()
        if address not in stored or stored[address].id != id
    ]
    ghosts = stored.keys() - ledger.acked.keys() - ledger.unknown
    return lost + [f"there but never sent: {address}" for address in ghosts]


def _unannounced(stored: dict[str, Invitation], events: Counter[str]) -> list[str]:
    found = [f"{row.email} has {events[row.id]} events" for row in stored.values() if events[row.id] != 1]
    ids = {row.id for row in stored.values()}
    return found + [f"an event without its change: {id}" for id in events if id not in ids]


def _unsent(server: ServerProcess, stored: dict[str, Invitation]) -> list[str]:
    outbox = Path(server.env["RETINUE_DATA_DIR"]) / "outbox"
    sent = {email.message_from_bytes(path.read_bytes())["To"] for path in outbox.glob("*.eml")}
    return [f"no mail for {address}" for address in stored if address not in sent]
