"""One outgoing call: sent to a checked address, with redirects followed up to a limit."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple
from urllib.parse import urljoin

from retinue.kit.egress.connection import EgressConnection
from retinue.kit.egress.content_encoding import ACCEPT_ENCODING
from retinue.kit.egress.destination import Destination, refuse_odd_characters
from retinue.kit.egress.errors import EgressFailed, EgressRefused
from retinue.kit.egress.headers import without_credentials
from retinue.kit.egress.pool import EgressPool
from retinue.kit.egress.response import Response

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
# Methods that are retried if a kept connection turns out to be dead; a POST may have been processed.
_REPEATABLE = METHODS - {"POST", "PATCH"}
_SENDS_CONTENT = frozenset({"POST", "PUT", "PATCH"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ABSOLUTE = re.compile(r"[a-z][a-z0-9+.-]*:", re.ASCII | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EgressCall:
    method: str
    destination: Destination
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(repr=False)


class CallLimits(NamedTuple):
    """Time limits of the phases of a call, and its limits on size, redirects and their schemes."""

    total_s: float
    connect_s: float
    answer_s: float
    stall_s: float
    max_bytes: int
    redirects: int
    require_https: bool


class EgressExchange:
    """`async with` sends the call and returns its response; at the end the connection is released."""

    __slots__ = (
        "_call",
        "_check",
        "_connection",
        "_limits",
        "_loop",
        "_pool",
        "_user_agent",
    )

    def __init__(
        self,
        call: EgressCall,
        limits: CallLimits,
        pool: EgressPool,
        check: Callable[..., Destination],
        user_agent: str,
    ) -> None:
        """Take `check` to check the target of a redirect."""
        self._call = call
        self._limits = limits
        self._pool = pool
        self._check = check
        self._user_agent = user_agent
        self._loop = pool.loop
        self._connection: EgressConnection

    async def __aenter__(self) -> Response:
        now = self._loop.time()
        answer_by = now + self._limits.answer_s
        await self._send(answer_by)
        try:
            if self._limits.redirects:
                await self._follow_redirects(answer_by)
            return Response(
                self._connection,
                self._call.destination,
                ends_at=now + self._limits.total_s,
                stall_timeout_s=self._limits.stall_s,
                max_bytes=self._limits.max_bytes,
            )
        except BaseException:
            self._release()
            raise

    async def __aexit__(self, *_: object) -> None:
        self._release()

    def _release(self) -> None:
        self._pool.release(self._call.destination, self._connection)

    async def _follow_redirects(self, answer_by: float) -> None:
        left = self._limits.redirects
        while location := _location(self._connection):
            if not left:
                raise EgressFailed("The destination redirects too many times.")
            left -= 1
            moved = self._redirected(self._connection.status, location)
            self._connection.close()
            self._release()
            self._call = moved
            await self._send(answer_by)

    def _redirected(self, status: int, location: str) -> EgressCall:
        """Return the call to the target of a redirect, checked like the first one."""
        call = self._call
        refuse_odd_characters(location)
        if not _ABSOLUTE.match(location):
            location = urljoin(f"{call.destination.origin}{call.destination.path_and_query}", location)
        target = self._check(location, require_https=self._limits.require_https)
        if call.destination.scheme == "https" and target.scheme != "https":
            raise EgressRefused("redirect", "The destination redirects from https to http.")
        moved = replace(call, destination=target)
        if target.origin != call.destination.origin:
            moved = replace(moved, headers=without_credentials(call.headers))
        if status == 303 or (status in {301, 302} and call.method == "POST"):
            kept = {name: value for name, value in moved.headers.items() if name.lower() != "content-type"}
            moved = replace(
                moved, method="HEAD" if call.method == "HEAD" else "GET", headers=kept, content=None
            )
        return moved

    async def _send(self, answer_by: float) -> None:
        """Send the call and wait for the response headers."""
        call = self._call
        connect_by = min(self._loop.time() + self._limits.connect_s, answer_by)
        head = self._head()
        is_new = False
        while True:
            connection = await self._pool.acquire(call.destination, connect_by, is_new=is_new)
            self._connection = connection
            connection.send(head, call.content or b"", has_no_body=call.method == "HEAD")
            try:
                await connection.wait_for_head(answer_by)
            except BaseException as error:
                connection.close()
                self._release()
                is_dead = connection.was_kept and not connection.has_received
                if not (isinstance(error, EgressFailed) and is_dead and call.method in _REPEATABLE):
                    raise
                is_new = True
            else:
                return

    def _head(self) -> bytes:
        call, destination = self._call, self._call.destination
        header_names = set(map(str.lower, call.headers))
        lines = [f"{call.method} {destination.path_and_query} HTTP/1.1", f"Host: {destination.authority}"]
        lines += [f"{name}: {value}" for name, value in call.headers.items()]
        lines.append(f"Accept-Encoding: {ACCEPT_ENCODING}")
        if "accept" not in header_names:
            lines.append("Accept: */*")
        if "user-agent" not in header_names:
            lines.append(f"User-Agent: {self._user_agent}")
        if call.content is not None or call.method in _SENDS_CONTENT:
            lines.append(f"Content-Length: {len(call.content or b'')}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _location(raw: EgressConnection) -> str | None:
    return raw.headers.get("Location") if raw.status in _REDIRECTS else None
