"""The jobs that chat enqueues: their names, payloads and retries. `jobs.py` implements them."""

import msgspec

from retinue.kit.clock import Instant
from retinue.kit.events.declare import EventOccurred
from retinue.kit.jobs.declare import JobKind, Retry


class DeletedConversation(msgspec.Struct):
    conversation_id: str
    since: Instant
    until: Instant


class DeletedAgent(msgspec.Struct):
    agent_id: str
    since: Instant
    until: Instant


class AcceptedTurn(msgspec.Struct):
    job_id: str


class UntitledConversation(msgspec.Struct):
    conversation_id: str
    requester_id: str


class TurnToContinue(msgspec.Struct):
    paused_id: str


_ERASURE_RETRY = Retry((0, 5, 60, 600, 3600, 21600))

ERASE_CONVERSATION_EVENTS = JobKind(
    "chat.erase_conversation_events", DeletedConversation, retry=_ERASURE_RETRY
)
ERASE_AGENT_EVENTS = JobKind("chat.erase_agent_events", DeletedAgent, retry=_ERASURE_RETRY)
INDEX_FUNCTIONS = JobKind("chat.index_functions", EventOccurred, retry=Retry((0, 10, 60, 600, 3600)))
ANSWER_TURN = JobKind(
    "chat.answer",
    AcceptedTurn,
    queue="chat",
    retry=Retry((0, 2, 10, 30, 60)),
)
MAKE_TITLE = JobKind("chat.make_title", UntitledConversation, queue="chat", retry=Retry((0,)))
RESUME_TURN = JobKind(
    "chat.resume_turn",
    TurnToContinue,
    queue="chat",
    retry=Retry((0, 2, 10, 30, 60)),
)
