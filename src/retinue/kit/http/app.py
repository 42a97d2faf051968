"""The ASGI application: one function from a request to its answer, in the order the contract promises.

Identity, cost, permission, body, transaction, loading, validation, handler, commit, and only then the first
byte. Every answer, refusals and streams included, carries the ids, the limits and the security headers.
"""

import ipaddress
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import structlog

from retinue.kit.context import Caller, Context
from retinue.kit.errors import MethodNotAllowed, NotFound, RetinueError, Unauthorized
from retinue.kit.http import byte_streams, idempotency, incoming, replies, sse
from retinue.kit.http.bodies import ClientGone
from retinue.kit.http.carriers import embed_key_of
from retinue.kit.http.cors import Cors
from retinue.kit.http.request import Request, limit_address
from retinue.kit.http.routing import EMBED_KEY, METHOD_COST, PUBLIC, Route, load_arguments
from retinue.kit.http.tree import RouteTree
from retinue.kit.instance import Instance
from retinue.kit.limits import COST, Decision, PlanLimits, limits_for
from retinue.kit.logging import current_request
from retinue.kit.principal import Principal

log = structlog.get_logger("retinue.http")

Send = Callable[[Any], Awaitable[None]]

_PLAIN = [replies.JSON, replies.NO_STORE]


