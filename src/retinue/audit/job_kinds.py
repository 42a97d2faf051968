"""The jobs that audit enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.jobs.declare import JobKind


class StreamToSend(msgspec.Struct):
    stream_id: str


SEND_STREAM = JobKind("audit.send_stream", StreamToSend, queue="messages")
