"""The OpenAPI document: paths, parameters and bodies, in a stable order."""

import inspect
import re
from collections.abc import Iterable

import msgspec

from retinue import __version__
from retinue.kit.context.manifest import Manifest
from retinue.kit.http.openapi.config_schemas import add_config_schemas
from retinue.kit.http.openapi.descriptions import describe_field, describe_parameter, example_of_body
from retinue.kit.http.openapi.responses import HEADERS, ResponseComponents
from retinue.kit.http.openapi.schemas import SchemaComponents, without_null
from retinue.kit.http.routing import (
    EMBED_KEY,
    PUBLIC,
    Access,
    Route,
    Upload,
    takes_if_match,
    takes_if_none_match,
)
from retinue.kit.json_types import JsonObject
from retinue.kit.limits import COST

_ABOUT = """\
Send `Authorization: Bearer <access token>` unless an operation is public, and bodies as `application/json`.
If an operation accepts an embed key, send it as `Authorization: Bearer emb_…`, as
`X-API-Key` or as `?api_key=`, in exactly one of these places.

Without a browser's `Origin` header, a JSON body labelled as a form (`curl -d`) is read as JSON, except by
`/auth/login`, `/auth/mfa/verify`, `/auth/refresh` and `/auth/logout`.

A name that an operation does not know has no effect, and the response says so. If it is one object,
`warnings` beside its `data` or among its fields has `ignored_field:` and the path of each name in the body;
else, and for query parameters, the header `X-Retinue-Warnings` has them. With `Prefer: handling=strict`, or
from a service account with `strict`, such a request is refused with 422 `validation_error` before anything
happens. Free objects, such as `metadata`, take any key.

Every error has the form `{ "error": { "code", "message", "details" } }`: decide by `code`, show `message`.
For the code `validation_error`, `details` has one message per invalid field.

`x-requires` of an operation is the permission it needs, or `signed_in`, `embed_key` or `public`; `x-cost` is
its cost class, and `x-costs` lists the rate limit units of each class.

`x-config-schemas` of a property has a schema, with an example, for each kind of object that it takes. It
describes the object; the operation decides what it refuses. Other keys have no effect: they are warned about,
and refused in the `config` of a workflow's node.

Editable objects have an `ETag`. Send it as `If-Match` to change the object only if nobody else has since.

A `POST` or `PATCH` with an `Idempotency-Key` takes effect once, however often it is sent within 24 hours."""

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_PATH_SEGMENT = {"type": "string", "minLength": 1, "maxLength": 200}
_FILE = {"type": "string", "contentMediaType": "application/octet-stream"}
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A repeated request with the same key and body gets the first response; another body gets"
    " 422.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}
_TENANT_ID = {
    "name": "X-Tenant-ID",
    "in": "header",
    "required": False,
    "description": "Super administrators only: the tenant to act in instead of their own. The request is"
    " recorded in that tenant's audit log. For other callers the header is ignored.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
    "example": "ten_5norq352iq33rswjjus4hndmfw",
}
_PREFER = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": "`handling=strict` refuses names that the operation does not know with 422, instead of"
    " warning about them (RFC 7240).",
    "schema": {"type": "string", "examples": ["handling=strict"]},
}
_IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "description": "The `ETag` of the version that was read; 412 if the object has changed since.",
    "schema": {"type": "string"},
}
_IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The `ETag` of an earlier response; 304 without a body if the response is still the same.",
    "schema": {"type": "string"},
}

_EMBED_KEY_SCHEMES: JsonObject = {
    "embedKey": {"type": "http", "scheme": "bearer", "bearerFormat": "emb_…"},
    "embedKeyHeader": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "embedKeyQuery": {"type": "apiKey", "in": "query", "name": "api_key"},
}
_SCHEMES = {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}, **_EMBED_KEY_SCHEMES}


