"""Responses that the OpenAPI document declares, and checks that an answer matches them."""

import functools
import json
from typing import Any

import jsonschema_rs

from retinue.app import openapi_document
from retinue.kit.http.routing import Route
from tests.client import Response


@functools.cache
def document() -> Any:
    return json.loads(openapi_document())


def _closed(node: Any) -> Any:
    """A copy in which an object has the properties that are listed and no others."""
    if isinstance(node, list):
        return [_closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    copy = {key: _closed(value) for key, value in node.items()}
    if isinstance(node.get("properties"), dict) and node.get("type") == "object":
        copy.setdefault("additionalProperties", False)
    return copy


@functools.cache
def _closed_schemas() -> dict[str, Any]:
    schemas: dict[str, Any] = _closed(document()["components"]["schemas"])
    return schemas


def _named_in(node: Any) -> set[str]:
    """The names of the schemas to which a schema refers."""
    if isinstance(node, list):
        return set().union(*map(_named_in, node))
    if not isinstance(node, dict):
        return set()
    reference = node.get("$ref")
    own = {reference.rpartition("/")[2]} if isinstance(reference, str) else set()
    return own.union(*map(_named_in, node.values()))


def _with_what_it_names(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with those it refers to: with the whole document a validator takes 7 MB."""
    schemas: dict[str, Any] = {}
    missing = _named_in(schema)
    while missing:
        schemas |= {name: _closed_schemas()[name] for name in missing}
        missing = set().union(*(_named_in(schemas[name]) for name in missing)) - set(schemas)
    return {**schema, "components": {"schemas": schemas}}


REQUEST_WARNINGS = {"$ref": "#/components/schemas/RequestWarnings"}


def _may_have_warnings(schema: dict[str, Any]) -> bool:
    return REQUEST_WARNINGS in schema.get("allOf", [])


@functools.cache
def _schema(operation: str, status: str) -> Any:
    """Return the schema that is declared for an answer of this status, None if no JSON is."""
    method, path = operation.split(" ", 1)
    response = document()["paths"][path][method.lower()]["responses"].get(status, {})
    content = _closed(response.get("content", {})).get("application/json")
    return None if content is None or status >= "300" else content["schema"]


@functools.cache
def _validator(operation: str, status: str) -> Any:
    """Return the validator for an answer of this status, None if no JSON is declared for it."""
    schema = _schema(operation, status)
    if schema is None:
        return None
    # Closed schemas have no other properties, not even those of the other members.
    members = schema["allOf"] if _may_have_warnings(schema) else [schema]
    return jsonschema_rs.validator_for(_with_what_it_names(members[0]))


def find_undeclared(operation: str, answer: Response) -> list[str]:
    """Return the differences between a good answer and the document, undeclared keys included."""
    validator = _validator(operation, str(answer.status))
    if validator is None:
        return [] if answer.headers.get("content-type") != "application/json" else _unknown(operation)
    body = answer.json()
    if _may_have_warnings(_schema(operation, str(answer.status))):
        assert all(warning.startswith("ignored_field:") for warning in body.pop("warnings", []))
    return [f"{error.instance_path}: {error.message}" for error in validator.iter_errors(body)]


# Documents for the caller to keep, whose shape the description leaves open.
_DOCUMENTS = {
    "GET /openapi.json",
    "GET /api/v1/conversations/{conversation_id}/export",
    "GET /api/v1/data-tables/{table_id}/export",
    "GET /api/v1/forms/{form_id}/submissions/export",
    "GET /api/v1/tenant/export",
}


def _unknown(operation: str) -> list[str]:
    return [] if operation in _DOCUMENTS else [f"{operation} does not declare this answer"]


def body_keys(route: Route) -> set[str]:
    """The keys that the body of a route may have, by the document."""
    body = document()["paths"][route.path][route.method.lower()]["requestBody"]
    schema = body["content"]["application/json"]["schema"]
    while "$ref" in schema:
        schema = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return set(schema.get("properties", ()))
