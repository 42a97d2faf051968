"""One HTTP call of a tool: sent through egress, tried again where that is safe, read into a JSON value."""

import asyncio
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from retinue.kit import hops
from retinue.kit.clock import Clock
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
from retinue.kit.errors import Invalid
from retinue.tools import authentication
from retinue.tools.calls import Call
from retinue.tools.errors import ExecutionFailed
from retinue.tools.executors.bodies import JSON_TYPE, as_content, decoded
from retinue.tools.executors.configs import HttpConfig, read_config
from retinue.tools.executors.headers import content_type, merged_headers
from retinue.tools.executors.urls import Pairs, with_query

FIRST_PAUSE_S = 0.5

_REPEATABLE = frozenset({"GET", "HEAD", "PUT", "DELETE"})
_PASSING = frozenset({429, 502, 503, 504})
_SHOWN_HEADERS = ("content-type", "retry-after")
_ACCEPT = {"Accept": "application/json, */*;q=0.8"}


@dataclass(frozen=True, kw_only=True)
class Request:
    """A call as configuration and input make it; what lets it in is added when it is sent."""

    method: str
    url: str
    query: Pairs = field(default_factory=list, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: Any = field(default=None, repr=False)


class _Setback(Exception):
    """An attempt that may go better another time, and how long the destination asked to wait."""

    def __init__(self, failure: ExecutionFailed, pause_s: float | None = None) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.pause_s = pause_s


async def send(call: Call, request: Request) -> dict[str, Any]:
    """The answer as output; asked once more with a new token when the one at hand is refused."""
    deadline = _now() + call.timeout_s
    try:
        return await _persevere(call, request, deadline)
    except ExecutionFailed as failure:
        if not _is_refused(failure) or not await authentication.renew(call):
            raise
    call.attempts += 1
    return await _persevere(call, request, deadline)


async def _persevere(call: Call, request: Request, deadline: float) -> dict[str, Any]:
    config = read_config(call.config, HttpConfig)
    is_repeatable = request.method in _REPEATABLE or config.retry_unsafe
    retries = config.retry_count if is_repeatable else 0
    retry = 0
    while True:
        try:
            return await _attempt(call, request, config, deadline)
        except _Setback as setback:
            pause_s = _backoff_s(retry) if setback.pause_s is None else setback.pause_s
            if retry == retries or _now() + pause_s >= deadline:
                raise setback.failure from None
        await pause(pause_s)
        retry += 1
        call.attempts += 1


async def _attempt(call: Call, request: Request, config: HttpConfig, deadline: float) -> dict[str, Any]:
    remaining_s = deadline - _now()
    headers, content = _message(call, request)
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
        raise _Setback(ExecutionFailed(code, error.message)) from None
    return _judged(call.ctx.clock, output)


def _message(call: Call, request: Request) -> tuple[dict[str, str], bytes | None]:
    typed = {} if request.body is None else {"Content-Type": JSON_TYPE}
    own = {hops.HEADER: str(call.ctx.caller.hops + 1)}
    headers = merged_headers(_ACCEPT, typed, request.headers, call.authentication.headers, own)
    return headers, None if request.body is None else as_content(request.body, content_type(headers))


def _url(call: Call, request: Request) -> str:
    """The whole address; a parameter of the input never stands beside one that lets the call in."""
    granted = call.authentication.query
    pairs = [(name, value) for name, value in request.query if name not in granted]
    url = with_query(request.url, [*pairs, *granted.items()])
    if len(url) > MAX_URL_LENGTH:
        raise Invalid({"input": f"makes a URL longer than {MAX_URL_LENGTH} characters"})
    return url


async def _output(response: Response) -> dict[str, Any]:
    headers = {name: response.headers[name] for name in _SHOWN_HEADERS if name in response.headers}
    body = decoded(await response.read(), headers.get("content-type", ""))
    return {"status_code": response.status, "headers": headers, "body": body}


def _judged(clock: Clock, output: dict[str, Any]) -> dict[str, Any]:
    """The output of a success; any other answer is a failure that keeps it in its details."""
    status = output["status_code"]
    if 200 <= status < 300:
        return output
    failure = ExecutionFailed("http_error", f"The destination answered with status {status}.", details=output)
    if status in _PASSING:
        raise _Setback(failure, _asked_pause_s(clock, output["headers"].get("retry-after", "")))
    raise failure


def _is_refused(failure: ExecutionFailed) -> bool:
    return failure.details is not None and failure.details.get("status_code") == 401


def _backoff_s(retry: int) -> float:
    return FIRST_PAUSE_S * 2.0**retry * random.uniform(0.75, 1.25)  # noqa: S311  not a secret


def _asked_pause_s(clock: Clock, retry_after: str) -> float | None:
    """Seconds or a date; what is neither was not asked."""
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after[:12])
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - clock.time())
    except (ValueError, OverflowError):
        return None


async def pause(seconds: float) -> None:
    """The wait between two attempts."""
    await asyncio.sleep(seconds)


def _now() -> float:
    return asyncio.get_running_loop().time()
