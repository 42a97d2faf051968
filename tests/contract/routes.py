"""The route table, and how to call any route of it."""

import re
from collections.abc import Sequence
from typing import Any

import pytest

from retinue.domains import DOMAINS
from retinue.kit.http.routing import EMBED_KEY, PUBLIC, Route

ROUTES: list[Route] = [
    route
    for manifest in DOMAINS
    for group in manifest.routes
    for route in group.routes
    if route.is_documented
]

NOT_PUBLIC = [route for route in ROUTES if route.requires is not PUBLIC]
NEEDS_TOKEN = [route for route in NOT_PUBLIC if route.requires is not EMBED_KEY]
NEEDS_PERMISSION = [route for route in ROUTES if route.permission is not None]
WITH_PARAMETERS = [route for route in ROUTES if route.parameters]

ABSENT = "zzz_aaaaaaaaaaaaaaaaaaaaaaaaaa"


def label(route: Route) -> str:
    return f"{route.method} {route.path}"


def groups(routes: Sequence[Route], size: int = 40) -> Any:
    """For tests that change nothing: one service for many routes. The name says which one fails anyway."""
    some = [routes[start : start + size] for start in range(0, len(routes), size)]
    return pytest.mark.parametrize("routes", some, ids=[f"{label(one[0])} and on" for one in some])


def fill(path: str, values: dict[str, str] | None = None) -> str:
    """The path with its parameters filled in; what is not given is an id that nobody has."""
    given = values or {}
    return re.sub(r"{(\w+)}", lambda found: given.get(found[1], ABSENT), path)


async def call(api: Any, route: Route, values: dict[str, str] | None = None, **more: Any) -> Any:
    """Call a route with an empty body of the kind it takes."""
    if route.upload is not None:
        more.setdefault("files", {})
    elif route.body is not None:
        more.setdefault("json", {})
    return await api.request(route.method, fill(route.path, values), **more)
