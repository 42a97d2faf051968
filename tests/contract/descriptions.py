"""Gaps in the descriptions of the OpenAPI document; `scripts/undescribed.py` lists those of one package."""

import functools
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

import msgspec

from retinue.app import openapi_document
from retinue.domains import DOMAINS
from retinue.kit.context.config_schemas import ConfigSchema

METHODS = ("get", "post", "put", "patch", "delete")
_NESTED = ("items", "anyOf", "oneOf", "allOf", "additionalProperties", "prefixItems")
_EMPTY_WORDS = frozenset(
    {
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "by",
        "for",
        "from",
        "id",
        "in",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
    }
    | {"that", "the", "thi", "to", "which", "with"}
)


@functools.cache
def document() -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(openapi_document())
    return found


def words(text: str) -> set[str]:
    """The words that say something, in one form for singular and plural."""
    found = re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", text).lower())
    return {word.rstrip("s") for word in found} - _EMPTY_WORDS


def only_repeats(description: str, *names: str) -> bool:
    return words(description) <= set().union(*map(words, names))


def find_missing(found: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Every gap: the component or operation it is in, and what is missing there."""
    for name, schema in found["components"]["schemas"].items():
        for gap in _gaps(name, schema, name):
            yield name, gap
    for path, methods in found["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = methods[method]
                for gap in _operation_gaps(operation):
                    yield operation["operationId"], f"{method.upper()} {path}: {gap}"


def _text_gaps(where: str, text: str, *names: str) -> Iterator[str]:
    if not text:
        yield f"{where} has no description"
    elif only_repeats(text, *names):
        yield f"{where} only repeats its name: {text}"


def _gaps(place: str, schema: dict[str, Any], name: str) -> Iterator[str]:
    for field, inner in schema.get("properties", {}).items():
        yield from _text_gaps(f"{place}.{field}", inner.get("description", ""), field, name)
        yield from _gaps(f"{place}.{field}", inner, field)
    yield from _value_gaps(place, schema)
    for key in _NESTED:
        nested = schema.get(key, [])
        for one in nested if isinstance(nested, list) else [nested]:
            if isinstance(one, dict):
                # The values of a field are described at the field, also if it may be null or a list.
                texts = schema.get("x-enum-descriptions", {})
                yield from _gaps(place, {"x-enum-descriptions": texts, **one}, name)


def _value_gaps(place: str, schema: dict[str, Any]) -> Iterator[str]:
    if len(schema.get("enum", [])) < 2:
        return
    described = set(schema.get("x-enum-descriptions", {}))
    values = {str(value) for value in schema["enum"] if value is not None}
    if values - described:
        yield f"{place}: undescribed values {sorted(values - described)}"
    if described - values:
        yield f"{place}: descriptions of values that do not exist {sorted(described - values)}"


def _operation_gaps(operation: dict[str, Any]) -> Iterator[str]:
    yield from _text_gaps("the operation", operation.get("description", ""), operation["operationId"])
    for parameter in operation.get("parameters", []):
        if "$ref" in parameter:
            continue
        where = f"parameter {parameter['name']}"
        yield from _text_gaps(where, parameter.get("description", ""), parameter["name"])
        yield from _gaps(where, parameter["schema"], parameter["name"])
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        if media == "application/json" and "example" not in content:
            yield "its body has no example"
        yield from _gaps(f"body ({media})", content["schema"], "body")
    for status, response in operation["responses"].items():
        for media, content in response.get("content", {}).items():
            yield from _gaps(f"answer {status} ({media})", content.get("schema", {}), "answer")


def _subclasses(cls: Any) -> Iterator[Any]:
    for each in cls.__subclasses__():
        yield each
        yield from _subclasses(each)


def packages() -> dict[str, str]:
    """The package of each component and operation, by its name."""
    routes = (route for manifest in DOMAINS for group in manifest.routes for route in group.routes)
    owners = {route.name: route.handler.__module__ for route in routes}
    used = {
        cls
        for module in ("schemas", "models")
        for cls in (*_subclasses(msgspec.Struct), *_subclasses(Enum))
        if f".{module}" in cls.__module__
    }
    for cls in (*used, *_subclasses(msgspec.Struct), *_subclasses(Enum)):
        owners.setdefault(cls.__name__, cls.__module__)
    found = {name: module.split(".")[1] for name, module in owners.items() if module.startswith("retinue.")}
    configs = {
        one.component: package for package, one in config_schemas() if not isinstance(one.schema, type)
    }
    return found | configs


def config_schemas() -> list[tuple[str, ConfigSchema]]:
    """Every declared kind of a free-form object, with the package that describes it."""
    return [(manifest.name, one) for manifest in DOMAINS for one in manifest.config_schemas]


def config_kinds(found: dict[str, Any], field: str) -> dict[str, dict[str, Any]]:
    """The schemas that the document gives for a free-form object, by kind."""
    schemas = found["components"]["schemas"]
    name, *steps = field.split(".")
    place = schemas[name]
    for step in steps:
        place = place["properties"][step.removesuffix("[]")]
        place = place["items"] if step.endswith("[]") else place
    return {
        kind: schemas[reference["$ref"].rpartition("/")[2]]
        for kind, reference in place["x-config-schemas"].items()
    }


def example_of_kind(found: dict[str, Any], component: str) -> dict[str, Any]:
    example: dict[str, Any]
    (example,) = found["components"]["schemas"][component]["examples"]
    return example


def _paths(name: str, schema: dict[str, Any]) -> Iterator[str]:
    """The names under which a text may describe the properties of a JSON Schema."""
    for field, inner in schema.get("properties", {}).items():
        yield from (field, f"{name}.{field}")
        yield from _paths(f"{name}.{field}", inner)
    for nested in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(nested, dict):
            yield from _paths(name, nested)


class DescribedNames(msgspec.Struct):
    """The names that the texts of one package may describe."""

    fields: set[str]
    enums: set[str]
    parameters: set[str]


def described_names(package: str) -> DescribedNames:
    own = f"retinue.{package}"
    names = DescribedNames(set(), set(), set())
    for cls in _subclasses(msgspec.Struct):
        # The kit's plain texts are for every package.
        if package == "kit" or cls.__module__.startswith(f"{own}."):
            for name in cls.__struct_encode_fields__:
                names.fields |= {name, f"{cls.__name__}.{name}"}
    for owner, one in config_schemas():
        if owner == package:
            names.fields |= {
                one.component,
                *(field.partition(".")[2].replace("[]", "") for field in one.fields),
            }
            names.fields |= set() if isinstance(one.schema, type) else {*_paths(one.name, one.schema)}
    names.enums = {cls.__name__ for cls in _subclasses(Enum) if cls.__module__.startswith(own)}
    for route in (route for manifest in DOMAINS for group in manifest.routes for route in group.routes):
        if route.handler.__module__.startswith(own):
            names.parameters |= {*route.parameters}
            # A body without fields of its own has its example under the name of the operation.
            names.fields.add(route.name)
            if route.upload is not None:
                names.parameters |= {*route.upload.fields, *route.upload.texts, *route.upload.lists}
    return names
