"""Calls to one engine at one address: the way out, its limits, and every failure as a SearchError."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec

from retinue.adapters.search.errors import SearchError
from retinue.adapters.search.text import plain
from retinue.kit.egress import (
    Egress,
    EgressFailed,
    EgressRefused,
    EgressTimeout,
    Response,
    ResponseTooLarge,
)
from retinue.kit.errors import RetinueError
from retinue.kit.logging import scrub
from retinue.kit.redaction import Redactor

TIMEOUT_S = 15.0
MAX_JSON_BYTES = 2 * 1024 * 1024
# Pages are read by a parser of their own, which takes its time.
MAX_PAGE_BYTES = 512 * 1024

_LONGEST_EXPLANATION = 200
_SENTENCE_KEYS = ("error", "detail", "message", "errors")
_DEEPEST_SENTENCE = 3
# Beside 429: a plan that is used up (Tavily), and how Google and Brave say the same in the body.
_LIMIT_STATUSES = frozenset({429, 432, 433})
_LIMIT_WORDS = (
    b"rateLimitExceeded",
    b"dailyLimitExceeded",
    b"quotaExceeded",
    b"RESOURCE_EXHAUSTED",
    b"QUOTA_LIMITED",
)
_KEY_WORDS = (b"SUBSCRIPTION_TOKEN_INVALID", b"API_KEY_INVALID", b"keyInvalid")

T = TypeVar("T")


class Wire:
    def __init__(
        self,
        egress: Egress,
        name: str,
        address: str,
        *,
        hidden: tuple[str, ...] = (),
        when_denied: str = "",
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """`name` is for people, `hidden` must not come back, `when_denied` says what to look at."""
        self._egress = egress
        self.name = name
        self._address = address.rstrip("/")
        self._redactor = Redactor(hidden)
        self._when_denied = when_denied
        self._timeout_s = timeout_s

    async def get(
        self, path: str, query: Mapping[str, Any], shape: type[T], headers: Mapping[str, str] | None = None
    ) -> T:
        target = f"{path}?{urlencode(query)}"
        async with self._open("GET", target, headers or {}, max_bytes=MAX_JSON_BYTES) as response:
            return self._decoded(await response.read(), shape)

    async def post(self, path: str, body: Mapping[str, Any], shape: type[T], headers: Mapping[str, str]) -> T:
        sent = {**headers, "Content-Type": "application/json"}
        content = msgspec.json.encode(body)
        async with self._open("POST", path, sent, content, max_bytes=MAX_JSON_BYTES) as response:
            return self._decoded(await response.read(), shape)

    async def post_form(self, path: str, fields: Mapping[str, str], headers: Mapping[str, str]) -> str:
        """The page that answers a form."""
        sent = {**headers, "Content-Type": "application/x-www-form-urlencoded"}
        content = urlencode(fields).encode()
        async with self._open("POST", path, sent, content, max_bytes=MAX_PAGE_BYTES) as response:
            return (await response.read()).decode(errors="replace")

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        content: bytes | None = None,
        *,
        max_bytes: int,
    ) -> AsyncIterator[Response]:
        """An answer with a good status; redirects are not followed, so that a key goes nowhere else."""
        try:
            async with self._egress.request(
                method,
                self._address + target,
                timeout_s=self._timeout_s,
                headers={"Accept": "application/json", **headers},
                content=content,
                max_bytes=max_bytes,
                require_https=True,
            ) as response:
                if not 200 <= response.status < 300:
                    raise await self._refusal(response)
                yield response
        except EgressTimeout:
            raise SearchError("timeout", f"{self.name} did not answer in time.") from None
        except EgressRefused as error:
            message = f"{self.name} cannot be asked: {error.message}"
            raise SearchError("not_configured", message) from None
        except (EgressFailed, ResponseTooLarge) as error:
            raise SearchError("provider_error", f"{self.name} failed: {error.message}") from None

    def _decoded(self, body: bytes, shape: type[T]) -> T:
        try:
            return msgspec.json.decode(body, type=shape)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            message = f"{self.name} did not answer with the JSON of its protocol."
            raise SearchError("provider_error", message) from None

    async def _refusal(self, response: Response) -> SearchError:
        status, body = response.status, b""
        with suppress(RetinueError):
            body = await response.read()
        if status in _LIMIT_STATUSES or any(word in body for word in _LIMIT_WORDS):
            return SearchError("rate_limited", f"{self.name} takes no more searches for now ({status}).")
        said, advice = "failed" if status >= 500 else "refused the search", ""
        if 300 <= status < 400:
            said = "sends its callers elsewhere, which is not followed"
        elif status in {401, 403} or any(word in body for word in _KEY_WORDS):
            said, advice = "denied access", self._when_denied
        sentences = (f"{self.name} {said} ({status}){self._explained(body)}", advice)
        return SearchError("provider_error", " ".join(filter(None, sentences)))

    def _explained(self, body: bytes) -> str:
        """What the engine says about it, if it says so in JSON: a page would be about something else."""
        try:
            message = _sentence_in(msgspec.json.decode(body))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            message = ""
        told = plain(scrub(self._redactor.text(message)), _LONGEST_EXPLANATION)
        return f": {told}" if told else "."


def _sentence_in(answer: Any) -> str:
    """The sentence for people in an error body, of which every engine has its own form."""
    for _ in range(_DEEPEST_SENTENCE):
        if isinstance(answer, list) and answer:
            answer = answer[0]
        if isinstance(answer, dict):
            answer = next((answer[name] for name in _SENTENCE_KEYS if answer.get(name)), "")
        if isinstance(answer, str):
            return answer
    return ""
