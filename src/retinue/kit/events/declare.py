"""Declarations of event types: a typed payload, named in the past tense, optionally audited."""

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import msgspec

from retinue.kit.jobs.declare import JobKind
from retinue.kit.json_types import JsonObject

CATEGORIES = ("agent", "workflow", "form", "approval", "data_table", "system")


class Event(msgspec.Struct, kw_only=True):
    """The payload of one type of event; `@event` names it and sets where it is recorded."""

    __event__: ClassVar["EventType"]


class EventOccurred(msgspec.Struct):
    """The payload of every job that handles events."""

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
    example: JsonObject
    content: tuple[str, ...] = ()
    """The fields that may quote a conversation."""


ALL_FIELDS = ("*",)
"""The `content` of an event with undeclared fields."""

EVENT_TYPES: dict[str, EventType] = {}


def category_of(name: str) -> str:
    """Return the category in the first part of the name, or `system` if it is none."""
    category = name.partition(".")[0]
    return category if category in CATEGORIES else "system"


def custom_type(name: str) -> EventType:
    """Return the type of a custom event named by a tenant."""
    return EventType(
        name=name,
        category=category_of(name),
        description="",
        payload=Event,
        is_listed=True,
        is_audited=False,
        subject="",
        example={},
        content=ALL_FIELDS,
    )


E = TypeVar("E", bound=Event)


def event(
    name: str,
    *,
    subject: str,
    audited: bool = False,
    listed: bool = True,
    example: JsonObject | None = None,
    content: tuple[str, ...] = (),
) -> Callable[[type[E]], type[E]]:
    """Declare an event type; `subject` names the payload field with the id of the affected object.

    `content` names the fields that may quote a conversation; callers who may not read it do not see them.

    A listed event appears in the catalogue and the event log and goes to listeners; an audited one is added
    to the tenant's audit chain. An event must be at least one of the two.
    """

    def declare(payload: type[E]) -> type[E]:
        category = name.partition(".")[0]
        if listed and category not in CATEGORIES:
            raise TypeError(f"{name}: unknown category {category}")
        if name in EVENT_TYPES:
            raise TypeError(f"{name} is declared twice")
        if subject and subject not in payload.__struct_fields__:
            raise TypeError(f"{name}: no field {subject}")
        for field in content:
            if field not in payload.__struct_fields__:
                raise TypeError(f"{name}: no field {field}")
        if not (listed or audited):
            raise TypeError(f"{name} must be listed or audited")
        payload.__event__ = EVENT_TYPES[name] = EventType(
            name=name,
            category=category,
            description=(payload.__doc__ or "").strip(),
            payload=payload,
            is_listed=listed,
            is_audited=audited,
            subject=subject,
            example=example or {},
            content=content,
        )
        return payload

    return declare


class Listener(msgspec.Struct, frozen=True):
    """Enqueues `job` after the commit for each event of the type (`*` for every type).

    With `only`, just for events whose data has these values.
    """

    event: str
    job: JobKind[Any]
    only: tuple[tuple[str, str], ...] = ()
