from enum import StrEnum
from typing import Annotated

import msgspec
import sqlalchemy as sa

from retinue.adapters.llm import ReasoningEffort
from retinue.agents.models import Agent
from retinue.agents.pinned import PinnedConfiguration
from retinue.chat.engine.attached import Attachment
from retinue.chat.engine.history_entries import Compacted
from retinue.chat.engine.parts import CallRound, Compaction, ModelSpending, ReplyDetails, TokenUsage
from retinue.chat.engine.structured_output import OutputOverride
from retinue.chat.engine.suspended import CallDecision, SuspendedTurn
from retinue.chat.trail import TrailStep
from retinue.kit.clock import Instant, hour_of
from retinue.kit.context.continuations import ContinuationRef
from retinue.kit.db.models import (
    Ref,
    ServerDefault,
    TenantRecord,
    index_equal,
    index_nonzero,
    index_present,
    index_where,
    table,
)
from retinue.kit.json_types import JsonObject
from retinue.kit.tracing.plain_turn import PlainTurn


class ChatChannel(StrEnum):
    """The channel a message came in on."""

    console = "console"
    background = "async"
    audio = "audio"
    public = "public"
    openai = "openai"
    mcp = "mcp"
    workflow = "workflow"
    form = "form"
    tool = "tool"
    playground = "playground"


class ConversationStatus(StrEnum):
    active = "active"
    closed = "closed"


# Visitors of a public agent are no users.
_OF_USER = index_present("user_id", "tenant_id", "user_id", "last_message_hour")
# The idle ones among them are looked for every minute.
_OPEN = index_equal("status", ConversationStatus.active.value, "last_message_hour")


@table(
    "conversations",
    prefix="conv",
    time_ordered_ids=True,
    unique=[("tenant_id", "agent_id", "session_key")],
    # By the hour, so that a message changes no index (ADR 45); within it, lists sort what they read.
    indexes=[
        ("tenant_id", "agent_id", "last_message_hour"),
        # A search by title reads every one of a tenant's, and finds the titles in this index.
        ("tenant_id", "last_message_hour", "title"),
    ],
    extra=lambda conversations: (_OF_USER(conversations), _OPEN(conversations)),
)
class Conversation(TenantRecord, kw_only=True):
    """Messages between one person and one agent.

    On the public endpoint `session_id` is the caller's own name for the conversation, and `embed_key_id` and
    `visitor_id` identify its owner; `session_key` combines the three, so that a session has one conversation.
    `message_count` is also the position of the last message. `last_message_hour` is the hour of
    `last_message_at`, as lists are indexed by it. `is_branched` once a message has another version (see
    `chat.message_tree`).
    """

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    title: str
    channel: ChatChannel
    user_id: str | None = None
    session_id: str | None = None
    embed_key_id: str | None = None
    visitor_id: str | None = None
    session_key: str | None = None
    message_count: int = 0
    last_message_at: Instant
    last_message_hour: Annotated[str, ServerDefault("''")] = ""
    status: ConversationStatus = ConversationStatus.active
    is_archived: Annotated[bool, ServerDefault("false")] = False
    is_shared: Annotated[bool, ServerDefault("false")] = False
    is_branched: Annotated[bool, ServerDefault("false")] = False
    summary_id: str | None = None
    """The part left out of its prompts, once it has become too long."""

    def __post_init__(self) -> None:
        if not self.last_message_hour:
            self.last_message_hour = hour_of(self.last_message_at)


class Speaker(StrEnum):
    user = "user"
    assistant = "assistant"


class MessageStatus(StrEnum):
    """`incomplete` is a reply that was cut off; its text up to that point is kept."""

    completed = "completed"
    incomplete = "incomplete"


class FeedbackReason(StrEnum):
    """A fault of a reply, in words that can be counted."""

    wrong = "wrong"
    unhelpful = "unhelpful"
    wrong_source = "wrong_source"
    incomplete = "incomplete"
    outdated = "outdated"
    too_long = "too_long"
    language = "language"
    tone = "tone"
    unsafe = "unsafe"
    other = "other"


# Only questions name a reply.
_REPLY = index_present("reply_id", "tenant_id", "reply_id")
_STOPPED = index_where("is_stopped", "created_at")
# Few messages are rated, and statistics ask for these only.
_RATED = index_nonzero("rating", "tenant_id", "created_at")


