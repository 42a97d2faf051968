"""The OpenAPI document: paths, parameters and bodies, in an order that does not depend on who was first."""

import inspect
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from retinue import __version__
from retinue.kit.http.openapi.answers import HEADERS, Answers
from retinue.kit.http.openapi.shapes import Shapes, without_null
from retinue.kit.http.routing import EMBED_KEY, PUBLIC, Access, Route, Upload
from retinue.kit.limits import COST

_ABOUT = """\
Send `Authorization: Bearer <access token>` unless an operation is public, and bodies as `application/json`;
unknown fields are ignored. Where an operation takes an embed key, send that as `Authorization: Bearer emb_…`,
as `X-API-Key` or as `?api_key=`, in one of these places only.

Every refusal is `{ "error": { "code", "message", "details" } }`: decide by `code`, show `message`. The code
`validation_error` has one message for each field in `details`.

`x-requires` of an operation is the permission it needs, `signed_in`, `embed_key` or `public`; `x-cost` is its
class, and `x-costs` says how many units of the rate limit each class takes.

A `POST` or `PATCH` with an `Idempotency-Key` is done once, however often it is sent within 24 hours."""

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_PATH_SEGMENT = {"type": "string", "minLength": 1, "maxLength": 200}
_FILE = {"type": "string", "contentMediaType": "application/octet-stream"}
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key with the same body gets the first answer again; with another body, 422.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}


_EMBED_KEY_SCHEMES: dict[str, Any] = {
    "embedKey": {"type": "http", "scheme": "bearer", "bearerFormat": "emb_…"},
    "embedKeyHeader": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "embedKeyQuery": {"type": "apiKey", "in": "query", "name": "api_key"},
}
_SCHEMES = {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}, **_EMBED_KEY_SCHEMES}


def describe(routes: Iterable[Route], base_url: str) -> bytes:
    """The OpenAPI 3.1 document of these routes, as JSON."""
    shapes = Shapes()
    answers = Answers(shapes)
    ordered = sorted(routes, key=lambda route: (route.path, _METHODS.index(route.method)))
    _check_paths(ordered)
    paths: dict[str, dict[str, Any]] = {}
    for route in ordered:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, shapes, answers)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Retinue",
            "version": __version__,
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": base_url or "/"}],
        "tags": [{"name": tag} for tag in sorted({route.tag for route in ordered})],
        "x-costs": COST,
        "paths": paths,
        "components": {
            "schemas": shapes.components(),
            "responses": answers.components(),
            "parameters": {"IdempotencyKey": _IDEMPOTENCY_KEY},
            "headers": {
                name: {"description": description, "schema": {"type": type}}
                for name, (type, description) in sorted(HEADERS.items())
            },
            "securitySchemes": _SCHEMES,
        },
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _check_paths(routes: list[Route]) -> None:
    """OpenAPI takes two paths that differ only in the names of parameters for one and the same."""
    seen: dict[str, str] = {}
    for route in routes:
        other = seen.setdefault(re.sub(r"{\w+}", "{}", route.path), route.path)
        if other != route.path:
            raise TypeError(f"{other} and {route.path} are the same path with other parameter names")


def _operation(route: Route, shapes: Shapes, answers: Answers) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.name.replace("_", " ").capitalize(),
        "tags": [route.tag],
        "x-requires": route.requires.value if isinstance(route.requires, Access) else route.requires,
        "x-cost": route.cost,
        "security": _security(route),
    }
    description = inspect.getdoc(route.handler)
    if description:
        operation["description"] = description
    parameters = [*_path_parameters(route), *_query_parameters(route, shapes)]
    if route.idempotent:
        parameters.append({"$ref": "#/components/parameters/IdempotencyKey"})
    if parameters:
        operation["parameters"] = parameters
    if route.upload is not None:
        operation["requestBody"] = _form(route.upload)
    elif route.body is not None:
        operation["requestBody"] = {
            "required": not _takes_nothing(route),
            "content": {"application/json": {"schema": shapes.taken(route.body)}},
        }
    operation["responses"] = answers.of(route)
    return operation


def _security(route: Route) -> list[dict[str, Any]]:
    """Any one of these will do."""
    if route.requires is PUBLIC:
        return []
    by_key: list[dict[str, Any]] = (
        [{name: []} for name in _EMBED_KEY_SCHEMES] if route.takes_embed_key else []
    )
    return by_key if route.requires is EMBED_KEY else [{"bearer": []}, *by_key]


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": _PATH_SEGMENT} for name in route.parameters
    ]


def _query_parameters(route: Route, shapes: Shapes) -> list[dict[str, Any]]:
    if route.query is None:
        return []
    parameters = []
    for field in msgspec.structs.fields(route.query):
        schema = without_null(shapes.taken(field.type))
        parameter = {"name": field.encode_name, "in": "query", "required": field.required}
        if "description" in schema:
            parameter["description"] = schema.pop("description")
        if field.default not in {msgspec.NODEFAULT, msgspec.UNSET, None}:
            schema["default"] = msgspec.to_builtins(field.default)
        parameters.append({**parameter, "schema": schema})
    return parameters


def _takes_nothing(route: Route) -> bool:
    """Whether an empty body will do: the pipeline reads it as `{}`."""
    try:
        route.body_decoder(b"{}")
    except msgspec.ValidationError:
        return False
    return True


def _form(upload: Upload) -> dict[str, Any]:
    part: dict[str, Any] = _FILE
    if upload.max_files > len(upload.fields):
        part = {"type": "array", "items": _FILE, "minItems": 1, "maxItems": upload.max_files}
    schema = {
        "type": "object",
        "properties": {
            **dict.fromkeys(upload.fields, part),
            **{name: {"type": "string"} for name in upload.texts},
        },
        "required": list(upload.fields),
    }
    return {
        "description": f"Files of at most {upload.max_file} bytes each.",
        "required": True,
        "content": {"multipart/form-data": {"schema": schema}},
    }
