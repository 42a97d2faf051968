"""What happened, as a typed declaration in the past tense; audit is a property of it."""

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import msgspec

CATEGORIES = ("agent", "workflow", "form", "approval", "data_table", "system")


class Event(msgspec.Struct, kw_only=True):
    """The payload of one kind of event; `@event` gives it a name and says who hears of it."""

    __event__: ClassVar["EventType"]


class EventOccurred(msgspec.Struct):
    """The payload of every job that listens to events."""

    event_id: str
    type: str


class EventType(msgspec.Struct, frozen=True):
    name: str
    category: str
    description: str
    payload: type[Event]
    is_listed: bool
    is_audited: bool
    subject: str
    example: dict[str, Any]


EVENT_TYPES: dict[str, EventType] = {}


def category_of(name: str) -> str:
    """The one that the name of an event begins with, if that is one."""
    category = name.partition(".")[0]
    return category if category in CATEGORIES else "system"


def custom_type(name: str) -> EventType:
    """An event that a tenant named itself."""
    return EventType(
        name=name,
        category=category_of(name),
        description="",
        payload=Event,
        is_listed=True,
        is_audited=False,
        subject="",
        example={},
    )


E = TypeVar("E", bound=Event)


def event(
    name: str,
    *,
    subject: str,
    audited: bool = False,
    listed: bool = True,
    example: dict[str, Any] | None = None,
) -> Callable[[type[E]], type[E]]:
    """`subject` names the payload field with the id of what it happened to.

    A listed event stands in the catalogue, the event log and goes to listeners; an audited one is written to
    the tenant's audit chain as well. An event is at least one of the two.
    """

    def declare(payload: type[E]) -> type[E]:
        category = name.partition(".")[0]
        if listed and category not in CATEGORIES:
            raise TypeError(f"{name}: unknown category {category}")
        if name in EVENT_TYPES:
            raise TypeError(f"{name} is declared twice")
        if subject and subject not in payload.__struct_fields__:
            raise TypeError(f"{name}: no field {subject}")
        if not (listed or audited):
            raise TypeError(f"{name} would go nowhere")
        payload.__event__ = EVENT_TYPES[name] = EventType(
            name=name,
            category=category,
            description=(payload.__doc__ or "").strip(),
            payload=payload,
            is_listed=listed,
            is_audited=audited,
            subject=subject,
            example=example or {},
        )
        return payload

    return declare
