"""The table of all metrics. `docs/reference/metrics.md` is generated from it.

Labels never hold a tenant, a user, an agent or a path: every value is one of a small set.
"""

from retinue.kit.metrics.series import (
    CounterDeclaration,
    GaugeDeclaration,
    HistogramDeclaration,
    MetricDeclaration,
)

_REQUEST_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_WORK_SECONDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_COMMIT_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5)
_LAG_SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200, 28800, 86400)

METRICS: dict[str, MetricDeclaration] = {}


def _counter(name: str, help: str, *labels: str) -> CounterDeclaration:
    declared = CounterDeclaration(name, help, labels)
    METRICS[name] = declared
    return declared


def _gauge(name: str, help: str, *labels: str, across: str) -> GaugeDeclaration:
    declared = GaugeDeclaration(name, help, labels, across=across)
    METRICS[name] = declared
    return declared


def _histogram(name: str, help: str, *labels: str, buckets: tuple[float, ...]) -> HistogramDeclaration:
    declared = HistogramDeclaration(name, help, labels, buckets=buckets)
    METRICS[name] = declared
    return declared


BUILD_INFO = _gauge("retinue_build_info", "The running version; the value is 1", "version", across="livemax")

HTTP_REQUESTS = _counter(
    "retinue_http_requests_total", "Responses by route template and status", "route", "method", "status"
)
HTTP_REQUEST_DURATION = _histogram(
    "retinue_http_request_duration_seconds",
    "Time until the response is ready, by the route's cost class",
    "cost",
    buckets=_REQUEST_SECONDS,
)
HTTP_REQUESTS_IN_FLIGHT = _gauge(
    "retinue_http_requests_in_flight", "Requests in progress, open streams included", across="livesum"
)
STREAMS_OPEN = _gauge("retinue_streams_open", "Open event streams", across="livesum")
RATE_LIMITED = _counter(
    "retinue_rate_limited_total", "Requests refused by a rate limit, by the limit's window", "window"
)

LOGINS = _counter("retinue_logins_total", "Sign-ins by method and outcome", "method", "outcome")

TOKENS_ISSUED = _counter(
    "retinue_tokens_issued_total", "Access tokens issued to service accounts, by grant", "grant"
)

CHATS = _counter("retinue_chats_total", "Finished turns by channel and status", "channel", "status")
CHAT_DURATION = _histogram(
    "retinue_chat_duration_seconds", "Time of a turn with its model and tool calls", buckets=_WORK_SECONDS
)
CHAT_TIME_TO_FIRST_TOKEN = _histogram(
    "retinue_chat_time_to_first_token_seconds",
    "Time of a streamed turn until the first text of its reply",
    buckets=_WORK_SECONDS,
)
MODEL_CALLS = _counter(
    "retinue_model_calls_total",
    "Calls to models by outcome; a retry is another call",
    "provider",
    "model",
    "outcome",
)
MODEL_CALL_DURATION = _histogram(
    "retinue_model_call_duration_seconds",
    "Time of a call to a model until its last part",
    "provider",
    buckets=_WORK_SECONDS,
)
MODEL_TOKENS = _counter(
    "retinue_model_tokens_total",
    "Tokens of chats by type: input (without cached), cached, output",
    "provider",
    "model",
    "type",
)
MODEL_COST = _counter(
    "retinue_model_cost_usd_total", "Known cost of chats in US dollars", "provider", "model"
)
BUDGET_REFUSALS = _counter("retinue_budget_refusals_total", "Requests that a budget refused")

TOOL_EXECUTIONS = _counter(
    "retinue_tool_executions_total", "Runs of tools by kind and status", "kind", "status"
)
TOOL_DURATION = _histogram(
    "retinue_tool_duration_seconds", "Time of a run of a tool", "kind", buckets=_WORK_SECONDS
)
RETRIEVAL_DURATION = _histogram(
    "retinue_retrieval_duration_seconds", "Time of a search in a knowledge base", buckets=_REQUEST_SECONDS
)

JOBS_WAITING = _gauge("retinue_jobs_waiting", "Jobs that are due and wait", "queue", across="livemostrecent")
JOB_OLDEST_AGE = _gauge(
    "retinue_job_oldest_age_seconds",
    "Age of the longest waiting due job, 0 if none waits",
    "queue",
    across="livemostrecent",
)
JOBS = _counter("retinue_jobs_total", "Attempts at jobs by kind and outcome", "kind", "outcome")
JOB_DURATION = _histogram(
    "retinue_job_duration_seconds", "Time of an attempt at a job", "queue", buckets=_WORK_SECONDS
)
EVENTS_WAITING = _gauge(
    "retinue_events_waiting", "Events that were not dispatched yet", across="livemostrecent"
)
WEBHOOK_DELIVERIES = _counter(
    "retinue_webhook_deliveries_total",
    "Attempts at webhook deliveries: delivered, retried, failed (the last attempt) or cancelled",
    "outcome",
)
WEBHOOK_DELIVERY_LAG = _histogram(
    "retinue_webhook_delivery_lag_seconds",
    "Time from the creation of a delivery until it was delivered",
    buckets=_LAG_SECONDS,
)
WORKFLOW_RUNS = _counter("retinue_workflow_runs_total", "Ended workflow executions by status", "status")
APPROVALS_WAITING = _gauge(
    "retinue_approvals_waiting", "Approvals that wait for a decision", across="livemostrecent"
)

SANDBOX_RUNS = _counter(
    "retinue_sandbox_runs_total", "Runs of functions and scripts by sandbox and status", "backend", "status"
)
EGRESS_REFUSED = _counter(
    "retinue_egress_refused_total", "Outgoing calls or addresses refused, by reason", "reason"
)

DATABASE_CONNECTIONS = _gauge(
    "retinue_database_connections",
    "Connections to the database: used or idle; waiting are callers without one",
    "state",
    across="livesum",
)
DATABASE_COMMIT_DURATION = _histogram(
    "retinue_database_commit_duration_seconds", "Time of a commit", buckets=_COMMIT_SECONDS
)
VAULT_SEALED = _gauge("retinue_vault_sealed", "1 while the vault is sealed", across="livemax")
DEGRADED = _gauge(
    "retinue_degraded", "1 while a part does not work: disk, redis or worker", "part", across="livemax"
)
SPANS_EXPORTED = _counter(
    "retinue_spans_exported_total", "Trace spans by the outcome of their export", "outcome"
)

PROCESS_CPU = _counter("process_cpu_seconds_total", "Total user and system CPU time in seconds")
PROCESS_VIRTUAL_MEMORY = _gauge(
    "process_virtual_memory_bytes", "Virtual memory size in bytes", across="livesum"
)
PROCESS_RESIDENT_MEMORY = _gauge(
    "process_resident_memory_bytes", "Resident memory size in bytes", across="livesum"
)
PROCESS_START_TIME = _gauge(
    "process_start_time_seconds", "Start of the youngest process since the Unix epoch", across="livemax"
)
PROCESS_OPEN_FDS = _gauge("process_open_fds", "Open file descriptors", across="livesum")
PROCESS_MAX_FDS = _gauge("process_max_fds", "Maximum number of open file descriptors", across="livesum")
GC_OBJECTS_COLLECTED = _counter(
    "python_gc_objects_collected_total", "Objects collected by the garbage collector", "generation"
)
GC_OBJECTS_UNCOLLECTABLE = _counter(
    "python_gc_objects_uncollectable_total", "Uncollectable objects found", "generation"
)
GC_COLLECTIONS = _counter("python_gc_collections_total", "Garbage collections", "generation")
