"""The event catalogue: the types that the manifests declare, each with a schema and an example."""

import functools

import msgspec

from retinue.events.errors import EventTypeNotFound
from retinue.events.schemas import EventTypeOut
from retinue.kit.context.instance import Instance
from retinue.kit.events.declare import CATEGORIES, Event, EventType
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.json_schema import JsonSchema, compile_schema

_VERSION = 1
_COMMON_PROPERTIES: JsonObject = {
    "tenant_id": {"type": "string"},
    "actor": {
        "type": "object",
        "properties": {"type": {"type": "string"}, "id": {"type": "string"}},
        "required": ["type", "id"],
    },
}
_EXAMPLE: JsonObject = {"tenant_id": "ten_…", "actor": {"type": "user", "id": "usr_…"}}


def event_types(instance: Instance) -> list[EventTypeOut]:
    """Return the types by category, within it in the order of declaration."""
    declared = _declared(instance.registry.events)
    return [
        render_event_type(kind)
        for category in CATEGORIES
        for kind in declared.values()
        if kind.category == category
    ]


def fetch(instance: Instance, name: str) -> EventTypeOut:
    kind = find(instance, name)
    if kind is None:
        raise EventTypeNotFound
    return render_event_type(kind)


def find(instance: Instance, name: str) -> EventType | None:
    return _declared(instance.registry.events).get(name)


def render_event_type(kind: EventType) -> EventTypeOut:
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
def _declared(events: tuple[type[Event], ...]) -> dict[str, EventType]:
    declared = (event.__event__ for event in events)
    return {kind.name: kind for kind in declared if kind.is_listed}


@functools.cache
def schema_of(payload: type[Event]) -> JsonObject:
    """Return the JSON Schema of the public `data`, which adds common fields to those of the event."""
    generated = msgspec.json.schema(payload)
    others = generated.pop("$defs")
    schema: JsonObject = others.pop(generated["$ref"].rpartition("/")[2])
    schema["properties"] = {**_COMMON_PROPERTIES, **schema["properties"]}
    schema["required"] = list(dict.fromkeys([*_COMMON_PROPERTIES, *schema.get("required", ())]))
    return {**schema, "$defs": others} if others else schema
