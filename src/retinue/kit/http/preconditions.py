"""`If-Match`: changes only the version that the caller has seen.

The check runs when the service locks the record, so that of two changes with the same tag one is refused.
"""

import re
from typing import Any

from retinue.kit.context import Context
from retinue.kit.db.entity_tags import ExpectedVersion, entity_tag
from retinue.kit.http.replies import HttpResponse, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import Route, takes_if_match
from retinue.kit.json_types import JsonObject

_TAG = re.compile(r'(?:W/)?"[^"]*"|[^,\s]+')


def expected_tags(request: Request) -> frozenset[str] | None:
    """Return the tags in `If-Match`; None if it is absent or accepts any version."""
    header = request.header(b"if-match").strip()
    tags = _TAG.findall(header)
    return None if not header or "*" in tags else frozenset(tags)


def expect_version(ctx: Context, request: Request, route: Route, arguments: JsonObject) -> None:
    """Register the version that the caller has seen, to be checked when the record is locked."""
    record = _loaded(route, arguments)
    tags = expected_tags(request) if takes_if_match(route) else None
    if record is not None and tags is not None:
        ctx.unit_of_work.expect(ExpectedVersion(type(record), record.id, tags))


async def tag_answer(
    ctx: Context, route: Route, arguments: JsonObject, result: object, answer: HttpResponse
) -> None:
    """Add the `ETag` of the returned record to the response."""
    assert route.versioned is not None
    if route.method == "GET":
        record = _loaded(route, arguments)
    else:
        await ctx.db.check_expected_versions()
        body = result.body if type(result) is Reply else result
        id = getattr(body, "id", None)
        record = await ctx.db.get(route.versioned, id) if isinstance(id, str) else None
    if record is not None:
        answer.headers.append((b"etag", entity_tag(record).encode()))


def _loaded(route: Route, arguments: JsonObject) -> Any:
    return next((value for value in arguments.values() if type(value) is route.versioned), None)
