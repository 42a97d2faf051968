"""Routes are declarations: who may call, what it takes, what it answers, what it costs.

    routes = Routes("/api/v1/agents", tag="agents")

    @routes.get("/{agent_id}", requires="agents:read")
    async def get_agent(ctx: Context, agent: AgentById) -> AgentOut: ...

The handler's signature is read once, when the module is imported: `ctx` is the context, `body` the decoded
JSON body, `query` the query parameters, `form` an upload, and every other argument a path parameter.
"""

import inspect
import re
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Annotated, Any, get_args, get_origin

import msgspec

from retinue.kit.context import Context
from retinue.kit.db.models import Record
from retinue.kit.errors import NotFound, RetinueError
from retinue.kit.limits import COST

_PARAMETER = re.compile(r"{(\w+)}")
JSON_LIMIT = 1024 * 1024


class Access(Enum):
    """Access without a permission key."""

    PUBLIC = "public"
    SIGNED_IN = "signed_in"
    MEMBER = "member"
    EMBED_KEY = "embed_key"


PUBLIC = Access.PUBLIC
# One's own account: a super administrator who acts in another tenant is still at home here.
SIGNED_IN = Access.SIGNED_IN
# What every user of a tenant may know of it.
MEMBER = Access.MEMBER
# Pages and programs that hold a key for one agent, and nobody who is signed in.
EMBED_KEY = Access.EMBED_KEY


METHOD_COST = {"GET": "read", "POST": "write", "PUT": "write", "PATCH": "write", "DELETE": "delete"}


class Loaded:
    """A path parameter that arrives as the thing it names; another tenant's is simply not found."""

    def __init__(
        self,
        parameter: str,
        fetch: Callable[[Context, str], Awaitable[Any]],
        missing: type[RetinueError],
    ) -> None:
        self.parameter = parameter
        self.fetch = fetch
        self.missing = missing

    async def load(self, ctx: Context, value: str) -> Any:
        found = await self.fetch(ctx, value) if is_plausible(value) else None
        if found is None:
            raise self.missing
        return found


def loaded(record: type[Record], parameter: str, missing: type[RetinueError]) -> Loaded:
    async def fetch(ctx: Context, value: str) -> Any:
        return await ctx.db.get(record, value)

    return Loaded(parameter, fetch, missing)


def is_plausible(value: str) -> bool:
    """Whether a path segment can name anything we store."""
    return 0 < len(value) <= 200 and value.isprintable()


class Upload(msgspec.Struct, frozen=True):
    """What a multipart route takes: files, and `texts` that may come beside them."""

    max_file: int
    max_files: int = 1
    fields: tuple[str, ...] = ("file",)
    texts: tuple[str, ...] = ()

    @property
    def max_total(self) -> int:
        return self.max_file * self.max_files + 256 * 1024


class Route(msgspec.Struct, frozen=True, kw_only=True):
    method: str
    path: str
    handler: Callable[..., Awaitable[Any]]
    requires: str | Access
    takes_embed_key: bool
    cost: str
    status: int
    other_status: int | None
    tag: str
    wrap: bool
    body_limit: int
    max_keys: int
    body: Any
    body_decoder: Any
    query: Any
    upload: Upload | None
    takes_request: bool
    parameters: tuple[str, ...]
    loaders: tuple[tuple[str, int, Loaded | None], ...]
    returns: Any
    errors: tuple[type[RetinueError], ...]
    idempotent: bool
    calls_out: bool

    @property
    def name(self) -> str:
        return self.handler.__name__

    @property
    def permission(self) -> str | None:
        return self.requires if isinstance(self.requires, str) else None


