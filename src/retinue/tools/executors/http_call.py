"""One HTTP call of a tool: sent through egress, retried where that is safe, decoded to a JSON value."""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from retinue.kit import hop_count
from retinue.kit.egress import (
    MAX_REDIRECTS,
    Egress,
    EgressFailed,
    EgressRefused,
    EgressTimeout,
    Response,
    ResponseTooLarge,
)
from retinue.kit.egress.destination import MAX_URL_LENGTH
from retinue.kit.egress.retry_after import parse_retry_after
from retinue.kit.errors import Invalid
from retinue.kit.json_types import JsonObject
from retinue.tools.config.shapes import HttpToolConfig, parse_run_config
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors import authentication
from retinue.tools.executors.bodies import JSON_TYPE, decode_body, encode_body
from retinue.tools.executors.call import ExecutorCall
from retinue.tools.executors.headers import content_type, merge_headers
from retinue.tools.executors.urls import Pairs, add_query

FIRST_BACKOFF_SECONDS = 0.5

_IDEMPOTENT_METHODS = frozenset({"GET", "HEAD", "PUT", "DELETE"})
_TRANSIENT_STATUSES = frozenset({429, 502, 503, 504})
_KEPT_HEADERS = ("content-type", "retry-after")
_ACCEPT = {"Accept": "application/json, */*;q=0.8"}


@dataclass(frozen=True, kw_only=True)
class HttpToolRequest:
    """A request built from configuration and input; authentication is added when it is sent."""

    method: str
    url: str
    query: Pairs = field(default_factory=list, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Any = field(default=None, repr=False)


class _RetryableFailure(Exception):
    """A failed attempt that may be retried, with the delay that the destination requested."""

    def __init__(self, failure: ExecutionFailed, pause_s: float | None = None) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.pause_s = pause_s


async def send(call: ExecutorCall, request: HttpToolRequest) -> JsonObject:
    """Return the response as output; repeat the call once with a new token if the first is refused."""
    deadline = _now() + call.timeout_s
    try:
        return await _send_with_retries(call, request, deadline)
    except ExecutionFailed as failure:
        if not _is_unauthorized(failure) or not await authentication.renew(call):
            raise
    call.attempts += 1
    return await _send_with_retries(call, request, deadline)


async def _send_with_retries(call: ExecutorCall, request: HttpToolRequest, deadline: float) -> JsonObject:
    config = parse_run_config(call.config, HttpToolConfig)
    is_retryable = request.method in _IDEMPOTENT_METHODS or config.retry_unsafe
    retries = config.retry_count if is_retryable else 0
    retry = 0
    while True:
        try:
            return await _attempt(call, request, config, deadline)
        except _RetryableFailure as retryable:
            pause_s = _backoff_s(retry) if retryable.pause_s is None else retryable.pause_s
            if retry == retries or _now() + pause_s >= deadline:
                raise retryable.failure from None
        await wait_before_retry(pause_s)
        retry += 1
        call.attempts += 1


async def _attempt(
    call: ExecutorCall, request: HttpToolRequest, config: HttpToolConfig, deadline: float
) -> JsonObject:
    remaining_s = deadline - _now()
    headers, content = _build_message(call, request)
    try:
        async with call.ctx.adapter(Egress).request(
            request.method,
            _url(call, request),
            headers=headers,
            content=content,
            timeout_s=remaining_s,
            stall_timeout_s=remaining_s,
            follow_redirects=MAX_REDIRECTS if config.follow_redirects else 0,
        ) as response:
            output = await _output(response)
    except (EgressRefused, ResponseTooLarge) as error:
        raise ExecutionFailed(error.code, error.message) from None
    except (EgressFailed, EgressTimeout) as error:
        code = "timeout" if _now() >= deadline else "network_error"
        raise _RetryableFailure(ExecutionFailed(code, error.message)) from None
    return _require_success(call, output, response.headers)


def _build_message(call: ExecutorCall, request: HttpToolRequest) -> tuple[dict[str, str], bytes | None]:
    type_header = {} if request.body is None else {"Content-Type": JSON_TYPE}
    platform_headers = {hop_count.HOPS_HEADER: str(call.ctx.caller.hops + 1)}
    headers = merge_headers(
        _ACCEPT, type_header, request.headers, call.authentication.headers, platform_headers
    )
    return headers, None if request.body is None else encode_body(request.body, content_type(headers))


def _url(call: ExecutorCall, request: HttpToolRequest) -> str:
    """Return the full URL; authentication parameters replace those of the input."""
    granted = call.authentication.query
    pairs = [(name, value) for name, value in request.query if name not in granted]
    url = add_query(request.url, [*pairs, *granted.items()])
    if len(url) > MAX_URL_LENGTH:
        raise Invalid({"input": f"makes a URL longer than {MAX_URL_LENGTH} characters"})
    return url


async def _output(response: Response) -> JsonObject:
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    body = decode_body(await response.read(), headers.get("content-type", ""))
    return {"status_code": response.status, "headers": headers, "body": body}


def _require_success(call: ExecutorCall, output: JsonObject, headers: Mapping[str, str]) -> JsonObject:
    """Return the output of a 2xx response; raise any other with the output as details."""
    status = output["status_code"]
    if 200 <= status < 300:
        return output
    failure = ExecutionFailed("http_error", f"The destination answered with status {status}.", details=output)
    if status in _TRANSIENT_STATUSES:
        pause_s = parse_retry_after(headers, call.ctx.clock.time(), max_seconds=call.timeout_s)
        raise _RetryableFailure(failure, pause_s)
    raise failure


def _is_unauthorized(failure: ExecutionFailed) -> bool:
    return failure.details is not None and failure.details.get("status_code") == 401


def _backoff_s(retry: int) -> float:
    return FIRST_BACKOFF_SECONDS * 2.0**retry * random.uniform(0.75, 1.25)  # noqa: S311  not a secret


async def wait_before_retry(seconds: float) -> None:
    await asyncio.sleep(seconds)


def _now() -> float:
    return asyncio.get_running_loop().time()
