from typing import Annotated

from msgspec import UNSET, Meta, UnsetType

from retinue.chat.schemas import Feedback, TranscriptionOut
from retinue.embed.hosted.page_models import PageAudience
from retinue.embed.schemas import AgentName, Id, PerMinute, PublicReply, Tokens, Visitor, WidgetSettings
from retinue.kit.schema.base import Schema

Slug = Annotated[str, Meta(min_length=3, max_length=60, pattern=r"^[a-z0-9][a-z0-9-]*[a-z0-9]$(?!\n)")]
PublicSessionId = Annotated[str, Meta(min_length=16, max_length=128)]


class HostedPageUpdate(Schema, kw_only=True):
    """The page as it shall be; it is open from then on.

    A public page has an embed key of its own, or the one that `embed_key_id` names. Limits that are sent are
    those of the key; omitted ones stay as they are.
    """

    slug: Slug
    audience: PageAudience
    embed_key_id: Id | None = None
    monthly_token_budget: Tokens | UnsetType = UNSET
    rate_limit_per_visitor: PerMinute | UnsetType = UNSET
    allow_attachments: bool | UnsetType = UNSET


class PageLimits(Schema, kw_only=True):
    """The limits of the page's embed key."""

    monthly_token_budget: int | None
    rate_limit_per_visitor: int | None
    allow_attachments: bool


class PageFigures(Schema, kw_only=True):
    """Figures of a page in the current calendar month (UTC)."""

    opened: int
    chats: int
    tokens_used: int
    cost_usd: float


class HostedPageOut(Schema, kw_only=True):
    """The page of an agent; before it is first switched on, `slug` is a proposal that is not reserved."""

    is_open: bool
    slug: str
    audience: PageAudience
    address: str
    qr_code_url: str
    embed_key_id: str | None
    limits: PageLimits | None
    figures: PageFigures


class PublicPage(Schema, kw_only=True):
    """Look of a hosted page, and the key it sends. A page for members says only that they must sign in."""

    audience: PageAudience
    agent: AgentName | None = None
    settings: WidgetSettings | None = None
    page_key: str | None = None
    allow_attachments: bool = False
    takes_voice: bool = False
    opens_at: str | None = None


class SessionMessage(Schema, kw_only=True):
    """A reply in a session, and the `user` with whom it was held."""

    session_id: PublicSessionId
    message_id: Id
    user: Visitor | None = None


class SessionFeedback(Feedback, kw_only=True):
    """A visitor's rating of a reply; a new one replaces the previous one."""

    session_id: PublicSessionId
    message_id: Id
    user: Visitor | None = None


class PublicAudioReply(PublicReply, kw_only=True):
    """The reply to a recording, and what was heard in it."""

    transcription: TranscriptionOut
