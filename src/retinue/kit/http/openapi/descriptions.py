"""The texts of the API reference: `descriptions.toml` of each package describes its fields and values.

[fields]
temperature = "Randomness of the model's answers."      # every class of the package that has the field
"AgentCreate.status" = "Publish at once, or keep a draft."   # this class and those derived from it

[values.AgentStatus]                                    # an enum, or a field whose type lists its values
draft = "Cannot be used for chat yet."

[examples]
temperature = 0.7
create_table_rows = { email = "ada@example.com" }       # the body of an operation that takes any object
SmtpChannelConfig = { host = "mail.example.com" }       # a `ConfigSchema`, whose properties are like fields
"""

import functools
import tomllib
from collections.abc import Iterator
from enum import Enum
from importlib import resources
from typing import Any, get_origin

import msgspec

from retinue.kit.json_types import JsonObject

_COMMON = "retinue.kit"
_FILE = "descriptions.toml"


class PackageTexts(msgspec.Struct):
    """The content of one `descriptions.toml`."""

    fields: dict[str, str] = {}
    values: dict[str, dict[str, str]] = {}
    examples: JsonObject = {}
    parameters: dict[str, str] = {}
    """Path parameters, by name."""


@functools.cache
def texts_of(package: str) -> PackageTexts:
    """Return the texts of a package; a package without the file has none."""
    try:
        content = resources.files(package).joinpath(_FILE).read_text("utf-8")
    except FileNotFoundError:
        return PackageTexts()
    return msgspec.convert(tomllib.loads(content), PackageTexts)


def package_of(cls: Any) -> str:
    """Return `retinue.agents` for a class of any module below it."""
    return ".".join(cls.__module__.split(".")[:2])


def describe_component(cls: Any, schema: JsonObject) -> None:
    """Add descriptions and examples to the schema of a Struct or an enum, in place."""
    origin = get_origin(cls) or cls
    if isinstance(origin, type) and issubclass(origin, Enum):
        _describe_values(schema, _values_of(origin))
        return
    for name, field in schema.get("properties", {}).items():
        describe_field(origin, name, field)


def describe_field(cls: Any, name: str, schema: JsonObject) -> None:
    """Add description, examples and values of one field to its schema, in place."""
    text = _lookup("fields", cls, name)
    if text is not None:
        schema["description"] = text
    example = _lookup("examples", cls, name)
    if example is not None:
        schema["examples"] = [example]
    _describe_values(schema, _lookup("values", cls, name, may_be_plain=False))


def describe_properties(package: str, path: str, schema: JsonObject) -> None:
    """Add what is known about the properties of a JSON Schema, in place; `path` begins with its name."""
    for name, inner in schema.get("properties", {}).items():
        here = f"{path}.{name}"
        texts = texts_of(package)
        text = texts.fields.get(here) or texts.fields.get(name)
        if text is not None:
            inner["description"] = text
        _describe_values(inner, texts.values.get(here))
        describe_properties(package, here, inner)
    for nested in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(nested, dict):
            describe_properties(package, path, nested)


def describe_parameter(handler: object, name: str) -> str | None:
    """Return the description of a path parameter."""
    for package in _packages([handler]):
        text = texts_of(package).parameters.get(name)
        if text is not None:
            return text
    return None


def example_of(cls: Any) -> JsonObject | None:
    """Return an example of a request body: every field that has one, or None if a required field has none."""
    example: JsonObject = {}
    for field in msgspec.structs.fields(cls):
        value = _lookup("examples", cls, field.encode_name)
        if value is not None:
            example[field.encode_name] = value
        elif field.required:
            return None
    return example or None


def example_of_body(handler: Any, body: Any) -> JsonObject | None:
    """Return an example request body; for a body without fields it is stored under the handler's name."""
    if isinstance(body, type) and issubclass(body, msgspec.Struct):
        return example_of(body)
    example: JsonObject | None = texts_of(package_of(handler)).examples.get(handler.__name__)
    return example


def example_of_config(package: str, name: str) -> JsonObject | None:
    """Return the worked example of a `ConfigSchema`, by the name of its component."""
    example: JsonObject | None = texts_of(package).examples.get(name)
    return example


def _values_of(enum: type[Enum]) -> dict[str, str] | None:
    for package in _packages([enum]):
        text = texts_of(package).values.get(enum.__name__)
        if text is not None:
            return text
    return None


def _describe_values(schema: JsonObject, texts: dict[str, str] | None) -> None:
    if not texts:
        return
    schema["x-enum-descriptions"] = texts
    listed = "\n".join(f"- `{value}`: {text}" for value, text in texts.items())
    before = schema.get("description")
    schema["description"] = f"{before}\n\n{listed}" if before else listed


def _lookup(table: str, cls: Any, name: str, *, may_be_plain: bool = True) -> Any:
    """Return the text for the class itself, a base class, its package, or all packages, in this order."""
    classes = [each for each in cls.__mro__ if each.__module__.startswith("retinue.")]
    for each in classes:
        text = getattr(texts_of(package_of(each)), table).get(f"{each.__name__}.{name}")
        if text is not None:
            return text
    if not may_be_plain:
        return None
    for package in _packages(classes):
        text = getattr(texts_of(package), table).get(name)
        if text is not None:
            return text
    return None


def _packages(classes: list[Any]) -> Iterator[str]:
    yield from dict.fromkeys(package_of(each) for each in classes if each.__module__.startswith("retinue."))
    yield _COMMON
