from enum import StrEnum
from typing import Annotated, Any

from retinue.agents.models import Agent
from retinue.chat.engine.pausing import Decided, Paused
from retinue.chat.words import ReplyDetails
from retinue.kit.clock import Instant
from retinue.kit.continuations import Waiting
from retinue.kit.db.models import Ref, TenantRecord, index_where, table


class Channel(StrEnum):
    """The way a message came in."""

    console = "console"
    background = "async"
    audio = "audio"
    public = "public"
    openai = "openai"
    mcp = "mcp"
    workflow = "workflow"
    form = "form"
    tool = "tool"


class ConversationStatus(StrEnum):
    active = "active"
    closed = "closed"


@table(
    "conversations",
    prefix="conv",
    led_by_time=True,
    unique=[("tenant_id", "agent_id", "session_key")],
    indexes=[
        ("tenant_id", "agent_id", "last_message_at"),
        ("tenant_id", "user_id", "last_message_at"),
        ("status", "last_message_at"),
    ],
)
class Conversation(TenantRecord, kw_only=True):
    """Messages between one person and one agent.

    `session_id` is the caller's own name for it on the public endpoint, where `embed_key_id` and `visitor_id`
    say whose it is; `session_key` is the three of them, so that a session has one conversation.
    `message_count` is also the position of the last message.
    """

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    title: str
    channel: Channel
    user_id: str | None = None
    session_id: str | None = None
    embed_key_id: str | None = None
    visitor_id: str | None = None
    session_key: str | None = None
    message_count: int = 0
    last_message_at: Instant
    status: ConversationStatus = ConversationStatus.active


class Speaker(StrEnum):
    user = "user"
    assistant = "assistant"


class MessageStatus(StrEnum):
    """`incomplete` is a reply that was cut off; what had been said of it is there."""

    completed = "completed"
    incomplete = "incomplete"


@table(
    "messages",
    prefix="msg",
    led_by_time=True,
    unique=[("tenant_id", "conversation_id", "position")],
    indexes=[("tenant_id", "reply_id")],
    extra=index_where("is_stopped", "created_at"),
)
class Message(TenantRecord, kw_only=True):
    """What was said; of a reply also how it came about.

    A message of a user names the reply to come (`reply_id`), so that a turn begun again after a crash gives
    no second one. `trail` is the order of what was streamed, for resumed streams (see `streaming`).
    `is_stopped` asks whichever process is answering to stop.
    """

    conversation_id: Annotated[str, Ref(Conversation, cascade=True)]
    role: Speaker
    content: str
    position: int
    status: MessageStatus = MessageStatus.completed
    reply_id: str | None = None
    is_stopped: bool = False
    details: ReplyDetails | None = None
    trail: list[int | str] | None = None
    rating: int = 0
    comment: str | None = None


class TurnStatus(StrEnum):
    completed = "completed"
    failed = "failed"
    cancelled = "cancelled"


@table(
    "chat_logs",
    prefix="log",
    led_by_time=True,
    indexes=[
        ("tenant_id", "agent_id", "created_at"),
        ("tenant_id", "conversation_id"),
    ],
)
class ChatLog(TenantRecord, kw_only=True):
    """One turn for the operator: what was asked and answered, what it took, how it ended.

    It outlives the conversation, whose deletion only takes the texts.
    """

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    conversation_id: str
    message_id: str
    channel: Channel
    user_id: str | None = None
    session_id: str | None = None
    embed_key_id: str | None = None
    user_message: str | None = None
    assistant_message: str | None = None
    tool_calls: list[dict[str, Any]]
    tool_call_count: int = 0
    message_count: int = 1
    has_usage: bool = True
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    model: str
    response_time_ms: int
    status: TurnStatus
    error: dict[str, Any] | None = None
    correlation_id: str


@table("chat_totals", prefix="ctot", unique=[("tenant_id", "agent_id", "day")])
class ChatTotals(TenantRecord, kw_only=True):
    """What the purged logs of one agent and day added up to, so that statistics outlive them."""

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


ENDED = (JobStatus.completed, JobStatus.failed, JobStatus.cancelled)


@table(
    "chat_jobs",
    prefix="job",
    indexes=[("tenant_id", "agent_id", "created_at"), ("completed_at",)],
)
class ChatJob(TenantRecord, kw_only=True):
    """A turn that nobody waits for; its reply is the message `message_id`."""

    agent_id: Annotated[str, Ref(Agent, cascade=True)]
    conversation_id: str
    user_message_id: str
    message_id: str
    user_id: str | None = None
    context: dict[str, Any] | None = None
    callback_url: str | None = None
    waiting: Waiting | None = None
    """Who goes on when it has ended."""
    status: JobStatus = JobStatus.pending
    progress: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
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
    """A turn that waits for approvals, or goes on after them: all it needs for that, until it has ended.

    `message_id` is the reply as far as it came. `decisions` are the answers by the ids of the approvals; with
    the last of them it `is_decided`, and a worker goes on with it.
    """

    agent_id: str
    conversation_id: Annotated[str, Ref(Conversation, cascade=True)]
    user_message_id: str
    message_id: str
    job_id: str | None = None
    asker_kind: str
    asker_id: str
    channel: Channel
    context: dict[str, Any] | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    stop: list[str]
    state: Paused
    decisions: dict[str, Decided]
    is_decided: bool = False
