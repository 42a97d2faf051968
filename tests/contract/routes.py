"""The route table, and how to call any route of it."""

import re
from typing import Any

from retinue.domains import DOMAINS
from retinue.kit.http.routing import PUBLIC, Route

ROUTES: list[Route] = [route for manifest in DOMAINS for group in manifest.routes for route in group.routes]

NEEDS_TOKEN = [route for route in ROUTES if route.requires is not PUBLIC]
NEEDS_PERMISSION = [route for route in ROUTES if route.permission is not None]
WITH_PARAMETERS = [route for route in ROUTES if route.parameters]

ABSENT = "zzz_aaaaaaaaaaaaaaaaaaaaaaaaaa"


def label(route: Route) -> str:
    return f"{route.method} {route.path}"


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