@table(
    "messages",
    prefix="msg",
    time_ordered_ids=True,
    unique=[("tenant_id", "conversation_id", "position")],
    extra=lambda messages: (_REPLY(messages), _STOPPED(messages), _RATED(messages)),
)
class Message(TenantRecord, kw_only=True):
    """A message of the user or a reply of the agent, with the details of how the reply was made.

    A user message names the reply to come (`reply_id`), so that a turn restarted after a crash stores no
    second reply. `trail` is the order of the streamed events, for resumed streams. `rounds` says which calls
    the model asked for at which point of the text, so that later turns send it the same conversation again.
    `is_stopped` asks the process that is answering to stop. Without `parent_position`, a message follows the
    one before it; `repeats_position` is set for the copy of a question whose reply is written again.
    """

    conversation_id: Annotated[str, Ref(Conversation, cascade=True)]
    role: Speaker
    content: str
    position: int
    parent_position: int | None = None
    repeats_position: int | None = None
    status: MessageStatus = MessageStatus.completed
    reply_id: str | None = None
    is_stopped: bool = False
    details: ReplyDetails | None = None
    trail: list[TrailStep] | None = None
    rounds: list[CallRound] | None = None
    rating: int = 0
    comment: str | None = None
    reasons: list[FeedbackReason] | None = None
    attachments: list[Attachment] | None = None


@table(
    "conversation_summaries",
    prefix="cvs",
    unique=[("tenant_id", "key")],
    indexes=[("tenant_id", "conversation_id")],
)
class ConversationSummary(TenantRecord, kw_only=True):
    """The part left out of the prompts of a conversation (ADR 32): see `Compacted`.

    `key` allows one at a time: it names the conversation and the number of the compaction, or the messages
    that a caller sent. Until `lease_expires_at`, a turn is working on it; null once it counts.
    """

    conversation_id: Annotated[str, Ref(Conversation, cascade=True)]
    key: str
    number: int
    up_to_position: int = 0
    results_up_to: int = 0
    attachments_up_to: int = 0
    made_at_position: int = 0
    text: str = ""
    model: str = ""
    usage: TokenUsage | None = None
    documents: list[Attachment] | None = None
    report: Compaction | None = None
    lease_expires_at: Instant | None = None

    def compacted(self) -> Compacted:
        return Compacted(
            number=self.number,
            summary=self.text,
            up_to=self.up_to_position,
            results_up_to=self.results_up_to,
            attachments_up_to=self.attachments_up_to,
            made_at=self.made_at_position,
            documents=tuple(self.documents or ()),
        )


@table("replayable_replies", prefix="rpl", indexes=[("tenant_id", "key"), ("tenant_id", "message_id")])
class ReplayableReply(TenantRecord, kw_only=True):
    """A reply with calls to a user who keeps the conversation, found again by what it said (`key`)."""

    key: str
    message_id: Annotated[str, Ref(Message, cascade=True)]


@table("stream_followers", prefix="sfl", indexes=[("tenant_id", "message_id"), ("expires_at",)])
class StreamFollower(TenantRecord, kw_only=True):
    """The lease of a client that waits for the reply `message_id`, which another process streams."""

    message_id: str
    expires_at: Instant


class TurnStatus(StrEnum):
    completed = "completed"
    failed = "failed"
    cancelled = "cancelled"


def _log_indexes(logs: sa.Table) -> None:
    # From this index alone, home counts and times the turns of a day, and traces are listed and counted.
    by_time = ("tenant_id", "created_at", "status", "first_token_ms", "user_id", "trace_ns")
    sa.Index("ix_chat_logs_tenant_id_created_at", *(logs.c[name] for name in by_time))
    # Only entries that tell about a trace.
    index_present("trace_ns", "tenant_id", "correlation_id")(logs)


