"""Conditions by which lists and exports of conversations choose."""

from typing import Any

import sqlalchemy as sa

from retinue.chat.models import ChatChannel, ChatLog, Conversation, Message, TurnStatus
from retinue.chat.share_models import ConversationReader
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.json_items import json_value
from retinue.kit.errors import Invalid
from retinue.users.models import User, UserStatus

_conversations, _messages, _logs = Conversation.__table__, Message.__table__, ChatLog.__table__
_readers, _users = ConversationReader.__table__, User.__table__

# The literal lets the planner see that the index of rated messages has all of them.
_rated = sa.select(_messages.c.conversation_id).where(
    _messages.c.rating == sa.bindparam("rated", type_=sa.BigInteger()), _messages.c.rating != 0
)
_rated_negative = sa.select(_messages.c.conversation_id).where(
    _messages.c.rating < 0, _messages.c.rating != 0
)
_failed = sa.select(_logs.c.conversation_id).where(_logs.c.status == sa.literal(TurnStatus.failed.value))
_expensive = (
    sa.select(_logs.c.conversation_id)
    .group_by(_logs.c.conversation_id)
    .having(sa.func.sum(_logs.c.cost_usd) >= sa.bindparam("min_cost_usd", type_=sa.Double()))
)
_of_version = sa.exists().where(
    _messages.c.conversation_id == _conversations.c.id,
    sa.cast(json_value(_messages.c.details, "agent_version"), sa.Text())
    == sa.cast(sa.bindparam("version", type_=sa.BigInteger()), sa.Text()),
)

EQUAL = ("agent_id", "user_id", "channel", "status")
OWN_CONDITIONS: dict[str, Any] = {
    "archived": _conversations.c.is_archived == sa.bindparam("archived", type_=sa.Boolean()),
    "shared_with": sa.and_(
        _conversations.c.id.in_(
            sa.select(_readers.c.conversation_id).where(
                _readers.c.user_id == sa.bindparam("shared_with", type_=sa.Text())
            )
        ),
        _conversations.c.user_id.in_(
            sa.select(_users.c.id).where(_users.c.status == sa.literal(UserStatus.active.value))
        ),
    ),
}
"""Conditions on the conversation itself, by the name of their parameter."""
CONDITIONS: dict[str, Any] = {
    "rated": _conversations.c.id.in_(_rated),
    "failed": _conversations.c.id.in_(_failed) == sa.bindparam("failed", type_=sa.Boolean()),
    "needs_look": sa.or_(_conversations.c.id.in_(_failed), _conversations.c.id.in_(_rated_negative))
    == sa.bindparam("needs_look", type_=sa.Boolean()),
    "min_cost_usd": _conversations.c.id.in_(_expensive),
    "version": _of_version,
}
"""Conditions on messages and log entries, by the name of their parameter."""
IN_CHANNELS: dict[str, Any] = {"channels": in_list(_conversations.c.channel, "channels")}


def parse_channels(written: str) -> str:
    """Return the parameter of `IN_CHANNELS` for channels that are separated by commas."""
    channels = [part.strip() for part in written.split(",")]
    known = [channel.value for channel in ChatChannel]
    if any(channel not in known for channel in channels):
        raise Invalid({"channels": f"must be channels separated by commas: {', '.join(known)}"})
    return list_parameter(channels)
