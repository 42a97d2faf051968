"""Unknown names in the body, form and query of a request (ADR 42).

A body that is answered with one object gets `warnings` beside it. Everything else, query parameters too, is
named in the header `X-Retinue-Warnings`. A caller who prefers strict handling gets 422 before anything
happens.
"""

import functools
from collections.abc import Iterable, Sequence
from typing import Any, get_args, get_origin
from urllib.parse import quote

import msgspec

from retinue.kit.errors import Invalid
from retinue.kit.http.replies import HttpResponse, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.request_content import RequestContent
from retinue.kit.http.routing import Route
from retinue.kit.http.uploads import FormData
from retinue.kit.ignored_fields import IgnoredFields, ignored_field_warnings
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.unknown_keys import MAX_UNKNOWN_KEYS, declares_path, join_path, json_finder_for

WARNINGS_HEADER = "X-Retinue-Warnings"
# Proxies refuse an answer whose headers are larger than 4 or 8 kB together.
_MAX_HEADER_BYTES = 2_000
PREFERENCE_APPLIED = (b"preference-applied", b"handling=strict")
UNKNOWN_PARAMETER = "is not a known parameter"

WARNED_METHODS = frozenset({"POST", "PUT", "PATCH"})
_CHANGING_METHODS = frozenset({"PUT", "PATCH"})
_EMBED_KEY_PARAMETER = "api_key"
# What only the server sets, whatever the operation: it may be sent back even with an older value.
_KEPT_BY_SERVER = frozenset({"created_at", "created_by", "id", "tenant_id", "updated_at", "version"})
_decode_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def prefers_strict(request: Request) -> bool:
    """Return whether the caller sends `Prefer: handling=strict` (RFC 7240)."""
    if b"prefer" not in request.headers:
        return False
    lines = (value for name, value in request.scope["headers"] if name == b"prefer")
    for preference in b",".join(lines).decode("latin-1").split(","):
        name, _, value = preference.partition(";")[0].partition("=")
        if name.strip().lower() == "handling":
            # The first of several wins.
            return value.strip().strip('"').lower() == "strict"
    return False


def is_strict(request: Request) -> bool:
    return request.principal.is_strict or prefers_strict(request)


def report_unknown_names(
    routes: Iterable[Route], route: Route, content: RequestContent, ignored: IgnoredFields
) -> None:
    """Report the names of a valid body or form that the route does not know; refuse them if it is strict.

    `routes` are those of the instance, among which is the one that reads what this one changes.
    """
    found: Sequence[str]
    if route.upload is not None:
        found = _unknown_form_fields(route, content.form or FormData())
    elif route.body is not None:
        found = json_finder_for(route.body)(content.body)
    elif content.body:
        found = _keys_of(content.body)
    else:
        return
    if not found:
        return
    ignored.of_body = frozenset(found)
    if ignored.is_strict:
        # ADR 42: an object that was read before may be sent back with the fields that only the server sets.
        shown = _shown_to_callers(routes, route)
        read_only = [
            path
            for path in found
            if (path in _KEPT_BY_SERVER or route.method in _CHANGING_METHODS)
            and any(declares_path(type_, path) for type_ in shown)
        ]
        ignored.remember(read_only)
        found = [path for path in found if path not in read_only]
    ignored.report(found)


def find_unknown_parameters(request: Request, route: Route) -> list[str]:
    """Return the query parameters that the route does not know; raise `Invalid` if the caller is strict."""
    known: tuple[str, ...] = () if route.query is None else route.query.__struct_encode_fields__
    own = route.query_names
    unknown = [
        join_path("", name)
        for name in _sent_parameters(request, route)
        if name not in known
        and not (own is not None and own.fullmatch(name))
        and not (name == _EMBED_KEY_PARAMETER and route.takes_embed_key)
    ]
    if unknown and is_strict(request):
        raise Invalid(dict.fromkeys(unknown[:MAX_UNKNOWN_KEYS], UNKNOWN_PARAMETER))
    return unknown


