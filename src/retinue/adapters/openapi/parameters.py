"""Parameters of an operation, without its body."""

import re
from typing import Any, Literal

import msgspec

from retinue.adapters.openapi.description import SuggestedAuth, ValueStyle
from retinue.adapters.openapi.document import ApiDocument, UnusableOperation, clean_text, json_body_schema
from retinue.adapters.openapi.schema_translator import SchemaTranslator
from retinue.adapters.openapi.value_styles import find_style, find_swagger_style
from retinue.kit.json_types import JsonObject

Location = Literal["path", "query", "header"]

_IN_PATH = re.compile(r"\{([^{}]*)\}")
_PATH = re.compile(r"/[^\s?#\\{}]*(?:\{[^\s?#\\{}]{1,100}\}[^\s?#\\{}]*)*")
_MAX_PATH_LENGTH = 1000
_MAX_NAME_LENGTH = 100
_LOCATIONS: dict[str, Location] = {"path": "path", "query": "query", "header": "header"}
# OpenAPI describes these headers elsewhere.
_NEVER_PARAMETERS = frozenset({"accept", "content-type", "authorization"})
# Some documents declare the access token a second time, as a parameter (Slack's do).
_TOKEN_NAMES = frozenset({"token", "access_token", "x-access-token"})
_TOKEN_DESCRIPTION = re.compile(r"\b(?:auth\w*|access|bearer) token\b", re.IGNORECASE)


class ApiParameter(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    location: Location
    is_required: bool
    schema: Any
    description: str
    style: ValueStyle = "repeat"

    def translated(self, translator: SchemaTranslator) -> JsonObject:
        schema = translator.translate(self.schema)
        return {**schema, "description": self.description} if self.description else schema


def is_credential(declaration: JsonObject, auth: SuggestedAuth) -> bool:
    """Return whether a parameter carries what the tool's authentication sends already."""
    location, name = declaration.get("in"), clean_text(declaration.get("name"), _MAX_NAME_LENGTH).lower()
    if auth.auth_type == "api_key":
        config = auth.auth_config
        return (location, name) == (config["api_key_location"], config["api_key_header"].lower())
    if auth.auth_type not in {"bearer", "oauth2"} or location == "path" or name not in _TOKEN_NAMES:
        return False
    description = clean_text(declaration.get("description"), 500)
    return location == "header" or _TOKEN_DESCRIPTION.search(description) is not None


def parse_parameters(source: ApiDocument, path: str, declared: list[JsonObject]) -> list[ApiParameter]:
    """Parse parameters; later declarations replace earlier ones."""
    path_names = _path_parameters(path)
    parameters: dict[tuple[str, str], ApiParameter] = {}
    for declaration in declared:
        parameter = _find_parameter(source, declaration)
        if parameter and (parameter.location != "path" or parameter.name in path_names):
            parameters[parameter.location, parameter.name] = parameter
    for name in path_names:
        text = ApiParameter(
            name=name, location="path", is_required=True, schema={"type": "string"}, description=""
        )
        parameters.setdefault(("path", name), text)
    return list(parameters.values())


def fixed_value(schema: JsonObject) -> Any:
    """Return the value of a parameter that is not given, or None."""
    if "const" in schema:
        return schema["const"]
    values = schema.get("enum", [])
    return values[0] if len(values) == 1 else schema.get("default")


def _path_parameters(path: str) -> list[str]:
    if len(path) > _MAX_PATH_LENGTH or not path.isprintable() or not _PATH.fullmatch(path):
        raise UnusableOperation("its path is not a valid template")
    return list(dict.fromkeys(_IN_PATH.findall(path)))


def _find_parameter(source: ApiDocument, declaration: JsonObject) -> ApiParameter | None:
    name, place = declaration.get("name"), declaration.get("in")
    is_required = declaration.get("required") is True or place == "path"
    if not isinstance(name, str) or not 0 < len(name) <= _MAX_NAME_LENGTH or not name.isprintable():
        return None
    if place == "cookie" and is_required:
        raise UnusableOperation("it requires a cookie")
    location = _LOCATIONS.get(place) if isinstance(place, str) else None
    if location is None or (location == "header" and name.lower() in _NEVER_PARAMETERS):
        return None
    return ApiParameter(
        name=name,
        location=location,
        is_required=is_required,
        schema=_schema(source, declaration),
        description=clean_text(declaration.get("description"), 500),
        style=find_swagger_style(source, declaration) if source.is_swagger else find_style(declaration),
    )


def _schema(source: ApiDocument, declaration: JsonObject) -> Any:
    """Return a parameter's schema; in Swagger 2.0 its keywords are mixed with the parameter's own."""
    if source.is_swagger:
        return declaration
    return declaration["schema"] if "schema" in declaration else json_body_schema(declaration.get("content"))
