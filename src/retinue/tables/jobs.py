"""Recovery of imports whose job was lost, and the removal of what is kept for a short time."""

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import implement, periodic
from retinue.kit.purge import purge_all_tenants, purge_statement
from retinue.tables.erasure import erase_rows
from retinue.tables.job_kinds import ERASE_ROWS, RUN_IMPORT, ImportToRun
from retinue.tables.models import TERMINAL_STATUSES, TableImport
from retinue.tables.row_deletion import purge_deleted_rows
from retinue.tables.transfers.imports import run_import

_BATCH = 200
_STALE_S = 3600
_KEEP_DRY_RUNS_S = 86_400

_imports = TableImport.__table__
_STALE = Statement(
    sa.select(_imports.c.tenant_id, _imports.c.id)
    .where(
        _imports.c.status.not_in([sa.literal(status.value) for status in TERMINAL_STATUSES]),
        _imports.c.updated_at < sa.bindparam("before", type_=_imports.c.updated_at.type),
    )
    .limit(_BATCH)
)


_OLD_DRY_RUNS = purge_statement(
    _imports,
    _imports.c.is_dry_run.is_(sa.true()),
    _imports.c.status.in_([sa.literal(status.value) for status in TERMINAL_STATUSES]),
    _imports.c.completed_at < sa.bindparam("before", type_=_imports.c.completed_at.type),
)


async def purge_undone(ctx: Context) -> None:
    """Remove deleted rows that can no longer be put back, and the results of old dry runs."""
    await purge_deleted_rows(ctx)
    await purge_all_tenants(ctx, _OLD_DRY_RUNS, before=ctx.clock.ahead(-_KEEP_DRY_RUNS_S))


async def resume_imports(ctx: Context) -> None:
    """Enqueue imports again that have not progressed for an hour, in case their job was lost."""
    async with ctx.unit() as unit:
        stale = await unit.system("files are imported in every tenant").rows(
            _STALE, before=unit.clock.ahead(-_STALE_S)
        )
    for tenant_id, import_id in stale:
        async with ctx.unit() as unit:
            unit.bind_tenant(tenant_id)
            unit.defer(RUN_IMPORT, ImportToRun(import_id), dedupe_key=f"import:{import_id}")


JOBS = (
    implement(ERASE_ROWS, erase_rows, timeout_s=1800, transactional=False),
    periodic("tables.purge_deleted_rows", purge_undone, every_s=300, transactional=False),
    periodic("tables.resume_imports", resume_imports, every_s=600, transactional=False),
    implement(RUN_IMPORT, run_import, timeout_s=3600, transactional=False, at_once=2),
)
