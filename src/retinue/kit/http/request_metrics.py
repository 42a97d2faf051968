"""Metrics of each request, and its line in the access log."""

import time
from collections.abc import Awaitable, Callable
from typing import Any

import structlog

from retinue.kit.errors import RateLimited
from retinue.kit.http.request import Request
from retinue.kit.http.routing import METHOD_COST
from retinue.kit.metrics import declarations as metrics
from retinue.kit.metrics.series import OTHER

_log = structlog.get_logger("retinue.access")
Send = Callable[[Any], Awaitable[None]]

CLIENT_GONE = 499
"""The status of a request whose client left before its response, as proxies log it."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_UNKNOWN_ROUTE = "unknown"
_WINDOWS = {60: "minute", 3600: "hour", 86400: "day", "concurrent": "concurrent"}


async def observe(
    request: Request,
    send: Send,
    answer: Callable[[Request, Send], Awaitable[None]],
    *,
    has_access_log: bool,
) -> None:
    """Answer a request, counted while it is in progress and logged when it has ended."""
    request.began = time.perf_counter()
    access_log = AccessLog(request, send) if has_access_log else None
    metrics.HTTP_REQUESTS_IN_FLIGHT.add(1)
    try:
        await answer(request, send if access_log is None else access_log.send)
    finally:
        metrics.HTTP_REQUESTS_IN_FLIGHT.add(-1)
        if access_log is not None:
            access_log.write()


def count_response(request: Request, status: int) -> None:
    """Count a response when it is ready; a stream when it has ended, with the time until it was ready."""
    method = request.method if request.method in _METHODS else OTHER
    metrics.HTTP_REQUESTS.count(_route(request), method, str(status))
    if request.responded_at is None:
        request.responded_at = time.perf_counter()
    cost = request.route.cost if request.route else METHOD_COST.get(method, "read")
    metrics.HTTP_REQUEST_DURATION.observe(request.responded_at - request.began, cost)


def count_rate_limited(error: RateLimited) -> None:
    window = (error.details or {}).get("window")
    if error.code == RateLimited.code:
        metrics.RATE_LIMITED.count(_WINDOWS.get(window, OTHER))


def _route(request: Request) -> str:
    return request.route.path if request.route else _UNKNOWN_ROUTE


class AccessLog:
    """Writes one line for a request once it has ended; `send` observes its response.

    The query string is left out: it may hold tokens.
    """

    def __init__(self, request: Request, send: Any) -> None:
        self._request, self._send = request, send
        self._status, self._bytes = CLIENT_GONE, 0

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self._status = message["status"]
        else:
            self._bytes += len(message.get("body", b""))
        await self._send(message)

    def write(self) -> None:
        request, principal = self._request, self._request.principal
        _log.info(
            "request",
            method=request.method,
            route=_route(request),
            path=request.path,
            status=self._status,
            duration_ms=round((time.perf_counter() - request.began) * 1000, 3),
            bytes=self._bytes,
            address=request.ip_address,
            correlation_id=request.correlation_id,
            principal=principal.kind,
            principal_id=principal.id or None,
        )
