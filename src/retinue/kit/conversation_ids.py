"""Ids of the conversations that a record quotes; `kit.context.conversation_access` says who may read them.

The id of a user or service account stands for what is theirs and not in a conversation yet.
"""

from collections.abc import Sequence

from retinue.kit.json_types import JsonObject

MAX_CONVERSATION_IDS = 20
UNNAMED_CONVERSATIONS = "*"
"""Stands for conversations that are not named: only who reads all conversations reads what quotes them."""


def merge_conversation_ids(*quoted: Sequence[str] | None) -> tuple[str, ...]:
    """Return all these ids once, or `UNNAMED_CONVERSATIONS` if they are too many to keep."""
    ids = tuple(dict.fromkeys(id for some in quoted if some for id in some))
    return ids if len(ids) <= MAX_CONVERSATION_IDS else (UNNAMED_CONVERSATIONS,)


def conversation_ids_or_none(*quoted: Sequence[str] | None) -> list[str] | None:
    """Return the merged ids as a record keeps them: None if no conversation is quoted."""
    return list(merge_conversation_ids(*quoted)) or None


def without_message(error: JsonObject | None) -> JsonObject | None:
    """Return an error as everyone may read it: its code and place, not its message."""
    if error is None:
        return None
    return {"code": error.get("code"), "message": None} | {
        name: error[name] for name in ("node_id",) if name in error
    }
