"""Route declarations: access, input, output and cost.

    routes = Routes("/api/v1/agents", tag="agents")

    @routes.get("/{agent_id}", requires="agents:read")
    async def get_agent(ctx: Context, agent: AgentById) -> AgentOut: ...

The handler's signature is inspected once, at import: `ctx` is the context, `body` the decoded JSON body,
`query` the query parameters, `form` an upload, and every other argument a path parameter.
"""

import inspect
import re
from collections.abc import Awaitable, Callable
from enum import Enum
from typing import Annotated, Any, Required, TypedDict, TypeVar, Unpack, get_args, get_origin

import msgspec

from retinue.kit.context import Context
from retinue.kit.db.models import Record
from retinue.kit.errors import NotFound, RateLimited, RetinueError
from retinue.kit.http.error_format import ErrorFormat
from retinue.kit.http.uploads import FileLimit
from retinue.kit.json_types import JsonObject
from retinue.kit.limits import COST

H = TypeVar("H", bound=Callable[..., Awaitable[Any]])
"""A handler: its type stays what it was."""

VERSIONED_METHODS = frozenset({"PUT", "PATCH", "DELETE"})
_PARAMETER = re.compile(r"{(\w+)(?:\.\.\.)?}")
"""`{name...}` at the end of a path takes all further segments."""
ANY_NAME = re.compile(".*", re.DOTALL)
MAX_JSON_BODY_BYTES = 1024 * 1024


class Access(Enum):
    """Access without a permission key."""

    PUBLIC = "public"
    ACCOUNT = "account"
    SIGNED_IN = "signed_in"
    MEMBER = "member"
    EMBED_KEY = "embed_key"


PUBLIC = Access.PUBLIC
# The caller's own profile, second factors and sessions; also open to restricted accounts.
ACCOUNT = Access.ACCOUNT
# The caller's own account; always in the home tenant, even for a super administrator acting in another.
SIGNED_IN = Access.SIGNED_IN
# Information that every user of the tenant may see.
MEMBER = Access.MEMBER
# Only holders of an embed key for one agent, not signed-in users.
EMBED_KEY = Access.EMBED_KEY


METHOD_COST = {"GET": "read", "POST": "write", "PUT": "write", "PATCH": "write", "DELETE": "delete"}


class PathLoader:
    """Loads the object that a path parameter names; an object of another tenant is not found."""

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
        loaded = await self.fetch(ctx, value) if is_plausible_id(value) else None
        if loaded is None:
            raise self.missing
        return loaded


def path_loader(record: type[Record], parameter: str, missing: type[RetinueError]) -> PathLoader:
    async def fetch(ctx: Context, value: str) -> Any:
        return await ctx.db.get(record, value)

    return PathLoader(parameter, fetch, missing)


def is_plausible_id(value: str) -> bool:
    """Return whether a path segment can be the id of a stored object."""
    return 0 < len(value) <= 200 and value.isprintable()


class Upload(msgspec.Struct, frozen=True):
    """The input of a multipart route: files, and optional text fields, of which `lists` may be repeated.

    `admit(ctx, request, **path arguments)` runs before the body is read. It returns the maximum size of a
    file or raises the error for the caller.
    """

    max_file: int
    max_files: int = 1
    fields: tuple[str, ...] = ("file",)
    texts: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    admit: Callable[..., Awaitable[FileLimit]] | None = None

    @property
    def max_total(self) -> int:
        return self.total_bytes(self.max_file)

    def total_bytes(self, max_file: int) -> int:
        return max_file * self.max_files + 256 * 1024


class Route(msgspec.Struct, frozen=True, kw_only=True):
    method: str
    path: str
    handler: Callable[..., Awaitable[Any]]
    requires: str | Access
    takes_embed_key: bool
    takes_service_account: bool
    cost: str
    status: int
    other_status: int | None
    tag: str
    wrap: bool
    body_limit: int
    max_keys: int | None
    body: Any
    body_decoder: Any
    query: Any
    upload: Upload | None
    takes_request: bool
    reads_body: bool
    """True if the handler reads the body itself, such as one of another protocol."""
    query_names: re.Pattern[str] | None
    """The names of query parameters that the handler reads itself, besides those of `query`."""
    parameters: tuple[str, ...]
    loaders: tuple[tuple[str, int, PathLoader | None], ...]
    returns: Any
    errors: tuple[type[RetinueError], ...]
    idempotent: bool
    calls_out: bool
    refuses_form_label: bool
    error_format: ErrorFormat | None
    """The form of errors of a route that speaks another protocol than ours."""
    over_limit: type[RateLimited]
    """The error if the limits of the plan or the address refuse the caller."""
    cached: bool
    """The answer depends on nothing but the tenant's configuration and the caller's permissions."""
    versioned: type[Record] | None
    """The record edited by this route: responses carry its `ETag`, changes accept `If-Match`."""
    is_documented: bool
    """False for assets of our own pages, which are not part of the API."""
    handles_etag_itself: bool
    """True if the handler implements `ETag` and `If-Match` itself, for objects that are not records."""

    @property
    def name(self) -> str:
        return self.handler.__name__

    @property
    def is_foreign(self) -> bool:
        """Return whether the route answers in another protocol, to which nothing may be added."""
        return self.error_format is not None

    @property
    def permission(self) -> str | None:
        return self.requires if isinstance(self.requires, str) else None

    @property
    def takes_tenant_id(self) -> bool:
        """Return whether a super administrator may act in another tenant (`X-Tenant-ID`)."""
        return self.requires is MEMBER or self.permission is not None


def takes_if_match(route: Route) -> bool:
    return (route.versioned is not None or route.handles_etag_itself) and route.method in VERSIONED_METHODS


