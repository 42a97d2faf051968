"""The ASGI application: the pipeline from a request to its response, in a fixed order.

Authentication, rate limit, permission, body, transaction, loading, validation, handler, commit, and only then
the first byte. Every response, including errors and streams, carries ids, limits and security headers.
"""

import asyncio
import ipaddress
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import structlog

from retinue.kit.context import Caller, Context
from retinue.kit.context.instance import Instance
from retinue.kit.context.manifest import Authenticator
from retinue.kit.db.errors import StorageFull
from retinue.kit.errors import (
    Forbidden,
    MethodNotAllowed,
    NotFound,
    RateLimited,
    RetinueError,
    ServerShutdown,
    Unauthorized,
)
from retinue.kit.http import byte_streams, idempotency, replies, request_content, sse, unknown_names
from retinue.kit.http.answer_cache import AnswerCache
from retinue.kit.http.bodies import ClientGone
from retinue.kit.http.cors import Cors
from retinue.kit.http.embed_keys import find_embed_key
from retinue.kit.http.handler_call import call_handler
from retinue.kit.http.own_hosts import MisdirectedRequest, OwnHosts
from retinue.kit.http.request import Request, limit_address
from retinue.kit.http.request_metrics import CLIENT_GONE, count_rate_limited, count_response, observe
from retinue.kit.http.route_tree import RouteTree
from retinue.kit.http.routing import ACCOUNT, EMBED_KEY, METHOD_COST, PUBLIC, Route, Upload, load_arguments
from retinue.kit.http.site import not_found_page, wants_page
from retinue.kit.http.uploads import FileLimit
from retinue.kit.ignored_fields import IgnoredFields
from retinue.kit.limits import COST, PlanLimits, limits_for
from retinue.kit.logging import current_request
from retinue.kit.metrics import declarations as metrics
from retinue.kit.principal import Principal
from retinue.kit.transaction_retry import retry_on_rollback

log = structlog.get_logger("retinue.http")

Send = Callable[[Any], Awaitable[None]]

_JSON_HEADERS = [replies.JSON, replies.NO_STORE]


