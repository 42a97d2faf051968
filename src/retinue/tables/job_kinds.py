"""The jobs that tables enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.jobs.declare import JobKind, Retry


class RowsToErase(msgspec.Struct):
    row_key: int


class ImportToRun(msgspec.Struct):
    import_id: str


ERASE_ROWS = JobKind("tables.erase_rows", RowsToErase, retry=Retry((0, 30, 300, 3600)))
RUN_IMPORT = JobKind("tables.run_import", ImportToRun, queue="imports", retry=Retry((0, 5, 60, 600)))
