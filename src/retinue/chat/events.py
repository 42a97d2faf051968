from retinue.kit.events.declare import Event, event
from retinue.kit.json_types import JsonObject

_IDS = {"conversation_id": "conv_…", "agent_id": "agt_…"}
_USAGE = {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}


@event("conversations.exported", subject="", audited=True, listed=False)
class ConversationsExported(Event, kw_only=True):
    """Conversations were exported; `filters` is what they were chosen by."""

    filters: JsonObject


class ChatEvent(Event, kw_only=True):
    conversation_id: str
    agent_id: str


@event(
    "agent.chat.started",
    subject="conversation_id",
    example={**_IDS, "channel": "console", "user_id": "usr_…", "session_id": None},
)
class ChatStarted(ChatEvent, kw_only=True):
    """A conversation started."""

    channel: str
    user_id: str | None = None
    session_id: str | None = None


@event(
    "agent.chat.shared",
    subject="conversation_id",
    audited=True,
    example={**_IDS, "audience": "people", "user_ids": ["usr_…"], "until_message_id": "msg_…"},
)
class ChatShared(ChatEvent, kw_only=True):
    """The owner of a conversation let others read it; without `user_ids`, everyone in the organization."""

    audience: str
    user_ids: list[str]
    until_message_id: str


@event("agent.chat.unshared", subject="conversation_id", audited=True, example=_IDS)
class ChatUnshared(ChatEvent, kw_only=True):
    """A conversation is no longer shared."""


@event(
    "agent.chat.message",
    subject="conversation_id",
    content=("content",),
    example={
        **_IDS,
        "message_id": "msg_…",
        "role": "assistant",
        "content": "Hello!",
        "job_id": None,
        "tool_call_count": 0,
        "usage": _USAGE,
    },
)
class ChatMessage(ChatEvent, kw_only=True):
    """A message was stored; `content` and `usage` are null if the agent's log does not keep them."""

    message_id: str
    role: str
    content: str | None
    job_id: str | None = None
    tool_call_count: int = 0
    usage: JsonObject | None = None


@event(
    "agent.chat.completed",
    subject="conversation_id",
    example={
        **_IDS,
        "job_id": None,
        "reason": "idle_timeout",
        "message_count": 4,
        "usage": _USAGE,
        "duration_ms": 95_000,
    },
)
class ChatCompleted(ChatEvent, kw_only=True):
    """A conversation or a job in it ended: `job_completed`, `job_failed`, `closed`, `idle_timeout`.

    The totals cover the whole conversation, from its first message to its last.
    """

    job_id: str | None = None
    reason: str
    message_count: int = 0
    usage: JsonObject | None = None
    duration_ms: int = 0
