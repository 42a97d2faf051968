"""Finds the route of a path: fixed paths with one lookup, others segment by segment."""

from collections.abc import Iterable
from urllib.parse import unquote_to_bytes

from retinue.kit.http.routing import Route
from retinue.kit.json_types import JsonObject

_ANY = "*"
_REST = "**"
_HERE = ""


class RouteTree:
    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = tuple(routes)
        self._fixed: dict[str, dict[str, Route]] = {}
        self._tree: JsonObject = {}
        names: set[str] = set()
        for route in self.routes:
            if route.name in names:
                raise TypeError(f"operation id {route.name} is used twice")
            names.add(route.name)
            methods = self._methods_of(route)
            if route.method in methods:
                raise TypeError(f"{route.method} {route.path} is declared twice")
            methods[route.method] = route

    def _methods_of(self, route: Route) -> dict[str, Route]:
        if not route.parameters:
            return self._fixed.setdefault(route.path, {})
        node = self._tree
        for segment in route.path[1:].split("/"):
            key = _REST if segment.endswith("...}") else _ANY if segment.startswith("{") else segment
            node = node.setdefault(key, {})
        return node.setdefault(_HERE, {})  # type: ignore[no-any-return]

    def find(self, path: str, raw_path: bytes) -> tuple[dict[str, Route] | None, list[str]]:
        """Return the routes of a path by method, and the values of its parameters.

        A fixed segment wins over a parameter, a parameter over `{name...}`.
        Segments are split before they are decoded, so that an encoded
        slash stays inside its parameter.
        """
        fixed = self._fixed.get(path)
        if fixed is not None:
            return fixed, []
        if b"%" in raw_path:
            segments = [
                unquote_to_bytes(part).decode("utf-8", "replace") for part in raw_path[1:].split(b"/")
            ]
        else:
            segments = path[1:].split("/")
        if not {_HERE, _ANY, _REST}.isdisjoint(segments):
            return None, []
        return self._walk(segments)

    def _walk(self, segments: list[str]) -> tuple[dict[str, Route] | None, list[str]]:
        untried: list[tuple[JsonObject, int, list[str]]] = [(self._tree, 0, [])]
        rest: tuple[dict[str, Route] | None, list[str]] = (None, [])
        while untried:
            node, position, values = untried.pop()
            for segment in segments[position:]:
                if _REST in node:
                    rest = node[_REST][_HERE], [*values, "/".join(segments[position:])]
                position += 1
                exact, parameter = node.get(segment), node.get(_ANY)
                if exact is not None:
                    if parameter is not None:
                        untried.append((parameter, position, [*values, segment]))
                    node = exact
                elif parameter is not None:
                    node, values = parameter, [*values, segment]
                else:
                    break
            else:
                if _HERE in node:
                    return node[_HERE], values
        return rest
