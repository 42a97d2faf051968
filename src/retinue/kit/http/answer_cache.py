"""Whole answers, kept under the stamp of a tenant's configuration (ADR 44).

A route with `cached=True` answers from its query, the tenant's configuration and the caller's permissions
alone. Its answer is kept only if every table that the handler read is configuration. It is used only after
identity, limits and permission were checked for the request at hand.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Hashable
from typing import NamedTuple

from retinue.kit.clock import Clock
from retinue.kit.config_cache import ENTRY_TTL_SECONDS
from retinue.kit.context import Context
from retinue.kit.http import replies
from retinue.kit.http.request import Request
from retinue.kit.http.unknown_names import WARNINGS_HEADER

MAX_CACHED_BYTES = 16 * 1024 * 1024
_MAX_ANSWER_BYTES = 256 * 1024
_ENTRY_OVERHEAD_BYTES = 1_000
_TAG_BYTES = 15
_WARNINGS = WARNINGS_HEADER.lower().encode()


class CachedAnswer(NamedTuple):
    stamp: int
    until: float
    headers: list[tuple[bytes, bytes]]
    body: bytes
    tag: bytes
    """The `ETag` of this very body; empty for one that names the version of a record in it."""


class AnswerCache:
    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._answers: OrderedDict[Hashable, CachedAnswer] = OrderedDict()
        self._size_bytes = 0

    def find(self, request: Request) -> replies.HttpResponse | None:
        """Return the answer to this request, or None if it has to be made."""
        principal = request.principal
        version, now = principal.config_version, self._clock.monotonic()
        if version is None or now >= version.until:
            return None
        answer = self._answers.get(_key_of(request))
        if answer is None or answer.stamp != version.stamp or now >= answer.until:
            return None
        if answer.tag and _is_known(request, answer.tag):
            return replies.HttpResponse(304, [(b"etag", answer.tag), replies.NO_STORE])
        return replies.HttpResponse(200, answer.headers, answer.body)

    def keep(self, request: Request, ctx: Context, response: replies.HttpResponse, since: float) -> None:
        """Keep the answer if nothing but configuration was read for it; `since` is before the first read."""
        version = ctx.principal.config_version
        # A warning names what this caller sent; another one may prefer a refusal.
        has_warnings = any(name == _WARNINGS for name, _ in response.headers)
        is_whole = response.status == 200 and not response.streams and not has_warnings
        if version is None or not is_whole or not _depends_on_configuration_only(ctx):
            return
        if since >= version.until or len(response.body) > _MAX_ANSWER_BYTES:
            return
        tag = b""
        if not any(name == b"etag" for name, _ in response.headers):
            digest = hashlib.blake2b(response.body, digest_size=_TAG_BYTES)
            tag = b'"%s"' % digest.hexdigest().encode()
            response.headers.append((b"etag", tag))
        self._store(
            _key_of(request),
            CachedAnswer(version.stamp, since + ENTRY_TTL_SECONDS, response.headers, response.body, tag),
        )

    def _store(self, key: Hashable, answer: CachedAnswer) -> None:
        self._remove(key)
        self._answers[key] = answer
        self._size_bytes += len(answer.body) + _ENTRY_OVERHEAD_BYTES
        while self._size_bytes > MAX_CACHED_BYTES:
            self._remove(next(iter(self._answers)))

    def _remove(self, key: Hashable) -> None:
        answer = self._answers.pop(key, None)
        if answer is not None:
            self._size_bytes -= len(answer.body) + _ENTRY_OVERHEAD_BYTES


def _key_of(request: Request) -> Hashable:
    principal = request.principal
    return (
        principal.tenant_id,
        principal.role,
        principal.permissions,
        request.scope["raw_path"],
        request.query_string,
    )


def _depends_on_configuration_only(ctx: Context) -> bool:
    unit = ctx.unit_of_work
    return not unit.has_read_beyond_configuration and not unit.is_open


def _is_known(request: Request, tag: bytes) -> bool:
    """Return whether the client has this body already (`If-None-Match`)."""
    header = request.headers.get(b"if-none-match")
    return header is not None and (tag in header or header.strip() == b"*")
