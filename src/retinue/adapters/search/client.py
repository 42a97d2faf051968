"""HTTP calls to one engine with their limits; every failure becomes a SearchError."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec

from retinue.adapters.api_client import ApiClient, form_body, json_body
from retinue.adapters.error_bodies import decode_json, find_message, read_error_body
from retinue.adapters.search.errors import SearchError
from retinue.adapters.search.plain_text import to_plain_text
from retinue.kit.egress import Egress, EgressRefused, EgressTimeout, Response
from retinue.kit.errors import RetinueError
from retinue.kit.secrets import Secret

SEARCH_TIMEOUT_SECONDS = 15.0
MAX_JSON_BYTES = 2 * 1024 * 1024
# Pages go through a slow HTML parser.
MAX_PAGE_BYTES = 512 * 1024

_MAX_EXPLANATION_LENGTH = 200
# Besides 429: Tavily's statuses for an exhausted plan, and what Google and Brave send in the body.
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


class SearchClient(ApiClient):
    def __init__(
        self,
        egress: Egress,
        name: str,
        address: str,
        *,
        secrets: Iterable[Secret] = (),
        access_denied_hint: str = "",
        timeout_s: float = SEARCH_TIMEOUT_SECONDS,
    ) -> None:
        """`name` is for people, `access_denied_hint` says what to check."""
        super().__init__(egress, secrets, timeout_s=timeout_s, max_bytes=MAX_JSON_BYTES)
        self.name = name
        self._address = address.rstrip("/")
        self._access_denied_hint = access_denied_hint

    async def get(
        self, path: str, query: Mapping[str, Any], shape: type[T], headers: Mapping[str, str] | None = None
    ) -> T:
        url = f"{self._address}{path}?{urlencode(query)}"
        return await self.call("GET", url, partial(msgspec.json.decode, type=shape), headers=headers or {})

    async def post(self, path: str, body: Mapping[str, Any], shape: type[T], headers: Mapping[str, str]) -> T:
        read = partial(msgspec.json.decode, type=shape)
        return await self.call("POST", self._address + path, read, json_body(body), headers)

    async def post_form(self, path: str, fields: Mapping[str, str], headers: Mapping[str, str]) -> str:
        """Send a form and return the page."""
        read = partial(str, encoding="utf-8", errors="replace")
        url = self._address + path
        return await self.call("POST", url, read, form_body(fields), headers, max_bytes=MAX_PAGE_BYTES)

    def translate_failure(self, error: Exception) -> SearchError:
        if isinstance(error, EgressTimeout):
            return SearchError("timeout", f"{self.name} did not respond in time.")
        if isinstance(error, EgressRefused):
            return SearchError("not_configured", f"{self.name} cannot be called: {error.message}")
        if isinstance(error, RetinueError):
            return SearchError("provider_error", f"{self.name} failed: {error.message}")
        return SearchError("provider_error", f"{self.name} did not return the expected JSON.")

    async def check_status(self, response: Response) -> None:
        status, body = response.status, await read_error_body(response)
        if status in _LIMIT_STATUSES or any(word in body for word in _LIMIT_WORDS):
            raise SearchError(
                "rate_limited",
                f"{self.name} has reached its rate limit or quota ({status}). Try again later.",
            )
        problem, advice = "failed" if status >= 500 else "rejected the search", ""
        if 300 <= status < 400:
            problem = "responded with a redirect, which is not followed"
        elif status in {401, 403} or any(word in body for word in _KEY_WORDS):
            problem, advice = "denied access", self._access_denied_hint
        # Only JSON is quoted: an HTML page would hardly explain the error.
        quoted = self.quote(find_message(decode_json(body)))
        sentences = (f"{self.name} {problem} ({status}){f': {quoted}' if quoted else '.'}", advice)
        raise SearchError("provider_error", " ".join(filter(None, sentences)))

    def quote(self, text: object) -> str:
        """Return the engine's text without markup, because a model reads it."""
        return to_plain_text(self.redact(text), _MAX_EXPLANATION_LENGTH) if isinstance(text, str) else ""