def describe(routes: Iterable[Route], base_url: str, manifests: Iterable[Manifest] = ()) -> bytes:
    """Return the OpenAPI 3.1 document of these routes, as JSON; manifests add schemas of configs."""
    shapes = SchemaComponents()
    responses = ResponseComponents(shapes)
    documented = (route for route in routes if route.is_documented)
    ordered = sorted(documented, key=lambda route: (route.path, _METHODS.index(route.method)))
    _check_paths(ordered)
    paths: dict[str, JsonObject] = {}
    for route in ordered:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, shapes, responses)
    add_config_schemas(shapes, manifests)
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
            "responses": responses.components(),
            "parameters": {
                "IdempotencyKey": _IDEMPOTENCY_KEY,
                "IfMatch": _IF_MATCH,
                "IfNoneMatch": _IF_NONE_MATCH,
                "Prefer": _PREFER,
                "TenantId": _TENANT_ID,
            },
            "headers": {
                name: {"description": description, "schema": {"type": type}}
                for name, (type, description) in sorted(HEADERS.items())
            },
            "securitySchemes": _SCHEMES,
        },
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def _check_paths(routes: list[Route]) -> None:
    """Refuse paths that differ only in parameter names; OpenAPI treats them as identical."""
    seen: dict[str, str] = {}
    for route in routes:
        other = seen.setdefault(re.sub(r"{\w+}", "{}", route.path), route.path)
        if other != route.path:
            raise TypeError(f"{other} and {route.path} differ only in the names of their parameters")


def _operation(route: Route, shapes: SchemaComponents, responses: ResponseComponents) -> JsonObject:
    operation: JsonObject = {
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
    if route.takes_tenant_id:
        parameters.append({"$ref": "#/components/parameters/TenantId"})
    if route.idempotent:
        parameters.append({"$ref": "#/components/parameters/IdempotencyKey"})
    if takes_if_match(route):
        parameters.append({"$ref": "#/components/parameters/IfMatch"})
    if takes_if_none_match(route):
        parameters.append({"$ref": "#/components/parameters/IfNoneMatch"})
    if route.body is not None or route.upload is not None:
        parameters.append({"$ref": "#/components/parameters/Prefer"})
    if parameters:
        operation["parameters"] = parameters
    if route.upload is not None:
        operation["requestBody"] = _form(route, route.upload)
    elif route.body is not None:
        operation["requestBody"] = {
            "required": not _takes_nothing(route),
            "content": {"application/json": _body(route, shapes)},
        }
    operation["responses"] = responses.of(route)
    return operation


def _security(route: Route) -> list[JsonObject]:
    """Return the accepted authentication schemes, any one of which suffices."""
    if route.requires is PUBLIC:
        return []
    by_key: list[JsonObject] = [{name: []} for name in _EMBED_KEY_SCHEMES] if route.takes_embed_key else []
    return by_key if route.requires is EMBED_KEY else [{"bearer": []}, *by_key]


def _path_parameters(route: Route) -> list[JsonObject]:
    return [_path_parameter(route, name) for name in route.parameters]


def _path_parameter(route: Route, name: str) -> JsonObject:
    return _described(route, name, {"name": name, "in": "path", "required": True, "schema": _PATH_SEGMENT})


def _described(route: Route, name: str, parameter: JsonObject) -> JsonObject:
    description = describe_parameter(route.handler, name)
    return parameter if description is None else {**parameter, "description": description}


def _query_parameters(route: Route, shapes: SchemaComponents) -> list[JsonObject]:
    if route.query is None:
        return []
    parameters = []
    for field in msgspec.structs.fields(route.query):
        schema = without_null(shapes.request_schema(field.type))
        describe_field(route.query, field.encode_name, schema)
        parameter = {"name": field.encode_name, "in": "query", "required": field.required}
        if "description" in schema:
            parameter["description"] = schema.pop("description")
        if field.default not in {msgspec.NODEFAULT, msgspec.UNSET, None}:
            schema["default"] = msgspec.to_builtins(field.default)
        parameters.append({**parameter, "schema": schema})
    return parameters


def _body(route: Route, shapes: SchemaComponents) -> JsonObject:
    content: JsonObject = {"schema": shapes.request_schema(route.body)}
    example = example_of_body(route.handler, route.body)
    return content if example is None else {**content, "example": example}


def _takes_nothing(route: Route) -> bool:
    """Return whether an empty body, which the pipeline reads as `{}`, is valid."""
    try:
        route.body_decoder(b"{}")
    except msgspec.ValidationError:
        return False
    return True


def _form(route: Route, upload: Upload) -> JsonObject:
    part: JsonObject = _FILE
    if upload.max_files > len(upload.fields):
        part = {"type": "array", "items": _FILE, "minItems": 1, "maxItems": upload.max_files}
    schema = {
        "type": "object",
        "properties": {
            **{name: _described(route, name, part) for name in upload.fields},
            **{name: _described(route, name, {"type": "string"}) for name in upload.texts},
            **{
                name: _described(route, name, {"type": "array", "items": {"type": "string"}})
                for name in upload.lists
            },
        },
        "required": list(upload.fields),
    }
    return {
        "description": f"Files of at most {upload.max_file} bytes each.",
        "required": True,
        "content": {"multipart/form-data": {"schema": schema}},
    }