class App:
    heartbeat_s: float = 15
    session_check_s: float = 4
    """Seconds between checks whether the caller of an open stream is still authorized."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.tree = RouteTree(instance.registry.routes)
        registered = instance.registry.all(Authenticator)
        identify = {each.kind: each.identify for each in registered}
        if len(identify) < len(registered):
            raise TypeError("two authenticators are registered for the same kind of principal")
        self._authenticate = identify["user"]
        self._authenticate_key = identify.get("embed_key")
        if self._authenticate_key is None and any(route.takes_embed_key for route in self.tree.routes):
            raise TypeError("a route accepts embed keys, but no authenticator for them is registered")
        self._cors = Cors(instance.settings)
        self._own_hosts = OwnHosts.of(instance.settings)
        self._answers = AnswerCache(instance.clock)
        self._spool_dir = instance.settings.data_dir / "tmp"
        self._is_measured = instance.metrics is not None
        self._has_access_log = instance.settings.access_log
        self._default_limits = limits_for(instance.settings.default_plan)
        self._trusted = tuple(
            ipaddress.ip_network(entry, strict=False) for entry in instance.settings.trusted_proxies
        )
        self._security = replies.security_headers(is_https=instance.settings.base_url.startswith("https:"))

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"unexpected {scope['type']} scope")
        request = Request(scope, receive, self._trusted)
        request.arrived_at = self.instance.clock.time()
        current_request.set(request)
        if self._is_measured or self._has_access_log:
            await observe(request, send, self._answer, has_access_log=self._has_access_log)
        else:
            await self._answer(request, send)

    async def _answer(self, request: Request, send: Send) -> None:
        try:
            response = await self._respond(request)
        except ClientGone:
            if self._is_measured:
                count_response(request, CLIENT_GONE)
            return
        except RetinueError as error:
            if self._is_measured and isinstance(error, RateLimited):
                count_rate_limited(error)
            if type(error) is NotFound and wants_page(request):
                response = not_found_page(request, self.instance.settings)
            else:
                response = _refused(request, error)
            if error.status >= 500:
                if isinstance(error, StorageFull):
                    self.instance.storage.note_refusal()
                log.warning("request_refused", code=error.code, error=repr(error.__cause__ or error))
        except Exception:
            log.exception("request_failed", method=request.method, route=request.route and request.route.path)
            response = _refused(request, RetinueError())
        await self._send(request, response, send)

    async def _respond(self, request: Request) -> replies.HttpResponse:
        if self._own_hosts is not None and request.headers.get(b"host") not in self._own_hosts:
            await self._charge_address(request, "free")
            raise MisdirectedRequest
        methods, segments = self.tree.find(request.path, request.scope["raw_path"])
        method = request.method
        if method == "OPTIONS":
            return await self._preflight(request, methods)
        route = methods.get("GET" if method == "HEAD" else method) if methods else None
        request.route = route
        if route is None:
            await self._charge_address(request, METHOD_COST.get(method, "read"))
            if methods is None:
                raise NotFound
            raise MethodNotAllowed(headers={"Allow": ", ".join(sorted(methods))})
        if route.cost == "chat" and self.instance.is_stopping:
            # Another process may answer it; a turn that began here would be cut off.
            raise ServerShutdown
        await self._identify(request, route)
        _require_access(route, request.principal)
        if route.cached:
            answer = self._answers.find(request)
            if answer is not None:
                return answer
        return await self._handle(request, route, segments)

    async def _preflight(self, request: Request, methods: dict[str, Route] | None) -> replies.HttpResponse:
        await self._charge_address(request, "free")
        if methods is None:
            raise NotFound
        supported = {*methods, "OPTIONS", *(("HEAD",) if "GET" in methods else ())}
        allow = (b"allow", ", ".join(sorted(supported)).encode())
        return replies.HttpResponse(204, [allow, *self._cors.preflight(request, methods.values())])

    async def _identify(self, request: Request, route: Route) -> None:
        """Authenticate the caller and charge the rate limit; a bad token is charged to its address."""
        if route.requires is PUBLIC:
            await self._charge_address(request, route.cost)
            return
        authenticate = self._authenticate_either if route.takes_embed_key else self._authenticate
        try:
            request.principal = await authenticate(self.instance, request)
        except Exception:
            # An operation that is free for users, such as signing out, must not be free for guessing tokens.
            await self._charge_address(request, route.cost if COST[route.cost] else METHOD_COST[route.method])
            raise
        principal = request.principal
        if principal.restriction is not None:
            # A restricted account must not use up the tenant's plan.
            await self._charge_address(request, route.cost)
            return
        if principal.requests_per_minute is not None:
            await self._charge_key(request, principal)
        key = principal.home_tenant_id or principal.tenant_id
        await self._charge(request, key, principal.limits or self._default_limits, route.cost)

    async def _authenticate_either(self, instance: Instance, request: Request) -> Principal:
        """Authenticate an embed key or, unless the route accepts only keys, a user."""
        request.embed_key = find_embed_key(request)
        if request.embed_key is not None:
            assert self._authenticate_key is not None
            return await self._authenticate_key(instance, request)
        if request.route.requires is not EMBED_KEY:
            return await self._authenticate(instance, request)
        if b"authorization" in request.headers:
            raise Unauthorized("invalid_api_key", "An embed key is required; it begins with `emb_`.")
        raise Unauthorized("missing_token", "Send an embed key as `Authorization: Bearer emb_…`.")

    async def _charge_key(self, request: Request, principal: Principal) -> None:
        """Check the caller's own limit before the tenant is charged, so that a refusal costs nothing."""
        limiter, name, limit = self.instance.limiter, f"key:{principal.id}", principal.requests_per_minute
        decision = await limiter.hit_window(name, limit, 60)
        if not decision.allowed:
            request.limit_headers = decision.headers()
            raise decision.refusal(request.route.over_limit, counted_for=name)

    async def _charge_address(self, request: Request, cost: str) -> None:
        await self._charge(request, "ip:" + limit_address(request.ip_address), self._default_limits, cost)

    async def _charge(self, request: Request, key: str, limits: PlanLimits, cost: str) -> None:
        decision = await self.instance.limiter.hit(key, limits, COST[cost])
        request.limit_headers = decision.headers()
        if not decision.allowed:
            kind = RateLimited if request.route is None else request.route.over_limit
            raise decision.refusal(kind, counted_for=key)

    async def _handle(self, request: Request, route: Route, segments: list[str]) -> replies.HttpResponse:
        """Run the handler; the body is read first, so that no transaction waits for a slow client."""
        caller = Caller(
            correlation_id=request.correlation_id,
            ip_address=request.ip_address,
            user_agent=request.header(b"user-agent")[:512],
            trace=request.find_trace() if self.instance.tracing.is_on else None,
            ignored=None
            if route.method == "GET"
            else IgnoredFields(is_strict=unknown_names.is_strict(request)),
        )
        if route.upload is not None:
            content = await self._receive_form(request, route.upload, caller, segments)
        else:
            content = await request_content.receive_body(request, route)
        reads_outside_transaction = route.method == "GET" or route.calls_out
        began = self.instance.clock.monotonic()

        async def attempt() -> replies.HttpResponse:
            ctx = Context(
                self.instance, request.principal, caller, reads_outside_transaction=reads_outside_transaction
            )
            try:
                if route.idempotent and b"idempotency-key" in request.headers:
                    return await idempotency.run_idempotent(
                        ctx, request, content, lambda: call_handler(ctx, request, route, segments, content)
                    )
                response = await call_handler(ctx, request, route, segments, content)
                if route.cached:
                    self._answers.keep(request, ctx, response, began)
                await ctx.commit()
            except BaseException:
                await ctx.rollback()
                raise
            else:
                return response

        # A handler may move an uploaded file away, so a request with files cannot be retried.
        request.has_effects = content.form is not None
        try:
            return await retry_on_rollback(attempt, has_effects=lambda: request.has_effects)
        finally:
            content.discard()

    async def _receive_form(
        self, request: Request, upload: Upload, caller: Caller, segments: list[str]
    ) -> request_content.RequestContent:
        """Receive an upload; its target is loaded first, so that a refused upload is not read."""
        limit = FileLimit(upload.max_file)
        route = request.route
        async with Context(self.instance, request.principal, caller, reads_outside_transaction=True) as ctx:
            arguments = await load_arguments(route, ctx, segments) if route.loaders else {}
            if upload.admit is not None:
                limit = await upload.admit(ctx, request, **arguments)
        return await request_content.receive_form(request, upload, limit, self._spool_dir)

    async def _send(self, request: Request, response: replies.HttpResponse, send: Send) -> None:
        headers = self._headers(request, response)
        if self._is_measured:
            request.responded_at = time.perf_counter()
        wants_body = request.method != "HEAD"
        if response.events is not None and wants_body:
            await self._stream(request, response, response.events, headers, send)
            return
        if response.made is not None and wants_body:
            await self._stream_bytes(request, response, response.made, headers, send)
            return
        if self._is_measured:
            count_response(request, response.status)
        if not response.streams and response.status not in {204, 304}:
            headers.append((b"content-length", b"%d" % len(response.body)))
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        if response.chunks is not None and wants_body:
            async for chunk in response.chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": response.body if wants_body else b""})

    async def _stream(
        self,
        request: Request,
        response: replies.HttpResponse,
        events: AsyncIterator[Any],
        headers: list[tuple[bytes, bytes]],
        send: Send,
    ) -> None:
        """Send an event stream; a failure before the first event becomes a regular error response."""
        metrics.STREAMS_OPEN.add(1)
        try:
            await sse.stream(
                send,
                request.receive,
                events,
                headers=headers,
                heartbeat_s=self.heartbeat_s,
                still_allowed=self._still_allowed(request),
                check_every_s=self.session_check_s,
                shutting_down=self._end_of_streams(response),
                show_error=response.show_error,
            )
        except RetinueError as error:
            await self._send(request, _refused(request, error), send)
        except Exception:
            log.exception("stream_not_started", route=request.route.path)
            await self._send(request, _refused(request, RetinueError()), send)
        else:
            if self._is_measured:
                count_response(request, 200)
        finally:
            metrics.STREAMS_OPEN.add(-1)

    def _end_of_streams(self, response: replies.HttpResponse) -> asyncio.Event:
        return self.instance.draining if response.is_endless else self.instance.shutting_down

    async def _stream_bytes(
        self,
        request: Request,
        response: replies.HttpResponse,
        made: AsyncIterator[bytes],
        headers: list[tuple[bytes, bytes]],
        send: Send,
    ) -> None:
        """Send a byte stream; a failure before the first byte becomes a regular error response."""
        try:
            await byte_streams.stream(send, request.receive, made, status=response.status, headers=headers)
        except RetinueError as error:
            await self._send(request, _refused(request, error), send)
        except Exception:
            log.exception("body_not_started", route=request.route.path)
            await self._send(request, _refused(request, RetinueError()), send)
        else:
            if self._is_measured:
                count_response(request, response.status)

    def _headers(self, request: Request, response: replies.HttpResponse) -> list[tuple[bytes, bytes]]:
        given = {name for name, _ in response.headers} if response.headers != _JSON_HEADERS else ()
        headers = (
            [header for header in self._security if header[0] not in given] if given else [*self._security]
        )
        headers += response.headers
        headers.append((b"x-request-id", request.request_id.encode()))
        headers.append((b"x-correlation-id", request.correlation_id.encode()))
        if request.trace is not None and request.trace.has_begun:
            headers.append((b"traceresponse", request.trace.response_header()))
        # A refusal by another limit has its own four headers.
        if b"x-ratelimit-limit" not in given:
            headers += request.limit_headers
        origin = request.headers.get(b"origin")
        if origin is not None and request.method != "OPTIONS" and b"access-control-allow-origin" not in given:
            headers += self._cors.headers(request, origin)
        if b"prefer" in request.headers and unknown_names.prefers_strict(request):
            headers.append(unknown_names.PREFERENCE_APPLIED)
        if request.path.startswith(("/api/v1/", "/v1/")):
            headers.append((b"x-api-version", b"1"))
        return headers

    def _still_allowed(self, request: Request) -> Callable[[], Awaitable[bool]] | None:
        if request.route.requires is PUBLIC:
            return None

        authenticate = self._authenticate_either if request.route.takes_embed_key else self._authenticate

        async def check() -> bool:
            try:
                principal = await authenticate(self.instance, request)
            except RetinueError as error:
                # An unavailable database proves nothing about the session; the next check will.
                return error.status >= 500
            try:
                _require_access(request.route, principal)
            except Forbidden:
                return False
            return True

        return check


def _refused(request: Request, error: RetinueError) -> replies.HttpResponse:
    """Return the error in the protocol of the route."""
    return replies.render_error(error, request.route.error_format if request.route is not None else None)


def _require_access(route: Route, principal: Principal) -> None:
    """Raise `Forbidden` if the principal may not call the route; the only check of roles and restrictions."""
    if principal.restriction is not None and route.requires not in {PUBLIC, ACCOUNT}:
        principal.require_admitted()
    if not route.takes_service_account:
        principal.require_person()
    # An embed key has no role: a route that accepts keys permits them.
    if route.permission is not None and principal.kind != "embed_key":
        principal.require(route.permission)
