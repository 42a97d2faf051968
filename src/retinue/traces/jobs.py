from retinue.kit.jobs.declare import implement, periodic
from retinue.kit.tracing.parts import EXPORT_TRACES
from retinue.traces.export import enqueue_exports, export_traces
from retinue.traces.retention import purge_traces

JOBS = (
    implement(EXPORT_TRACES, export_traces, timeout_s=600, transactional=False, per_lane=1),
    periodic("traces.enqueue_exports", enqueue_exports, every_s=5, transactional=False),
    periodic("traces.purge", purge_traces, every_s=3_600, timeout_s=3_600, transactional=False),
)
