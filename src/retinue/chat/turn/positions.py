"""Places of messages in their conversation, taken one after the other."""

from typing import NamedTuple

import sqlalchemy as sa

from retinue.chat.errors import ConversationNotFound
from retinue.chat.models import Conversation, ConversationStatus
from retinue.kit.clock import hour_of
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement

_conversations = Conversation.__table__
_counted = sa.update(_conversations).where(_conversations.c.id == sa.bindparam("conversation_id"))
_COUNTED = {
    "message_count": _conversations.c.message_count + 1,
    "last_message_at": sa.bindparam("now"),
    "updated_at": sa.bindparam("now"),
}
_OPENED = {
    "status": ConversationStatus.active.value,
    "last_message_hour": sa.bindparam("hour"),
    "is_archived": False,
}
# ADR 45: SQLite writes to every index of a column that an UPDATE names, PostgreSQL only if its value changes.
_ADD_MESSAGE = {
    "postgresql": (Statement(_counted.values({**_COUNTED, **_OPENED})),),
    "sqlite": (
        Statement(_counted.values(_COUNTED)),
        Statement(
            _counted.where(
                sa.or_(
                    _conversations.c.status != sa.literal(ConversationStatus.active.value),
                    _conversations.c.is_archived,
                    _conversations.c.last_message_hour != sa.bindparam("hour"),
                )
            ).values(_OPENED)
        ),
    ),
}
_LAST_POSITION = Statement(
    sa.select(_conversations.c.message_count, _conversations.c.is_branched).where(
        _conversations.c.id == sa.bindparam("conversation_id")
    )
)


class TakenPosition(NamedTuple):
    """The position of a new message, and whether the messages before it may be of several branches."""

    position: int
    is_branched: bool = False

    def after(self, position: int) -> int | None:
        """Return the parent to store, so that the message follows the one at `position`."""
        return position if self.is_branched and self.position != position + 1 else None


async def take_next_position(unit: Context, conversation_id: str, known: int | None = None) -> TakenPosition:
    """Count one more message and return its position.

    A known position saves reading the row; if it is taken, storing the message raises `UniqueViolation`.
    """
    now = unit.now
    given = {"conversation_id": conversation_id, "now": now, "hour": hour_of(now)}
    statements = _ADD_MESSAGE[unit.db.dialect]
    if known is not None:
        for statement in statements:
            unit.db.execute_at_commit(statement, **given)
        return TakenPosition(known)
    for number, statement in enumerate(statements):
        if not await unit.db.execute(statement, **given) and number == 0:
            raise ConversationNotFound
    (row,) = await unit.db.rows(_LAST_POSITION, conversation_id=conversation_id)
    return TakenPosition(row[0], bool(row[1]))