def _sent_parameters(request: Request, route: Route) -> Iterable[str]:
    try:
        return request.query()
    except Invalid:
        if route.query is not None:
            raise
        # A route without parameters has no reason to refuse a value that it never reads.
        return ()


def add_warnings(
    route: Route, content: RequestContent, result: object, response: HttpResponse, ignored: IgnoredFields
) -> Sequence[str]:
    """Add warnings about the body to an answer that is one object; return those that it has no place for."""
    paths = ignored.paths
    answer = result.body if type(result) is Reply else result
    is_one = isinstance(answer, msgspec.Struct) or (route.wrap and isinstance(answer, dict))
    if not is_one or not response.body or route.method not in WARNED_METHODS or route.is_foreign:
        return paths
    shown = _decode_object(response.body)
    paths = [
        path
        for path in paths
        if path not in ignored.of_body or not _is_sent_back(path, content, shown, route)
    ]
    if paths:
        warnings = msgspec.json.decode(shown["warnings"], type=list[str]) if "warnings" in shown else []
        added = [warning for warning in ignored_field_warnings(paths) if warning not in warnings]
        if added:
            shown["warnings"] = msgspec.Raw(msgspec.json.encode([*warnings, *added]))
            response.body = msgspec.json.encode(shown)
    return ()


def add_warnings_header(response: HttpResponse, paths: Iterable[str]) -> None:
    """Name what was ignored in a header: percent-encoded, separated by commas."""
    warnings = ignored_field_warnings(paths)[:MAX_UNKNOWN_KEYS]
    if warnings:
        text, *others = (quote(warning, safe=":.[]") for warning in warnings)
        for other in others:
            if len(text) + len(other) > _MAX_HEADER_BYTES:
                break
            text += f", {other}"
        response.headers.append((WARNINGS_HEADER.lower().encode(), text.encode()))


def _is_sent_back(path: str, content: RequestContent, shown: dict[str, msgspec.Raw], route: Route) -> bool:
    """Return whether the name was sent as the answer shows it, as in an object that was read before."""
    answer = _decode_object(shown["data"]) if route.wrap else shown
    first, *inner = path.split(".")
    if first not in answer or route.body is None:
        return False
    if path in _KEPT_BY_SERVER:
        return True
    sent: JsonObject = msgspec.json.decode(content.body)
    is_shown, value = _value_at(msgspec.json.decode(answer[first]), inner)
    return is_shown and (True, value) == _value_at(sent, [first, *inner])


def _value_at(value: Any, path: list[str]) -> tuple[bool, Any]:
    """Return whether there is a value at a path, and the value."""
    for name in path:
        if isinstance(value, dict) and name in value:
            value = value[name]
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return False, None
    return True, value


def _unknown_form_fields(route: Route, form: FormData) -> list[str]:
    assert route.upload is not None
    known = frozenset((*route.upload.fields, *route.upload.texts, *route.upload.lists))
    sent = dict.fromkeys((*form.fields, *form.lists, *(file.field for file in form.files)))
    return [join_path("", name) for name in sent if name not in known][:MAX_UNKNOWN_KEYS]


def _keys_of(body: bytes) -> list[str]:
    """Return the keys of a body that the operation does not take; none if it is not a JSON object."""
    try:
        return [join_path("", name) for name in _decode_object(body)][:MAX_UNKNOWN_KEYS]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return []


def _shown_to_callers(routes: Iterable[Route], route: Route) -> list[type[msgspec.Struct]]:
    """Return the types in which callers see the object: the answer, and that of reading the same path."""
    reading = (one.returns for one in routes if one.method == "GET" and one.path == route.path)
    return [shown for returns in (route.returns, *reading) for shown in _shown_types(returns)]


@functools.cache
def _shown_types(returns: Any) -> tuple[type[msgspec.Struct], ...]:
    """Return the types of the objects that a handler returns."""
    if isinstance(returns, type) and issubclass(returns, msgspec.Struct) and get_origin(returns) is None:
        return (returns,)
    return tuple(shown for inner in get_args(returns) for shown in _shown_types(inner))
