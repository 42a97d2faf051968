"""Checks of what an instance talks to: the database, the vault, Redis, the mail server, its own worker."""

import dataclasses
from collections.abc import AsyncIterator

from retinue.adapters.mail.message import MailFailed
from retinue.adapters.mail.smtp import SmtpMailer
from retinue.adapters.sandbox import Sandbox
from retinue.cli.doctor.findings import Finding, fail, ok, warn
from retinue.cli.maintenance import command_context
from retinue.kit.clock import SystemClock
from retinue.kit.context.instance import Instance
from retinue.kit.db.databases import database_for, is_postgres, sqlite_path
from retinue.kit.db.diagnosis import (
    DatabaseFacts,
    count_undispatched_events,
    find_broken_audit_heads,
    read_facts,
)
from retinue.kit.db.engine import Database
from retinue.kit.errors import CannotStart, RetinueError
from retinue.kit.jobs.waiting_counts import count_waiting_jobs
from retinue.kit.settings import Settings
from retinue.kit.vault.status import read_status
from retinue.migrations.upgrade import LAST_COMMIT_BEFORE_BASELINE, current, first, head
from retinue.wiring import close_instance, command_settings, open_instance

MAX_CLOCK_OFFSET_SECONDS = 2.0
MAX_LATENCY_MS = 20.0
MAX_POOL_SHARE = 0.8
MIN_POSTGRES_MAJOR = 14
MAX_LAG_SECONDS = 60.0
MAX_WAITING_EVENTS = 1_000
NOTIFICATION_SECONDS = 6.0


async def check_services(settings: Settings) -> AsyncIterator[Finding]:
    async for finding in _database(settings):
        yield finding
    yield await _redis(settings)
    yield await _smtp(settings)


async def _database(settings: Settings) -> AsyncIterator[Finding]:
    if not is_postgres(settings) and not sqlite_path(settings).exists():
        hint = "Run the command in the folder of the server, or start one: retinue serve"
        yield fail("database", f"{sqlite_path(settings)} does not exist", hint)
        return
    database = database_for(settings, is_command=True)
    try:
        await database.open()
        try:
            facts, revision = await read_facts(database), await current(database)
            yield _version(database.dialect, facts)
            yield _clock(facts)
            yield _latency(facts)
            if database.dialect == "postgresql":
                yield _pool(settings, facts)
                yield await _direct_connection(database)
                yield _pgvector(facts)
            yield _revision(revision)
            if revision == head():
                yield await _audit_heads(database)
                yield await _events(database)
        finally:
            await database.close()
    except (CannotStart, RetinueError, OSError) as error:
        yield fail("database", str(error), "Check RETINUE_DATABASE_URL, the server and its rights.")
        return
    if revision == head():
        async for finding in _instance(settings):
            yield finding


def _version(dialect: str, facts: DatabaseFacts) -> Finding:
    name = "SQLite" if dialect == "sqlite" else "PostgreSQL"
    major = int(facts.version.partition(".")[0].split()[0])
    if dialect == "postgresql" and major < MIN_POSTGRES_MAJOR:
        hint = f"Use PostgreSQL {MIN_POSTGRES_MAJOR} or newer."
        return fail("database", f"{name} {facts.version}", hint)
    return ok("database", f"{name} {facts.version}")


def _clock(facts: DatabaseFacts) -> Finding:
    offset = facts.now - SystemClock().time()
    detail = f"{abs(offset):.1f} seconds {'ahead of' if offset > 0 else 'behind'} this machine"
    if abs(offset) > MAX_CLOCK_OFFSET_SECONDS:
        return fail("clock", f"the database's clock is {detail}", "Synchronize both clocks with NTP.")
    return ok("clock", f"the database's clock is {detail}")


def _latency(facts: DatabaseFacts) -> Finding:
    detail = f"{facts.latency_ms:.1f} ms for an empty query"
    if facts.latency_ms > MAX_LATENCY_MS:
        return warn("latency", detail, "Every request asks the database several times: move them together.")
    return ok("latency", detail)


def _pool(settings: Settings, facts: DatabaseFacts) -> Finding:
    detail = f"{facts.connections} of {facts.max_connections} connections are open"
    left = facts.max_connections - facts.connections
    if facts.connections > facts.max_connections * MAX_POOL_SHARE or left < settings.database_pool:
        return warn("pool", detail, "Raise max_connections, or lower RETINUE_DATABASE_POOL.")
    return ok("pool", f"{detail}; a process takes up to {settings.database_pool}")


async def _direct_connection(database: Database) -> Finding:
    """Listen once: a notification shows that the connection reaches the same database without a pooler."""
    name, hint = "direct_connection", "Set RETINUE_DATABASE_DIRECT_URL to the PostgreSQL server itself."
    if database.direct_connection() != "missing":
        await database.wait_for_change(NOTIFICATION_SECONDS)
    status = database.direct_connection()
    if status == "missing":
        detail = "a pooler is between; work of other processes is found by asking every second"
        return warn(name, detail, hint)
    if status in {"unavailable", "not_tried"}:
        return fail(name, "no notification of the database arrives", hint)
    return ok(name, "notifications arrive" if status == "ok" else "not needed, there is no pooler")


