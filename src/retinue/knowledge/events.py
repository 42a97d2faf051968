from retinue.kit.events.declare import Event, event

_EXAMPLE = {
    "agent_id": "agt_…",
    "knowledge_base_id": "kb_…",
    "job_id": "trn_…",
    "documents_total": 3,
    "documents_done": 3,
    "documents_failed": 0,
}


class TrainingEvent(Event, kw_only=True):
    agent_id: str
    knowledge_base_id: str
    job_id: str
    documents_total: int
    documents_done: int
    documents_failed: int


@event("system.training.completed", subject="agent_id", example={**_EXAMPLE, "status": "completed"})
class TrainingCompleted(TrainingEvent, kw_only=True):
    """The documents were indexed; `status` is `partial` if some of them failed."""

    status: str


@event(
    "system.training.failed",
    subject="agent_id",
    example={
        **_EXAMPLE,
        "documents_done": 0,
        "documents_failed": 3,
        "error": {"code": "parse_error", "message": "The file is damaged."},
    },
)
class TrainingFailed(TrainingEvent, kw_only=True):
    """None of the documents could be indexed; `error` is that of the last one."""

    error: dict[str, str] | None
