"""What is looked after in every tenant: imports whose job was lost."""

from typing import Any

import sqlalchemy as sa

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.jobs.declare import NoPayload, job
from retinue.tables.importing import ImportToRun, run_import
from retinue.tables.models import ENDED, TableImport

_BATCH = 200
_STALE_S = 3600

_imports = TableImport.__table__
_STALE: Statement[Any] = Statement(
    sa.select(_imports.c.tenant_id, _imports.c.id)
    .where(
        _imports.c.status.not_in([sa.literal(status.value) for status in ENDED]),
        _imports.c.updated_at < sa.bindparam("before", type_=_imports.c.updated_at.type),
    )
    .limit(_BATCH)
)


@job(every_s=600, transactional=False)
async def resume_imports(ctx: Context, payload: NoPayload) -> None:  # noqa: ARG001  a periodic job
    """An import that nobody has touched for an hour is asked for again, should its job have been lost."""
    async with ctx.unit() as unit:
        stale = await unit.system("files are imported in every tenant").rows(
            _STALE, before=unit.clock.ahead(-_STALE_S)
        )
    for tenant_id, import_id in stale:
        async with ctx.unit() as unit:
            unit.act_in(tenant_id)
            unit.defer(run_import, ImportToRun(import_id), dedupe_key=f"import:{import_id}")