@table(
    "chat_logs",
    prefix="log",
    time_ordered_ids=True,
    indexes=[
        ("tenant_id", "agent_id", "created_at"),
        ("tenant_id", "conversation_id"),
    ],
    extra=_log_indexes,
)
class ChatLog(TenantRecord, kw_only=True):
    """One turn for the operator: question, answer, cost and outcome.

    A log entry outlives its conversation: deleting the conversation only erases the texts. `cost_usd` is the
    cost of the calls whose price is known; `usage_by_model` tells whether others were made. `trace` is what
    the spans of a plain turn say beyond this row, and `trace_ns` how long it took (ADR 46); for other turns,
    and once traces have expired, they are null.
    """

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    conversation_id: str
    message_id: str
    channel: ChatChannel
    user_id: str | None = None
    session_id: str | None = None
    embed_key_id: str | None = None
    user_message: str | None = None
    assistant_message: str | None = None
    tool_calls: list[JsonObject]
    tool_call_count: int = 0
    message_count: int = 1
    has_usage: bool = True
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: Annotated[int, ServerDefault("0")] = 0
    cache_write_tokens: Annotated[int, ServerDefault("0")] = 0
    reasoning_tokens: Annotated[int, ServerDefault("0")] = 0
    cost_usd: float = 0.0
    usage_by_model: Annotated[list[ModelSpending], ServerDefault("'[]'")] = msgspec.field(
        default_factory=list
    )
    model: str
    response_time_ms: int
    first_token_ms: int | None = None
    status: TurnStatus
    error: JsonObject | None = None
    correlation_id: str
    trace: PlainTurn | None = None
    trace_ns: int | None = None


@table("chat_totals", prefix="ctot", unique=[("tenant_id", "agent_id", "day")])
class ChatTotals(TenantRecord, kw_only=True):
    """Totals of the purged logs of one agent and day, so that statistics outlive the logs."""

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    day: str
    turns: int = 0
    failed: int = 0
    messages: int = 0
    tokens: int = 0
    tool_calls: int = 0
    time_ms: int = 0
    cost_usd: float = 0.0


class JobStatus(StrEnum):
    pending = "pending"
    running = "running"
    awaiting_approval = "awaiting_approval"
    completed = "completed"
    failed = "failed"
    cancelled = "cancelled"


FINISHED_JOB_STATUSES = (JobStatus.completed, JobStatus.failed, JobStatus.cancelled)


@table(
    "chat_jobs",
    prefix="job",
    indexes=[("tenant_id", "agent_id", "created_at"), ("completed_at",)],
)
class ChatJob(TenantRecord, kw_only=True):
    """A turn answered in the background; its reply is the message `message_id`."""

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    conversation_id: str
    user_message_id: str
    message_id: str
    user_id: str | None = None
    context: JsonObject | None = None
    warnings: Annotated[list[str], ServerDefault("'[]'")] = msgspec.field(default_factory=list)
    output: OutputOverride | None = None
    reasoning_effort: ReasoningEffort | None = None
    asks_before: list[str] | None = None
    callback_url: str | None = None
    waiting: ContinuationRef | None = None
    """The continuation to resume when the job has ended."""
    status: JobStatus = JobStatus.pending
    progress: JsonObject | None = None
    error: JsonObject | None = None
    attempt: int = 0
    started_at: Instant | None = None
    completed_at: Instant | None = None


@table(
    "paused_turns",
    prefix="ptn",
    unique=[("tenant_id", "message_id")],
    indexes=[("tenant_id", "agent_id"), ("tenant_id", "conversation_id"), ("tenant_id", "job_id")],
    extra=index_where("is_decided", "tenant_id", "id"),
)
class PausedTurn(TenantRecord, kw_only=True):
    """The state of a turn that waits for approvals, or resumes after them, until it has ended.

    `message_id` is the reply so far. `decisions` maps approval ids to their outcomes; once all are there,
    `is_decided` is set and a worker resumes the turn.
    """

    agent_id: str
    conversation_id: Annotated[str, Ref(Conversation, cascade=True)]
    user_message_id: str
    message_id: str
    job_id: str | None = None
    asker_kind: str
    asker_id: str
    channel: ChatChannel
    context: JsonObject | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    stop: list[str]
    lineage: Annotated[str, ServerDefault("''")] = ""
    """The lineage of the caller that asked, for what the rest of the turn starts and costs."""
    state: SuspendedTurn
    decisions: dict[str, CallDecision]
    is_decided: bool = False
    pinned: PinnedConfiguration | None = None
    """The configuration that the turn was asked with, if it was not the agent in use."""
    asks_before: list[str] | None = None
    output: OutputOverride | None = None
    reasoning_effort: ReasoningEffort | None = None
