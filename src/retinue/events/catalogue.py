"""The event types there are: what the manifests declare, with a schema and an example of each."""

import functools
from typing import Any

import msgspec

from retinue.events.errors import EventTypeNotFound
from retinue.events.schemas import EventTypeOut
from retinue.kit.events.declare import CATEGORIES, Event, EventType
from retinue.kit.instance import Instance
from retinue.kit.json_schemas import JsonSchema, compile_schema

_VERSION = 1
_ADDED: dict[str, Any] = {
    "tenant_id": {"type": "string"},
    "actor": {
        "type": "object",
        "properties": {"type": {"type": "string"}, "id": {"type": "string"}},
        "required": ["type", "id"],
    },
}
_EXAMPLE: dict[str, Any] = {"tenant_id": "ten_…", "actor": {"type": "user", "id": "usr_…"}}


def event_types(instance: Instance) -> list[EventTypeOut]:
    """By category, and within it in the order in which the domains declare them."""
    found = _declared(instance.manifests)
    return [shown(kind) for category in CATEGORIES for kind in found.values() if kind.category == category]


def fetch(instance: Instance, name: str) -> EventTypeOut:
    kind = find(instance, name)
    if kind is None:
        raise EventTypeNotFound
    return shown(kind)


def find(instance: Instance, name: str) -> EventType | None:
    return _declared(instance.manifests).get(name)


def shown(kind: EventType) -> EventTypeOut:
    return EventTypeOut(
        name=kind.name,
        category=kind.category,
        description=kind.description,
        schema=schema_of(kind.payload),
        example={**_EXAMPLE, **kind.example},
        version=_VERSION,
    )


def validator(kind: EventType) -> JsonSchema:
    return compile_schema(schema_of(kind.payload), "event_type")


@functools.cache
def _declared(manifests: tuple[Any, ...]) -> dict[str, EventType]:
    declared = (event.__event__ for manifest in manifests for event in manifest.events)
    return {kind.name: kind for kind in declared if kind.is_listed}


@functools.cache
def schema_of(payload: type[Event]) -> dict[str, Any]:
    """JSON Schema of the `data` that others are told, which says more than what the event itself declares."""
    written = msgspec.json.schema(payload)
    others = written.pop("$defs")
    schema: dict[str, Any] = others.pop(written["$ref"].rpartition("/")[2])
    schema["properties"] = {**_ADDED, **schema["properties"]}
    schema["required"] = list(dict.fromkeys([*_ADDED, *schema.get("required", ())]))
    return {**schema, "$defs": others} if others else schema
