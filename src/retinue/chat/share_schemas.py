from typing import Annotated

from msgspec import Meta

from retinue.chat.schemas import MessageId
from retinue.chat.share_models import ShareAudience
from retinue.kit.schema.base import Schema

MAX_READERS = 100
UserId = Annotated[str, Meta(min_length=1, max_length=64)]


class ShareChange(Schema, kw_only=True):
    """Who may read the conversation; `people` are named, everyone in the organization needs its address."""

    audience: ShareAudience
    user_ids: Annotated[list[UserId], Meta(max_length=MAX_READERS)] = []
    until_message_id: MessageId | None = None


class ShareOut(Schema, kw_only=True):
    audience: ShareAudience
    user_ids: list[str]
    until_message_id: str
    created_at: str
    updated_at: str


class ContinuationStart(Schema, kw_only=True):
    """Up to where the conversation is copied."""

    until_message_id: MessageId | None = None
