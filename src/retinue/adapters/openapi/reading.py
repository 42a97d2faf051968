"""A whole description, operation by operation."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from retinue.adapters.openapi.bodies import find_answer, find_body
from retinue.adapters.openapi.description import Api, Auth, Endpoint, InvalidDocument, Method
from retinue.adapters.openapi.inputs import find_output, read_input
from retinue.adapters.openapi.parameters import read_parameters
from retinue.adapters.openapi.security import find_base_url, find_server, suggest_auth
from retinue.adapters.openapi.source import Source, Unusable, text_of

_METHODS: dict[str, Method] = {"get": "GET", "post": "POST", "put": "PUT", "delete": "DELETE"}
_OTHER_METHODS = ("patch", "head", "options", "trace")
_MOST_PATHS = 5000
_MOST_ENDPOINTS = 1000
_MOST_PARAMETERS = 100
_LONGEST_NAME = 64
_WORD_BEGIN = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_WORD = re.compile(r"[^a-z0-9]+")


class _Operation(msgspec.Struct, frozen=True):
    """`item` describes the path, with what all its operations have in common; `details` this one."""

    method: Method
    path: str
    item: dict[str, Any]
    details: dict[str, Any]


def read_api(document: Any) -> Api:
    """The description in `document`, a JSON value; parts that cannot be used are named in `skipped`."""
    source = Source(document, is_swagger=_is_swagger(document))
    info = source.follow(source.document.get("info"))
    base_url = find_base_url(source)
    auth = suggest_auth(source)
    return Api(
        title=text_of(info.get("title"), 100) or "Imported API",
        description=text_of(info.get("description"), 2000),
        version=text_of(info.get("version"), 50),
        base_url=base_url,
        endpoints=list(_endpoints(source, base_url, auth)),
        auth=auth,
        skipped=source.skipped(),
    )


def _is_swagger(document: Any) -> bool:
    if not isinstance(document, dict):
        raise InvalidDocument("must be an object")
    if text_of(document.get("openapi"), 20).startswith("3."):
        return False
    if text_of(document.get("swagger"), 20).startswith("2."):
        return True
    raise InvalidDocument("must say openapi 3.0 or 3.1, or swagger 2.0")


def _endpoints(source: Source, base_url: str | None, auth: Auth) -> Iterator[Endpoint]:
    names = _Names()
    for number, operation in enumerate(_operations(source)):
        if number == _MOST_ENDPOINTS:
            raise InvalidDocument(f"has more than {_MOST_ENDPOINTS} operations")
        try:
            yield _endpoint(source, operation, base_url, auth, names)
        except Unusable as unusable:
            source.skip(f"{operation.method} {operation.path}", unusable.why)


def _operations(source: Source) -> Iterator[_Operation]:
    paths = source.document.get("paths")
    if not isinstance(paths, dict):
        raise InvalidDocument("has no paths")
    if len(paths) > _MOST_PATHS:
        raise InvalidDocument(f"has more than {_MOST_PATHS} paths")
    for path, written in paths.items():
        item = source.follow(written) if isinstance(path, str) else {}
        for name, method in _METHODS.items():
            if isinstance(details := item.get(name), dict):
                yield _Operation(method, path, item, details)
        for name in _OTHER_METHODS:
            if name in item:
                source.skip(f"{name.upper()} {path}", "tools use GET, POST, PUT and DELETE only")


def _endpoint(
    source: Source, operation: _Operation, base_url: str | None, auth: Auth, names: "_Names"
) -> Endpoint:
    source.spend()
    method, path, item, details = operation.method, operation.path, operation.item, operation.details
    if (server := find_server(details) or find_server(item)) and server != base_url:
        raise Unusable("it lives on another server")
    declared = [*_listed(item.get("parameters")), *_listed(details.get("parameters"))]
    parameters = read_parameters(source, path, declared, _carrying(auth))
    body, is_body_required = (None, False) if method == "GET" else find_body(source, details, declared)
    taken = read_input(source, method, parameters, body, is_body_required=is_body_required)
    operation_id = text_of(details.get("operationId"), 200)
    return Endpoint(
        name=names.unused(operation_id or f"{method} {path}"),
        operation_id=operation_id,
        method=method,
        path=path,
        summary=text_of(details.get("summary") or item.get("summary"), 200),
        description=text_of(details.get("description") or item.get("description"), 1000),
        default_params=taken.default_params,
        default_headers=taken.default_headers,
        input_schema=taken.schema,
        is_flat=taken.is_flat,
        output_schema=find_output(source, find_answer(source, details)),
    )


def _listed(value: Any) -> list[Any]:
    return value[:_MOST_PARAMETERS] if isinstance(value, list) else []


def _carrying(auth: Auth) -> frozenset[tuple[str, str]]:
    """The parameter that carries the credentials is no business of the input."""
    if auth.auth_type != "api_key":
        return frozenset()
    return frozenset({(auth.auth_config["api_key_location"], auth.auth_config["api_key_header"].lower())})


class _Names:
    """Names of endpoints: small letters, digits and underscores, each one used once."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._numbers: dict[str, int] = {}

    def unused(self, text: str) -> str:
        words = _NO_WORD.sub("_", _WORD_BEGIN.sub("_", text).lower())
        wanted = words.strip("_")[:_LONGEST_NAME].strip("_") or "operation"
        name = wanted
        while name in self._used:
            number = self._numbers[wanted] = self._numbers.get(wanted, 1) + 1
            name = f"{wanted[: _LONGEST_NAME - len(str(number)) - 1]}_{number}"
        self._used.add(name)
        return name
