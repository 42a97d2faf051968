from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from retinue.chat.attachment_schemas import Attachments, MessageAttachmentOut
from retinue.chat.engine.parts import TokenUsage
from retinue.chat.schemas import MessageText
from retinue.embed.models import EmbedKeyStatus, WidgetPosition, WidgetScheme
from retinue.kit.json_types import JsonObject
from retinue.kit.lists import ListQuery
from retinue.kit.schema.base import Name, Schema

_WEEK_S = 7 * 24 * 3600

Id = Annotated[str, Meta(min_length=1, max_length=64)]
Domain = Annotated[str, Meta(min_length=1, max_length=300)]
Domains = Annotated[list[Domain], Meta(max_length=100)]
PerMinute = Annotated[int, Meta(ge=1, le=1_000_000)]
Tokens = Annotated[int, Meta(ge=1, le=1_000_000_000_000)]
Colour = Annotated[str, Meta(pattern="^#[0-9a-fA-F]{6}$")]
_LINK = r"https://[^\s<>\"'`\\/?#][^\s<>\"'`\\]*"
HttpsLink = Annotated[str, Meta(max_length=500, pattern=f"^{_LINK}$")]
ContactLink = Annotated[
    str, Meta(max_length=500, pattern=rf"^({_LINK}|mailto:[^\s<>\"'`\\?#]+@[^\s<>\"'`\\?#]+)$")
]
WidgetText = Annotated[str, Meta(max_length=200)]
Suggestion = Annotated[str, Meta(min_length=1, max_length=80)]
SessionId = Annotated[str, Meta(min_length=1, max_length=128)]


class EmbedKeyCreate(Schema, kw_only=True):
    """If `allowed_domains` is omitted or empty, pages of every origin may use the key."""

    agent_id: Id
    name: Name
    allowed_domains: Domains | None = None
    expires_at: str | None = None
    rate_limit_per_minute: PerMinute | None = None
    rate_limit_per_visitor: PerMinute | None = None
    monthly_token_budget: Tokens | None = None
    allow_attachments: bool = True


class EmbedKeyUpdate(Schema, kw_only=True):
    """Fields that are omitted stay as they are."""

    name: Name | UnsetType = UNSET
    allowed_domains: Domains | UnsetType = UNSET
    expires_at: str | UnsetType | None = UNSET
    rate_limit_per_minute: PerMinute | UnsetType | None = UNSET
    rate_limit_per_visitor: PerMinute | UnsetType | None = UNSET
    monthly_token_budget: Tokens | UnsetType | None = UNSET
    allow_attachments: bool | UnsetType = UNSET


class EmbedKeyOut(Schema, kw_only=True):
    """`tokens_used` counts the current month."""

    id: str
    agent_id: str
    agent_name: str
    name: str
    key_prefix: str
    allowed_domains: list[str]
    status: EmbedKeyStatus
    expires_at: str | None
    rate_limit_per_minute: int | None
    rate_limit_per_visitor: int | None
    monthly_token_budget: int | None
    tokens_used: int
    last_used_at: str | None
    request_count: int
    created_at: str
    revoked_at: str | None
    allow_attachments: bool


class NewEmbedKeyOut(EmbedKeyOut, kw_only=True):
    """`api_key` and `identity_secret` are shown only in this response."""

    api_key: str
    identity_secret: str


class EmbedKeyRotate(Schema, kw_only=True):
    """The previous key stays valid for `grace_seconds`."""

    grace_seconds: Annotated[int, Meta(ge=0, le=_WEEK_S)] = 0


class RotatedEmbedKeyOut(EmbedKeyOut, kw_only=True):
    """`api_key` is shown only in this response; the previous key works until `previous_until`."""

    api_key: str
    previous_until: str


class EmbedKeyList(ListQuery, kw_only=True):
    agent_id: Id | None = None
    status: EmbedKeyStatus | None = None


class WhichKey(Schema, kw_only=True):
    id: Id | None = None
    key_id: Id | None = None


class WhichKeyBody(WhichKey, kw_only=True):
    """`api_key` is the key itself, as shown when it was created."""

    api_key: Annotated[str, Meta(min_length=1, max_length=200)] | None = None


class Revoked(Schema, kw_only=True):
    id: str
    message: str


class Snippet(Schema, kw_only=True):
    """HTML for a page; replace `YOUR_EMBED_KEY` by the key."""

    embed_code: str
    agent_id: str
    agent_name: str
    iframe_code: str
    widget_url: str


class Visitor(Schema, kw_only=True):
    """The visitor as the page names them; `hash` is the hex HMAC-SHA256 of `id` with `identity_secret`."""

    id: Annotated[str, Meta(min_length=1, max_length=200)] | None = None
    name: Annotated[str, Meta(max_length=200)] | None = None
    email: Annotated[str, Meta(max_length=254)] | None = None
    hash: Annotated[str, Meta(max_length=128)] | None = None


class PublicAsk(Schema, kw_only=True):
    """The same `session_id` continues the same conversation."""

    session_id: SessionId
    message: MessageText
    context: JsonObject | None = None
    user: Visitor | None = None
    stream: bool | None = False
    attachments: Attachments | None = None


class VisitorFileOut(Schema, kw_only=True):
    """A file for messages of the session that it was uploaded in."""

    file_id: str
    filename: str
    size_bytes: int
    mime_type: str


class PublicSource(Schema, kw_only=True):
    """A source without internal ids."""

    document_name: str
    chunk_preview: str
    relevance_score: float
    page: int | None
    url: str | None
    index: int


class AssistantReply(Schema, kw_only=True):
    id: str
    role: Literal["assistant"] = "assistant"
    content: str
    created_at: str


class AgentName(Schema, kw_only=True):
    id: str
    name: str


class TranscriptRead(Schema, kw_only=True):
    """The conversation to read, by its `session_id` and the `user` it was held with."""

    session_id: Annotated[str, Meta(min_length=16, max_length=128)]
    user: Visitor | None = None
    wait_for: Id | None = None


class TranscriptMessage(Schema, kw_only=True):
    """A message as its visitor saw it; a reply with `is_waiting` continues once an approval is decided.

    `has_failed` marks a message that got no reply, and a reply that was cut off.
    """

    id: str
    role: Literal["user", "assistant"]
    content: str
    created_at: str
    is_waiting: bool
    has_failed: bool
    sources: list[PublicSource]
    attachments: list[MessageAttachmentOut]


class Transcript(Schema, kw_only=True):
    """The last messages of a session, oldest first; empty if the session does not exist."""

    session_id: str
    conversation_id: str | None
    messages: list[TranscriptMessage]
    agent: AgentName


class PublicReply(Schema, kw_only=True):
    session_id: str
    conversation_id: str
    assistant_reply: AssistantReply
    sources: list[PublicSource]
    usage: TokenUsage
    agent: AgentName
    warnings: list[str]
    output: JsonObject | None


class WidgetSettings(Schema, kw_only=True):
    """How the widget looks. Attributes of the script's tag take precedence over these settings."""

    title: WidgetText | None = None
    greeting: WidgetText | None = None
    placeholder: WidgetText | None = None
    accent: Colour | None = None
    on_accent: Colour | None = None
    scheme: WidgetScheme = WidgetScheme.auto
    position: WidgetPosition = WidgetPosition.right
    suggestions: Annotated[list[Suggestion], Meta(max_length=4)] = []
    show_sources: bool = True
    second_accent: Colour | None = None
    lead: WidgetText | None = None
    logo_url: HttpsLink | None = None
    contact_url: ContactLink | None = None
    privacy_url: HttpsLink | None = None
    imprint_url: HttpsLink | None = None


class PublicWidget(Schema, kw_only=True):
    """The settings that the widget needs before it is shown."""

    agent: AgentName
    settings: WidgetSettings
    allow_attachments: bool


class WidgetInstallationOut(Schema, kw_only=True):
    """An origin whose pages have loaded the widget, or tried to and were refused."""

    origin: str
    key_id: str
    key_name: str
    first_seen_at: str
    last_seen_at: str
    is_refused: bool
