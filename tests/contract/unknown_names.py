"""A name that no operation knows, sent at every place of a request that has declared fields."""

from typing import Any
from urllib.parse import unquote

from retinue.kit.http.routing import Route
from tests.client import Response
from tests.contract.declared import document

UNKNOWN = "zz_unknown"
STRICT = {"Prefer": "handling=strict"}
WARNING = f"ignored_field:{UNKNOWN}"


def warnings_of(answer: Response) -> list[str]:
    """Return the warnings of an answer, wherever they are."""
    header = answer.headers.get("x-retinue-warnings", "")
    in_header = [unquote(warning) for warning in header.split(", ") if warning]
    is_json = answer.headers.get("content-type") == "application/json"
    body = answer.json() if is_json else {}
    return [*in_header, *(body.get("warnings") or [] if isinstance(body, dict) else [])]


def with_unknown(route: Route, body: Any) -> tuple[Any, list[str]]:
    """Return the body with the unknown name in each declared object, and the places where it is."""
    if not isinstance(route.body, type):
        return body, []
    content = document()["paths"][route.path][route.method.lower()]["requestBody"]["content"]
    paths: list[str] = []
    return _plant(body, content["application/json"]["schema"], "", paths), paths


def _plant(value: Any, schema: Any, path: str, paths: list[str]) -> Any:
    schemas = [_resolve(arm) for arm in _resolve(schema).get("anyOf", [schema])]
    if isinstance(value, list):
        items = next((arm["items"] for arm in schemas if arm.get("items")), {})
        return [_plant(item, items, _below(path, str(at)), paths) for at, item in enumerate(value)]
    return _plant_in_object(value, schemas, path, paths) if isinstance(value, dict) else value


def _plant_in_object(value: dict[str, Any], schemas: list[Any], path: str, paths: list[str]) -> Any:
    # A free object that is described for readers, such as a node of a workflow, has no name of its own.
    declared = next((arm for arm in schemas if arm.get("properties") and arm.get("title")), None)
    if declared is None:
        inner = next((arm["additionalProperties"] for arm in schemas if "additionalProperties" in arm), None)
        if not isinstance(inner, dict) or not inner:
            return value
        return {name: _plant(one, inner, _below(path, name), paths) for name, one in value.items()}
    if declared.get("additionalProperties") is False:
        # Refused in any case, which other tests show.
        return value
    paths.append(_below(path, UNKNOWN))
    known = declared["properties"]
    inside = {
        name: _plant(one, known.get(name, {}), _below(path, name), paths) for name, one in value.items()
    }
    return {**inside, UNKNOWN: 1}


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _resolve(schema: Any) -> Any:
    while "$ref" in schema:
        schema = document()["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema
