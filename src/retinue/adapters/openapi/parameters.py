"""What an operation takes apart from its body."""

import re
from typing import Any, Literal

import msgspec

from retinue.adapters.openapi.schemas import Translator
from retinue.adapters.openapi.source import Source, Unusable, schema_of_json, text_of

Location = Literal["path", "query", "header"]

_IN_PATH = re.compile(r"\{([^{}]*)\}")
_PATH = re.compile(r"/[^\s?#\\{}]*(?:\{[^\s?#\\{}]{1,100}\}[^\s?#\\{}]*)*")
_LONGEST_PATH = 1000
_LONGEST_NAME = 100
_LOCATIONS: dict[str, Location] = {"path": "path", "query": "query", "header": "header"}
# OpenAPI itself gives these headers to other parts of the description.
_NEVER_PARAMETERS = frozenset({"accept", "content-type", "authorization"})


class Parameter(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    location: Location
    is_required: bool
    schema: Any
    description: str

    def translated(self, translator: Translator) -> dict[str, Any]:
        schema = translator.translate(self.schema)
        return {**schema, "description": self.description} if self.description else schema


def read_parameters(
    source: Source, path: str, declared: list[Any], taken: frozenset[tuple[str, str]]
) -> list[Parameter]:
    """Later declarations replace earlier ones; `taken` are those that carry the credentials."""
    wanted = _names_in(path)
    found: dict[tuple[str, str], Parameter] = {}
    for written in declared:
        parameter = _find_parameter(source, source.follow(written))
        if parameter is None or (parameter.location, parameter.name.lower()) in taken:
            continue
        if parameter.location != "path" or parameter.name in wanted:
            found[parameter.location, parameter.name] = parameter
    for name in wanted:
        text = Parameter(
            name=name, location="path", is_required=True, schema={"type": "string"}, description=""
        )
        found.setdefault(("path", name), text)
    return list(found.values())


def fixed_value(schema: dict[str, Any]) -> Any:
    """The value a parameter has when nobody gives one, or None."""
    if "const" in schema:
        return schema["const"]
    values = schema.get("enum", [])
    return values[0] if len(values) == 1 else schema.get("default")


def _names_in(path: str) -> list[str]:
    if len(path) > _LONGEST_PATH or not path.isprintable() or not _PATH.fullmatch(path):
        raise Unusable("its path cannot be filled in")
    return list(dict.fromkeys(_IN_PATH.findall(path)))


def _find_parameter(source: Source, written: dict[str, Any]) -> Parameter | None:
    name, place = written.get("name"), written.get("in")
    is_required = written.get("required") is True or place == "path"
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        return None
    if place == "cookie" and is_required:
        raise Unusable("it needs a cookie")
    location = _LOCATIONS.get(place) if isinstance(place, str) else None
    if location is None or (location == "header" and name.lower() in _NEVER_PARAMETERS):
        return None
    return Parameter(
        name=name,
        location=location,
        is_required=is_required,
        schema=_schema(source, written),
        description=text_of(written.get("description"), 500),
    )


def _schema(source: Source, written: dict[str, Any]) -> Any:
    """In a parameter of Swagger 2.0, the keywords of the schema stand beside the parameter's own."""
    if source.is_swagger:
        return written
    return written["schema"] if "schema" in written else schema_of_json(written.get("content"))