def takes_if_none_match(route: Route) -> bool:
    return route.cached and route.versioned is None


class RouteOptions(TypedDict, total=False):
    """The declaration of a route. `requires` has no default: a route must say who may call it."""

    requires: Required[str | Access]
    or_embed_key: bool
    """An embed key will do instead of a user; the handler checks that it is the agent's."""
    or_service_account: bool
    """A service account may call a route that needs only a sign-in; the handler checks its permissions."""
    status: int
    other_status: int | None
    """The handler may answer the same shape with this status as well, by a `Reply`."""
    cost: str
    body_limit: int
    max_keys: int | None
    upload: Upload
    wrap: bool
    errors: tuple[type[RetinueError], ...]
    idempotent: bool
    calls_out: bool
    """The handler calls outside services, so nothing is loaded inside a transaction."""
    reads_body: bool
    """The handler reads the body from the request, as another protocol prescribes."""
    query_names: re.Pattern[str]
    """The handler reads query parameters with such names itself."""
    refuses_form_label: bool
    """A body labelled as a form is never read as JSON, not even from `curl`."""
    error_format: ErrorFormat
    """The route speaks another protocol, in which errors have this form."""
    over_limit: type[RateLimited]
    cached: bool
    """The answer is kept while the tenant's configuration stays as it is: it must depend on nothing but that,
    the query and the caller's permissions. One that reads other tables is not kept."""
    versioned: type[Record]
    handles_etag_itself: bool
    is_documented: bool
    """False keeps the route out of the OpenAPI document."""


class Routes:
    """The routes of one module, under a common prefix."""

    def __init__(self, prefix: str = "", *, tag: str, wrap: bool = False) -> None:
        self.prefix = prefix
        self.tag = tag
        self.wrap = wrap
        self.routes: list[Route] = []

    def get(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[H], H]:
        return self._add("GET", path, options)

    def post(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[H], H]:
        return self._add("POST", path, options)

    def put(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[H], H]:
        return self._add("PUT", path, options)

    def patch(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[H], H]:
        return self._add("PATCH", path, options)

    def delete(self, path: str, **options: Unpack[RouteOptions]) -> Callable[[H], H]:
        return self._add("DELETE", path, options)

    def _add(self, method: str, path: str, options: RouteOptions) -> Callable[[H], H]:
        # The type checker sees this too, but a route without a permission must not start either.
        unknown = options.keys() - RouteOptions.__annotations__.keys()
        if "requires" not in options or unknown:
            raise TypeError(f"{method} {path}: say what it requires; unknown options: {sorted(unknown)}")
        requires, cost = options["requires"], options.get("cost")
        or_embed_key, upload = options.get("or_embed_key", False), options.get("upload")
        _check_declaration(
            f"{method} {path}",
            requires,
            cost,
            or_embed_key=or_embed_key,
            is_cached=options.get("cached", False),
        )
        limit = options.get("body_limit") or MAX_JSON_BODY_BYTES

        def declare(handler: H) -> H:
            route = Route(
                method=method,
                path=self.prefix + path,
                handler=handler,
                requires=requires,
                takes_embed_key=or_embed_key or requires is EMBED_KEY,
                takes_service_account=options.get("or_service_account", isinstance(requires, str)),
                cost=cost or METHOD_COST[method],
                status=options.get("status", 200),
                other_status=options.get("other_status"),
                tag=self.tag,
                wrap=options.get("wrap", self.wrap),
                upload=upload,
                body_limit=upload.max_total if upload else limit,
                max_keys=options.get("max_keys", 10_000),
                errors=options.get("errors", ()),
                idempotent=options.get("idempotent", True) and method in {"POST", "PATCH"},
                calls_out=options.get("calls_out", False),
                reads_body=options.get("reads_body", False),
                query_names=options.get("query_names"),
                refuses_form_label=options.get("refuses_form_label", False),
                error_format=options.get("error_format"),
                over_limit=options.get("over_limit", RateLimited),
                cached=options.get("cached", False),
                versioned=options.get("versioned"),
                is_documented=options.get("is_documented", True),
                handles_etag_itself=options.get("handles_etag_itself", False),
                **_signature(handler, self.prefix + path),
            )
            self.routes.append(route)
            return handler

        return declare


def _check_declaration(
    route: str, requires: str | Access, cost: str | None, *, or_embed_key: bool, is_cached: bool
) -> None:
    if not isinstance(requires, Access) and not re.fullmatch(r"[a-z_]+:[a-z_]+", requires):
        raise TypeError(f"{route}: requires must be a permission key or a member of Access")
    if or_embed_key and isinstance(requires, Access):
        raise TypeError(f"{route}: or_embed_key needs a permission in requires; otherwise use EMBED_KEY")
    if is_cached and not route.startswith("GET "):
        raise TypeError(f"{route}: only the answer of a GET can be cached")
    if cost is not None and cost not in COST:
        raise TypeError(f"{route}: cost must be one of {', '.join(COST)}")


def _signature(handler: Any, path: str) -> JsonObject:
    """Return the inputs of a handler, from its annotations."""
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
        loader = next((extra for extra in get_args(annotation)[1:] if isinstance(extra, PathLoader)), None)
        if loader is not None:
            parameter = loader.parameter
    if parameter not in names:
        raise TypeError(f"{handler.__name__}: {name} is not in the path")
    return name, names.index(parameter), loader


async def load_arguments(route: Route, ctx: Context, segments: list[str]) -> JsonObject:
    arguments: JsonObject = {}
    for name, position, loader in route.loaders:
        value = segments[position]
        if loader is not None:
            arguments[name] = await loader.load(ctx, value)
        elif is_plausible_id(value):
            arguments[name] = value
        else:
            raise NotFound
    return arguments
