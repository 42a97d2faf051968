from enum import StrEnum
from typing import Annotated

from retinue.chat.models import Conversation
from retinue.kit.db.models import Ref, TenantRecord, table


class ShareAudience(StrEnum):
    people = "people"
    organization = "organization"


@table("conversation_shares", prefix="csh", unique=[("tenant_id", "conversation_id")])
class ConversationShare(TenantRecord, kw_only=True):
    """Who else may read a conversation, up to the position of one of its messages."""

    conversation_id: Annotated[str, Ref(Conversation, cascade=True)]
    audience: ShareAudience
    until_message_id: str
    until_position: int


@table(
    "conversation_readers",
    prefix="cvr",
    unique=[("tenant_id", "conversation_id", "user_id")],
    indexes=[("tenant_id", "user_id")],
)
class ConversationReader(TenantRecord, kw_only=True):
    """Somebody whom the owner of a conversation named as its reader."""

    conversation_id: Annotated[str, Ref(Conversation, cascade=True)]
    user_id: str
