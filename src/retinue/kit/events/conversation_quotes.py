"""Conversation content in events, and its removal for callers who may not read the conversation (ADR 21)."""

from typing import Any

from retinue.kit.conversation_ids import without_message
from retinue.kit.events.declare import ALL_FIELDS, EVENT_TYPES, custom_type
from retinue.kit.events.models import EventEntry
from retinue.kit.json_types import JsonObject


def may_quote(type: str) -> bool:
    """Return whether events of this type have fields that may quote a conversation."""
    return bool((EVENT_TYPES.get(type) or custom_type(type)).content)


def quoted_conversation_ids(entry: EventEntry) -> tuple[str, ...]:
    """Return the ids of the quoted conversations; an event about a conversation quotes that one."""
    kind = EVENT_TYPES.get(entry.type) or custom_type(entry.type)
    if not kind.content:
        return ()
    if entry.conversation_ids:
        return tuple(entry.conversation_ids)
    return (entry.subject_id,) if kind.subject == "conversation_id" and entry.subject_id else ()


def without_quotes(type: str, data: JsonObject) -> JsonObject:
    """Return the data without fields that may quote; for a custom event of a tenant, return nothing."""
    kind = EVENT_TYPES.get(type) or custom_type(type)
    if kind.content == ALL_FIELDS:
        return {}
    hidden = {name: _hidden(data[name]) for name in kind.content if name in data}
    return {**data, **hidden}


def _hidden(value: object) -> Any:
    """Return None; of an error, keep its code."""
    return without_message(value) if isinstance(value, dict) and "code" in value else None
