"""The jobs that files enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.jobs.declare import JobKind, Retry


class BytesToRemove(msgspec.Struct):
    key: str


REMOVE_BYTES = JobKind("files.remove_bytes", BytesToRemove, retry=Retry((0, 30, 300, 3600)))