class Routes:
    """The routes of one file, below one prefix."""

    def __init__(self, prefix: str = "", *, tag: str, wrap: bool = False) -> None:
        self.prefix = prefix
        self.tag = tag
        self.wrap = wrap
        self.routes: list[Route] = []

    def get(self, path: str, **declared: Any) -> Callable[[Any], Any]:
        return self._add("GET", path, **declared)

    def post(self, path: str, **declared: Any) -> Callable[[Any], Any]:
        return self._add("POST", path, **declared)

    def put(self, path: str, **declared: Any) -> Callable[[Any], Any]:
        return self._add("PUT", path, **declared)

    def patch(self, path: str, **declared: Any) -> Callable[[Any], Any]:
        return self._add("PATCH", path, **declared)

    def delete(self, path: str, **declared: Any) -> Callable[[Any], Any]:
        return self._add("DELETE", path, **declared)

    def _add(
        self,
        method: str,
        path: str,
        *,
        requires: str | Access,
        or_embed_key: bool = False,
        status: int = 200,
        other_status: int | None = None,
        cost: str | None = None,
        body_limit: int | None = None,
        max_keys: int = 10_000,
        upload: Upload | None = None,
        wrap: bool | None = None,
        errors: tuple[type[RetinueError], ...] = (),
        idempotent: bool = True,
        calls_out: bool = False,
    ) -> Callable[[Any], Any]:
        """`requires` has no default: a route that does not say who may call it is not a route.

        `or_embed_key`: an embed key will do instead of a user; the handler sees to it that it is the agent's.
        `other_status`: the handler may answer the same shape with this status as well (by a `Reply`).
        `calls_out`: the handler talks to the outside world, so nothing is loaded inside a transaction.
        """
        if not isinstance(requires, Access) and not re.fullmatch(r"[a-z_]+:[a-z_]+", requires):
            raise TypeError(f"{method} {path}: requires is a permission key or one of Access")
        if or_embed_key and isinstance(requires, Access):
            raise TypeError(f"{method} {path}: or_embed_key stands beside a permission, or say EMBED_KEY")
        if cost is not None and cost not in COST:
            raise TypeError(f"{method} {path}: cost is one of {', '.join(COST)}")

        def declare(handler: Any) -> Any:
            self.routes.append(
                Route(
                    method=method,
                    path=self.prefix + path,
                    handler=handler,
                    requires=requires,
                    takes_embed_key=or_embed_key or requires is EMBED_KEY,
                    cost=cost or METHOD_COST[method],
                    status=status,
                    other_status=other_status,
                    tag=self.tag,
                    wrap=self.wrap if wrap is None else wrap,
                    upload=upload,
                    body_limit=upload.max_total if upload else (body_limit or JSON_LIMIT),
                    max_keys=max_keys,
                    errors=errors,
                    idempotent=idempotent and method in {"POST", "PATCH"},
                    calls_out=calls_out,
                    **_signature(handler, self.prefix + path),
                )
            )
            return handler

        return declare


def _signature(handler: Any, path: str) -> dict[str, Any]:
    """What a handler takes, from its annotations."""
    signature = inspect.signature(handler, eval_str=True)
    names = _PARAMETER.findall(path)
    body: Any = None
    query: Any = None
    loaders = []
    for name, argument in signature.parameters.items():
        annotation = argument.annotation
        if name == "body":
            body = annotation
        elif name == "query":
            query = annotation
        elif name not in {"ctx", "form", "request"}:
            loaders.append(_path_argument(handler, name, annotation, names))
    return {
        "body": body,
        "body_decoder": msgspec.json.Decoder(body).decode if body is not None else None,
        "query": query,
        "takes_request": "request" in signature.parameters,
        "parameters": tuple(names),
        "loaders": tuple(loaders),
        "returns": signature.return_annotation,
    }


def _path_argument(handler: Any, name: str, annotation: Any, names: list[str]) -> tuple[str, int, Any]:
    loader = None
    parameter = name
    if get_origin(annotation) is Annotated:
        loader = next((extra for extra in get_args(annotation)[1:] if isinstance(extra, Loaded)), None)
        if loader is not None:
            parameter = loader.parameter
    if parameter not in names:
        raise TypeError(f"{handler.__name__}: {name} is not in the path")
    return name, names.index(parameter), loader


async def load_arguments(route: Route, ctx: Context, segments: list[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for name, position, loader in route.loaders:
        value = segments[position]
        if loader is not None:
            arguments[name] = await loader.load(ctx, value)
        elif is_plausible(value):
            arguments[name] = value
        else:
            raise NotFound
    return arguments
