from retinue.audit.delivery import enqueue_due_streams, send_stream
from retinue.audit.job_kinds import SEND_STREAM
from retinue.kit.jobs.declare import implement, periodic

JOBS = (
    implement(SEND_STREAM, send_stream, timeout_s=600, transactional=False),
    periodic("audit.enqueue_streams", enqueue_due_streams, every_s=5, transactional=False),
)