class App:
    heartbeat_s: float = 15
    session_check_s: float = 4
    """How often an open stream asks whether its caller may still listen."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self.tree = RouteTree(
            route for manifest in instance.manifests for group in manifest.routes for route in group.routes
        )
        registered = [each for manifest in instance.manifests for each in manifest.authenticators]
        identify = {each.kind: each.identify for each in registered}
        if len(identify) < len(registered):
            raise TypeError("two domains want to tell who is asking")
        self._authenticate = identify["user"]
        self._authenticate_key = identify.get("embed_key")
        if self._authenticate_key is None and any(route.takes_embed_key for route in self.tree.routes):
            raise TypeError("a route takes embed keys, and nobody can tell whose they are")
        self._cors = Cors(instance.settings)
        self._spool_dir = instance.settings.data_dir / "tmp"
        self._metrics = instance.metrics
        self._default_limits = limits_for(instance.settings.default_plan)
        self._trusted = tuple(
            ipaddress.ip_network(entry, strict=False) for entry in instance.settings.trusted_proxies
        )
        self._security = _security_headers(is_https=instance.settings.base_url.startswith("https:"))

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        if scope["type"] != "http":
            raise RuntimeError(f"unexpected {scope['type']} scope")
        request = Request(scope, receive, self._trusted)
        request.arrived_at = self.instance.clock.time()
        current_request.set(request)
        try:
            answer = await self._answer(request)
        except ClientGone:
            return
        except RetinueError as error:
            answer = replies.error_answer(error)
            if error.status >= 500:
                log.warning("request refused", code=error.code, error=repr(error.__cause__ or error))
        except Exception:
            log.exception("request failed", method=request.method, route=request.route and request.route.path)
            answer = replies.error_answer(RetinueError())
        await self._send(request, answer, send)

    async def _answer(self, request: Request) -> replies.Answer:
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
        await self._identify(request, route)
        # A key is not a role: that the route takes keys is its permission.
        permission = route.permission
        if permission is not None and request.principal.kind != "embed_key":
            request.principal.require(permission)
        return await self._perform(request, route, segments)

    async def _preflight(self, request: Request, methods: dict[str, Route] | None) -> replies.Answer:
        await self._charge_address(request, "free")
        if methods is None:
            raise NotFound
        known = {*methods, "OPTIONS", *(("HEAD",) if "GET" in methods else ())}
        allow = (b"allow", ", ".join(sorted(known)).encode())
        return replies.Answer(204, [allow, *self._cors.preflight(request, methods.values())])

    async def _identify(self, request: Request, route: Route) -> None:
        """Who is asking, charged to whom: a bad token costs the address it came from."""
        if route.requires is PUBLIC:
            await self._charge_address(request, route.cost)
            return
        authenticate = self._authenticate_either if route.takes_embed_key else self._authenticate
        try:
            request.principal = await authenticate(self.instance, request)
        except Exception:
            await self._charge_address(request, route.cost)
            raise
        principal = request.principal
        if principal.requests_per_minute is not None:
            await self._charge_key(request, principal)
        key = principal.home_tenant_id or principal.tenant_id
        await self._charge(request, key, principal.limits or self._default_limits, route.cost)

    async def _authenticate_either(self, instance: Instance, request: Request) -> Principal:
        """A user, or the holder of an embed key where the route takes nobody else."""
        request.embed_key = embed_key_of(request)
        if request.embed_key is not None:
            assert self._authenticate_key is not None
            return await self._authenticate_key(instance, request)
        if request.route.requires is not EMBED_KEY:
            return await self._authenticate(instance, request)
        if b"authorization" in request.headers:
            raise Unauthorized("invalid_api_key", "Only an embed key opens this; it begins with `emb_`.")
        raise Unauthorized("missing_token", "Send an embed key as `Authorization: Bearer emb_…`.")

    async def _charge_key(self, request: Request, principal: Principal) -> None:
        """Before its tenant pays: what the key's own limit refuses costs nobody anything."""
        limiter, name, limit = self.instance.limiter, f"key:{principal.id}", principal.requests_per_minute
        if limiter.is_local:
            decision: Decision = limiter.hit_window_now(name, limit, 60)
        else:
            decision = await limiter.hit_window(name, limit, 60)
        if not decision.allowed:
            request.limit_headers = decision.headers()
            raise decision.refusal()

    async def _charge_address(self, request: Request, cost: str) -> None:
        await self._charge(request, "ip:" + limit_address(request.ip_address), self._default_limits, cost)

    async def _charge(self, request: Request, key: str, limits: PlanLimits, cost: str) -> None:
        limiter = self.instance.limiter
        if limiter.is_local:
            decision: Decision = limiter.hit_now(key, limits, COST[cost])
        else:
            decision = await limiter.hit(key, limits, COST[cost])
        request.limit_headers = decision.headers()
        if not decision.allowed:
            raise decision.refusal()

    async def _perform(self, request: Request, route: Route, segments: list[str]) -> replies.Answer:
        """Read the body first, so that no transaction waits for a slow client."""
        content = await incoming.receive(request, route, self._spool_dir)
        caller = Caller(
            correlation_id=request.correlation_id,
            ip_address=request.ip_address,
            user_agent=request.header(b"user-agent")[:512],
        )
        reads_freely = route.method == "GET" or route.calls_out
        ctx = Context(self.instance, request.principal, caller, reads_freely=reads_freely)
        try:
            if route.idempotent and b"idempotency-key" in request.headers:
                return await idempotency.once(
                    ctx, request, content, lambda: self._run(ctx, request, route, segments, content)
                )
            answer = await self._run(ctx, request, route, segments, content)
            await ctx.commit()
        except BaseException:
            await ctx.rollback()
            raise
        else:
            return answer
        finally:
            content.discard()

    @staticmethod
    async def _run(
        ctx: Context, request: Request, route: Route, segments: list[str], content: incoming.Content
    ) -> replies.Answer:
        arguments = await load_arguments(route, ctx, segments) if route.loaders else {}
        if route.query is not None:
            arguments["query"] = incoming.decode_query(request, route.query)
        if route.body is not None:
            arguments["body"] = incoming.decode_body(route, content.body)
        if route.upload is not None:
            arguments["form"] = content.form
        if route.takes_request:
            arguments["request"] = request
        result = await route.handler(ctx, **arguments)
        return replies.answer(result, route.status, wrap=route.wrap)

    async def _send(self, request: Request, answer: replies.Answer, send: Send) -> None:
        headers = self._headers(request, answer)
        wants_body = request.method != "HEAD"
        if answer.events is not None and wants_body:
            await self._stream(request, answer, answer.events, headers, send)
            return
        if answer.made is not None and wants_body:
            await self._stream_bytes(request, answer, answer.made, headers, send)
            return
        if self._metrics is not None:
            self._metrics.count(request, answer.status)
        if not answer.streams and answer.status not in {204, 304}:
            headers.append((b"content-length", b"%d" % len(answer.body)))
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        if answer.chunks is not None and wants_body:
            async for chunk in answer.chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": answer.body if wants_body else b""})

    async def _stream(
        self,
        request: Request,
        answer: replies.Answer,
        events: AsyncIterator[Any],
        headers: list[tuple[bytes, bytes]],
        send: Send,
    ) -> None:
        """A producer that fails before its first event is answered like any other refusal."""
        try:
            await sse.stream(
                send,
                request.receive,
                events,
                headers=headers,
                heartbeat_s=self.heartbeat_s,
                still_allowed=self._still_allowed(request),
                check_every_s=self.session_check_s,
                shutting_down=self.instance.shutting_down,
                show_error=answer.show_error,
            )
        except RetinueError as error:
            await self._send(request, replies.error_answer(error), send)
        except Exception:
            log.exception("stream failed before its first event", route=request.route.path)
            await self._send(request, replies.error_answer(RetinueError()), send)
        else:
            if self._metrics is not None:
                self._metrics.count(request, 200)

    async def _stream_bytes(
        self,
        request: Request,
        answer: replies.Answer,
        made: AsyncIterator[bytes],
        headers: list[tuple[bytes, bytes]],
        send: Send,
    ) -> None:
        """A producer that fails before its first byte is answered like any other refusal."""
        try:
            await byte_streams.stream(send, request.receive, made, status=answer.status, headers=headers)
        except RetinueError as error:
            await self._send(request, replies.error_answer(error), send)
        except Exception:
            log.exception("a body failed before its first byte", route=request.route.path)
            await self._send(request, replies.error_answer(RetinueError()), send)
        else:
            if self._metrics is not None:
                self._metrics.count(request, answer.status)

    def _headers(self, request: Request, answer: replies.Answer) -> list[tuple[bytes, bytes]]:
        given = {name for name, _ in answer.headers} if answer.headers != _PLAIN else ()
        headers = (
            [header for header in self._security if header[0] not in given] if given else [*self._security]
        )
        headers += answer.headers
        headers.append((b"x-request-id", request.request_id.encode()))
        headers.append((b"x-correlation-id", request.correlation_id.encode()))
        # A refusal by another limit describes that limit; it brought its own four headers.
        if b"x-ratelimit-limit" not in given:
            headers += request.limit_headers
        origin = request.headers.get(b"origin")
        if origin is not None and request.method != "OPTIONS" and b"access-control-allow-origin" not in given:
            headers += self._cors.headers(request, origin)
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
                # A database that does not answer says nothing about the session; the next look will.
                return error.status >= 500
            required = request.route.permission
            return required is None or principal.kind == "embed_key" or principal.may(required)

        return check


def _security_headers(*, is_https: bool) -> list[tuple[bytes, bytes]]:
    headers = [
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"x-frame-options", b"DENY"),
        (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    ]
    if is_https:
        headers.append((b"strict-transport-security", b"max-age=31536000"))
    return headers
