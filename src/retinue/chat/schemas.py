from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from retinue.adapters.llm import ReasoningEffort, Transcription
from retinue.agents.settings import ModelId
from retinue.chat.attachment_schemas import Attachments, MessageAttachmentOut
from retinue.chat.engine.parts import (
    CalledTool,
    Compaction,
    FinishReason,
    ModelSpending,
    ReplyDetails,
    Source,
    TokenUsage,
)
from retinue.chat.message_tree import MessageVersions
from retinue.chat.models import (
    ChatChannel,
    ChatJob,
    ConversationStatus,
    FeedbackReason,
    JobStatus,
    Message,
    MessageStatus,
    Speaker,
)
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import ListQuery, PageQuery
from retinue.kit.schema.base import Schema

MAX_MESSAGE_LENGTH = 32_000
ConversationId = Annotated[str, Meta(max_length=64)]
MessageId = Annotated[str, Meta(max_length=64)]
MessageText = Annotated[str, Meta(min_length=1, max_length=MAX_MESSAGE_LENGTH)]


class TurnFields(Schema, kw_only=True):
    """A message to an agent."""

    message: MessageText
    conversation_id: ConversationId | None = None
    context: JsonObject | None = None
    output_schema: JsonObject | UnsetType | None = UNSET
    reasoning_effort: ReasoningEffort | None = None
    attachments: Attachments | None = None
    edit_of: MessageId | None = None
    regenerate_of: MessageId | None = None
    parent_id: MessageId | None = None


class SeedMessage(Schema, kw_only=True):
    """A message that the conversation begins with."""

    role: Speaker
    content: MessageText


class ChatAsk(TurnFields, kw_only=True):
    """With `version`, `seed_messages`, `from_conversation_id` or `as`, the turn tries the agent out."""

    version: Annotated[int, Meta(ge=1, le=2**53)] | Literal["draft"] | None = None
    model: ModelId | None = None
    seed_messages: Annotated[list[SeedMessage], Meta(max_length=50)] | None = None
    from_conversation_id: ConversationId | None = None
    as_: Literal["visitor"] | None = msgspec.field(name="as", default=None)


class BackgroundAsk(TurnFields, kw_only=True):
    """When the job ends, its status is posted to `callback_url`, signed like a webhook."""

    callback_url: Annotated[str, Meta(min_length=1, max_length=2_000)] | None = None


class StreamQuery(msgspec.Struct, kw_only=True):
    """`include=sub_agents` also streams the tool calls of sub-agents."""

    include: Literal["sub_agents"] | None = None


class ReplyMessage(Schema, kw_only=True):
    id: str
    role: Speaker = Speaker.assistant
    content: str
    created_at: str


class ChatReply(Schema, kw_only=True):
    conversation_id: str
    message: ReplyMessage
    usage: TokenUsage
    usage_by_model: tuple[ModelSpending, ...]
    estimated_cost_usd: float | None
    sources: tuple[Source, ...]
    tool_calls: tuple[CalledTool, ...]
    model: str
    finish_reason: FinishReason
    warnings: tuple[str, ...]
    correlation_id: str
    trace_id: str | None
    version: int
    output: JsonObject | None
    compaction: Compaction | None

    @classmethod
    def from_record(cls, message: Message) -> "ChatReply":
        details = message.details
        assert details is not None
        return cls(
            conversation_id=message.conversation_id,
            message=ReplyMessage.of(message),
            usage=details.usage,
            usage_by_model=details.usage_by_model,
            estimated_cost_usd=details.estimated_cost_usd,
            sources=details.sources,
            tool_calls=details.tool_calls,
            model=details.model,
            finish_reason=details.finish_reason,
            warnings=details.warnings,
            correlation_id=details.correlation_id,
            trace_id=details.trace_id,
            version=details.agent_version,
            output=details.output,
            compaction=details.compaction,
        )


class TranscriptionOut(Schema, kw_only=True):
    """`text` is empty if no speech was recognized."""

    text: str
    language: str | None
    duration_seconds: float | None


class AudioReply(ChatReply, kw_only=True):
    transcription: TranscriptionOut

    @classmethod
    def heard(cls, message: Message, transcription: Transcription) -> "AudioReply":
        return cls.of(ChatReply.from_record(message), transcription=TranscriptionOut.of(transcription))


class SpeechAsk(Schema, kw_only=True):
    """Without `voice`, the model's default voice is used."""

    text: Annotated[str, Meta(min_length=1, max_length=4_096)]
    voice: Annotated[str, Meta(max_length=64)] | None = None
    speed: Annotated[float, Meta(ge=0.5, le=2)] | None = None
    format: Literal["mp3", "wav", "opus"] | None = "mp3"


class Stopped(Schema, kw_only=True):
    message_id: str
    status: Literal["cancelled"] = "cancelled"


class JobAccepted(Schema, kw_only=True):
    job_id: str
    status: JobStatus
    agent_id: str
    conversation_id: str
    status_url: str
    created_at: str


