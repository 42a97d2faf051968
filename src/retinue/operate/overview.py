"""The instance at a glance: checks of the running server, queues, mail, storage, backup, versions."""

import asyncio
import platform
import shutil
from pathlib import Path

from retinue import __version__
from retinue.kit.build_commit import build_commit
from retinue.kit.context import Context
from retinue.kit.db.diagnosis import count_undispatched_events, find_broken_audit_heads, read_facts
from retinue.kit.degradation import PARTS, degraded_parts
from retinue.kit.last_backup import LastBackup, find_last_backup
from retinue.kit.vault.status import read_status
from retinue.operate.jobs_of_instance import count_mails, count_queues
from retinue.operate.schemas import (
    CheckOut,
    CheckStatus,
    LastBackupOut,
    MailOut,
    OperateOut,
    StorageOut,
    VersionsOut,
)

_MAX_CLOCK_OFFSET_SECONDS = 2.0
_MAX_LATENCY_MS = 20.0
_MAX_WAITING_EVENTS = 1_000
_MAX_BACKUP_AGE_HOURS = 36


async def load_overview(ctx: Context) -> OperateOut:
    instance = ctx.instance
    facts = await read_facts(instance.database)
    backup = await asyncio.to_thread(find_last_backup, ctx.settings)
    usage = await asyncio.to_thread(shutil.disk_usage, ctx.settings.data_dir)
    waiting, oldest_at = await count_mails(ctx)
    offset_s = abs(facts.now - instance.clock.time())
    checks = [
        _check(
            "latency", facts.latency_ms <= _MAX_LATENCY_MS, f"{facts.latency_ms:.1f} ms for an empty query"
        ),
        _check(
            "clock", offset_s <= _MAX_CLOCK_OFFSET_SECONDS, f"the database's clock is {offset_s:.1f} s off"
        ),
        *await _checks_of_records(ctx),
        *await _checks_of_parts(ctx),
    ]
    name = "SQLite" if instance.database.dialect == "sqlite" else "PostgreSQL"
    return OperateOut(
        checks=checks,
        queues=await count_queues(ctx),
        mail=MailOut(
            transport="smtp" if ctx.settings.smtp_url is not None else "outbox",
            waiting=waiting,
            oldest_at=oldest_at,
        ),
        storage=StorageOut(
            free_bytes=usage.free,
            total_bytes=usage.total,
            files="s3" if ctx.settings.files_url else "folder",
        ),
        last_backup=_render_backup(backup),
        versions=VersionsOut(
            retinue=__version__,
            commit=build_commit(),
            python=platform.python_version(),
            database=f"{name} {facts.version}",
        ),
    )


def _render_backup(backup: LastBackup | None) -> LastBackupOut | None:
    if backup is None:
        return None
    return LastBackupOut(created_at=backup.created_at, file=Path(backup.file).name, bytes=backup.bytes)


async def _checks_of_records(ctx: Context) -> list[CheckOut]:
    database = ctx.instance.database
    broken = await find_broken_audit_heads(database)
    events = await count_undispatched_events(database)
    status = await read_status(ctx.instance)
    ends = (
        f"the audit log of {', '.join(broken)} does not end at its head" if broken else "every log ends well"
    )
    return [
        _check("audit_heads", not broken, ends, is_grave=True),
        _check("events", events <= _MAX_WAITING_EVENTS, f"{events} events wait for a worker"),
        _check("key", not status.sealed_because, status.sealed_because or "the vault is open", is_grave=True),
        _check("sealed_values", not status.lost, f"{status.lost} secrets have no key", is_grave=True),
    ]


async def _checks_of_parts(ctx: Context) -> list[CheckOut]:
    instance = ctx.instance
    missing = await degraded_parts(instance)
    sandboxes = instance.sandbox_status()
    wrong = [name for name, status in sandboxes.items() if status not in {"ok", "not tried yet"}]
    backup = find_last_backup(ctx.settings)
    detail = f"the newest backup is of {backup.created_at}" if backup else "no backup was made from here yet"
    is_fresh = backup is not None and backup.created_at >= ctx.clock.ahead(-_MAX_BACKUP_AGE_HOURS * 3600)
    return [
        *(
            _check(part, part not in missing, "does not work" if part in missing else "works", is_grave=True)
            for part in PARTS
        ),
        _check("sandboxes", not wrong, f"without: {', '.join(wrong)}" if wrong else ", ".join(sandboxes)),
        _check("last_backup", is_fresh, detail),
    ]


def _check(name: str, is_ok: bool, detail: str, *, is_grave: bool = False) -> CheckOut:
    status = CheckStatus.ok if is_ok else (CheckStatus.fail if is_grave else CheckStatus.warn)
    return CheckOut(name=name, status=status, detail=detail)