def _pgvector(facts: DatabaseFacts) -> Finding:
    return ok("pgvector", facts.pgvector or "not available; vectors are ranked in the process")


def _revision(revision: str | None) -> Finding:
    if revision == head():
        return ok("revision", f"{revision}, the newest")
    if revision is not None and revision > head():
        detail = f"the database is at {revision}, this version knows up to {head()}"
        return fail("revision", detail, "Run the version that migrated the database, or a newer one.")
    if revision is not None and revision < first():
        hint = f"Run retinue upgrade of commit {LAST_COMMIT_BEFORE_BASELINE} first."
        return fail("revision", f"the database is at {revision}, from before 0.1.0", hint)
    detail = f"the database is at {revision or 'no revision'}, not at {head()}"
    return fail("revision", detail, "Run retinue upgrade.")


async def _audit_heads(database: Database) -> Finding:
    broken = await find_broken_audit_heads(database)
    if broken:
        hint = "retinue audit verify names the first invalid row."
        return fail("audit_heads", f"the audit log of {', '.join(broken)} does not end at its head", hint)
    return ok("audit_heads", "every audit log ends at its recorded head")


async def _events(database: Database) -> Finding:
    waiting = await count_undispatched_events(database)
    if waiting > MAX_WAITING_EVENTS:
        hint = "Check that a worker runs: RETINUE_WORKER=inline, or retinue worker."
        return warn("events", f"{waiting} events wait for a worker", hint)
    return ok("events", f"{waiting} events wait for a worker")


async def _instance(settings: Settings) -> AsyncIterator[Finding]:
    """Open the instance without migrating anything, for what needs its keys and its sandboxes."""
    quiet = dataclasses.replace(command_settings(settings), metrics=False, redis_url="")
    instance = await open_instance(quiet, may_migrate=False, is_command=True)
    try:
        for finding in await _vault(instance):
            yield finding
        yield await _sandboxes(instance)
        yield await _worker_lag(instance)
    finally:
        await close_instance(instance)


async def _vault(instance: Instance) -> list[Finding]:
    status = await read_status(instance)
    if status.sealed_because:
        hint = (
            "Start with the master key of this instance: RETINUE_MASTER_KEY, or master.key in the data dir."
        )
        return [fail("key", status.sealed_because, hint)]
    findings = [ok("key", "the master key opens the vault")]
    total = sum(version.secrets for version in status.versions)
    if status.lost:
        hint = "Enter these secrets again; restoring an older backup may bring their key back."
        findings.append(fail("sealed_values", f"{status.lost} secrets have no key", hint))
    else:
        findings.append(ok("sealed_values", f"{total} secrets have a key"))
    return findings


async def _sandboxes(instance: Instance) -> Finding:
    """Ask what can run, not which sandboxes work: where one is missing, another may do the same.

    Scripts need programs that many do without, as extras do; functions work everywhere or are worth a word.
    """
    support = await instance.adapters[Sandbox].support()
    lacking = [found for found in support if found.trouble]
    wrong = [found for found in lacking if not found.is_missing or found.kind.endswith("functions")]
    if wrong:
        detail = "; ".join(f"no {found.kind} ({found.trouble})" for found in wrong)
        return warn("sandboxes", detail, "Tools that need one of these refuse to run; the others work.")
    detail = ", ".join(f"{found.kind} by {found.backend}" for found in support if not found.trouble)
    absent = "".join(f"; no {found.kind}: {found.trouble}" for found in lacking)
    return ok("sandboxes", detail + absent)


async def _worker_lag(instance: Instance) -> Finding:
    async with command_context(instance) as ctx:
        queues = await count_waiting_jobs(ctx)
    count, lag = sum(found[0] for found in queues.values()), max(found[1] for found in queues.values())
    detail = f"{count:.0f} jobs are due, the oldest for {lag:.0f} seconds"
    if lag > MAX_LAG_SECONDS:
        hint = "Check that a worker runs: RETINUE_WORKER=inline, or retinue worker."
        return warn("worker_lag", detail, hint)
    return ok("worker_lag", detail)


async def _redis(settings: Settings) -> Finding:
    if not settings.redis_url:
        return ok("redis", "not configured")
    from retinue.kit.limits.decision import LimitsUnreachable
    from retinue.kit.limits.redis import RedisStore

    store = RedisStore.connect(settings.redis_url, ca_bundle=settings.redis_authorities)
    try:
        await store.ping()
    except LimitsUnreachable as error:
        return fail("redis", error.message, "Meanwhile every process counts its limits alone.")
    finally:
        await store.close()
    return ok("redis", "Redis answers")


async def _smtp(settings: Settings) -> Finding:
    if settings.smtp_url is None:
        return ok("smtp", "not configured; mails become files in the outbox folder")
    sender = settings.mail_from or "retinue@localhost"
    try:
        await SmtpMailer(settings.smtp_url, sender, SystemClock()).check_login()
    except MailFailed as error:
        return fail("smtp", str(error), "Check RETINUE_SMTP_URL: host, port, user and password.")
    return ok("smtp", "the mail server accepts the login")