class JobOut(Schema, kw_only=True):
    job_id: str
    agent_id: str
    type: Literal["chat"] = "chat"
    status: JobStatus
    conversation_id: str
    progress: JsonObject | None
    result: ChatReply | None
    error: JsonObject | None
    attempt: int
    created_at: str
    started_at: str | None
    completed_at: str | None

    @classmethod
    def from_record(cls, job: ChatJob, reply: Message | None = None) -> "JobOut":
        return cls.of(job, job_id=job.id, type="chat", result=ChatReply.from_record(reply) if reply else None)


class JobList(PageQuery, kw_only=True):
    status: JobStatus | None = None


class JobQuery(msgspec.Struct, kw_only=True):
    """`wait` is the maximum time in seconds to wait for the job to end before responding."""

    wait: Annotated[int, Meta(ge=0, le=60)] = 0


class ResumeQuery(StreamQuery, kw_only=True):
    after: Annotated[int, Meta(ge=0)] | None = None


RATINGS = {"positive": 1, "negative": -1, "none": 0}


class ConversationOut(Schema, kw_only=True):
    id: str
    agent_id: str
    title: str
    channel: ChatChannel
    user_id: str | None
    session_id: str | None
    message_count: int
    created_at: str
    last_message_at: str
    status: ConversationStatus
    is_archived: bool = msgspec.field(name="archived")
    is_shared: bool = msgspec.field(name="shared")


class ConversationDetail(ConversationOut, kw_only=True):
    compaction: Compaction | None


class ConversationListed(ConversationOut, kw_only=True):
    agent_name: str | UnsetType = UNSET
    is_waiting: bool | UnsetType = msgspec.field(name="waiting", default=UNSET)


_Version = Annotated[int, Meta(ge=1, le=2**31)]
_Cost = Annotated[float, Meta(ge=0, le=1_000_000)]
_Rated = Literal["positive", "negative"]


class ConversationList(ListQuery, kw_only=True):
    agent_id: str | None = None
    user_id: str | None = None
    channel: ChatChannel | None = None
    channels: Annotated[str, Meta(max_length=100)] | None = None
    status: ConversationStatus | None = None
    archived: bool | None = None
    from_: str | None = msgspec.field(name="from", default=None)
    to: str | None = None
    rating: _Rated | None = None
    failed: bool | None = None
    needs_look: bool | None = None
    version: _Version | None = None
    min_cost_usd: _Cost | None = None
    shared_with: Literal["me"] | None = None
    include: Literal["agent_name", "waiting"] | None = None

    @property
    def rated(self) -> int | None:
        return None if self.rating is None else RATINGS[self.rating]


class ConversationsExportQuery(msgspec.Struct, kw_only=True):
    """The filters of `ConversationList`: a query of several bases cannot be declared."""

    agent_id: str | None = None
    user_id: str | None = None
    channel: ChatChannel | None = None
    status: ConversationStatus | None = None
    archived: bool | None = None
    from_: str | None = msgspec.field(name="from", default=None)
    to: str | None = None
    rating: _Rated | None = None
    failed: bool | None = None
    needs_look: bool | None = None
    version: _Version | None = None
    min_cost_usd: _Cost | None = None
    search: Annotated[str, Meta(max_length=100)] | None = None

    @property
    def rated(self) -> int | None:
        return None if self.rating is None else RATINGS[self.rating]


class ConversationUpdate(Schema, kw_only=True):
    title: Annotated[str, Meta(min_length=1, max_length=200)] | UnsetType = UNSET
    is_archived: bool | UnsetType = msgspec.field(name="archived", default=UNSET)


class Feedback(Schema, kw_only=True):
    rating: Literal["positive", "negative", "none"]
    comment: Annotated[str, Meta(max_length=2_000)] | None = None
    reasons: Annotated[list[FeedbackReason], Meta(max_length=10)] = []


class MessageList(PageQuery, kw_only=True):
    leaf: MessageId | None = None


class MessageOut(Schema, kw_only=True):
    """`details` is null for user messages; `status` is `incomplete` for a reply that was cut off."""

    id: str
    role: Speaker
    content: str
    status: MessageStatus
    created_at: str
    details: ReplyDetails | None
    feedback: Feedback | None
    attachments: list[MessageAttachmentOut]
    parent_id: str | None
    versions: MessageVersions

    @classmethod
    def from_record(cls, message: Message, parent_id: str | None, versions: MessageVersions) -> "MessageOut":
        rating: Literal["positive", "negative", "none"] = "positive" if message.rating > 0 else "negative"
        feedback = (
            Feedback(rating=rating, comment=message.comment, reasons=message.reasons or [])
            if message.rating
            else None
        )
        attachments = [MessageAttachmentOut.of(attachment) for attachment in message.attachments or ()]
        return cls.of(
            message, feedback=feedback, attachments=attachments, parent_id=parent_id, versions=versions
        )


class FeedbackGiven(Schema, kw_only=True):
    message_id: str
    rating: str
    comment: str | None
    reasons: list[FeedbackReason]


class ConversationExportQuery(msgspec.Struct, kw_only=True):
    format: Literal["json", "md"] = "json"


class TrainingOut(Schema, kw_only=True):
    status: str
    documents_total: int
    documents_done: int
    documents_failed: int
    started_at: str | None
    finished_at: str | None
    error: Any


class StatusOut(Schema, kw_only=True):
    agent_id: str
    status: str
    is_online: bool
    active_conversations: int
    training: TrainingOut
