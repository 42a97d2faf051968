"""Calls to a provider over HTTP: the way out with its limits, and every failure as a ProviderRefused."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, NoReturn

import msgspec

from retinue.adapters.notifying.errors import ProviderRefused
from retinue.adapters.notifying.sending import Outside
from retinue.kit.egress import EgressRefused, EgressTimeout, Response
from retinue.kit.errors import RetinueError
from retinue.kit.logging import scrub
from retinue.kit.redaction import Redactor

_MAX_ANSWER_BYTES = 64 * 1024
_LONGEST_QUOTE = 300
_SHORTEST_SECRET = 4
_LONGEST_WAIT_S = 24 * 3600.0
# What the request or its recipient is at fault for; a wrong key or a limit is somebody else's to mend.
_REQUEST_FAULTS = frozenset({400, 404, 405, 406, 410, 411, 413, 414, 415, 422})
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


@dataclass(frozen=True)
class Answer:
    """`body` is empty when it was too large or broke off: the status alone is then what is known."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    @property
    def fields(self) -> dict[str, Any]:
        """The JSON object that was answered, or nothing."""
        try:
            found = msgspec.json.decode(self.body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


class Wire:
    """One provider's line, which knows the secrets that must not come back over it."""

    def __init__(self, outside: Outside, name: str, *secrets: str) -> None:
        self._outside = outside
        self._name = name
        self._redactor = Redactor(secrets)
        # A very short secret cannot be told from ordinary words, so that nothing is quoted beside one.
        self._may_quote = all(len(secret) >= _SHORTEST_SECRET for secret in secrets if secret)

    async def post_json(self, url: str, body: Any, headers: Mapping[str, str] | None = None) -> Answer:
        sent = {"Content-Type": "application/json; charset=utf-8", **(headers or {})}
        return await self.call("POST", url, self.as_json(body), sent)

    def as_json(self, body: Any) -> bytes:
        try:
            return msgspec.json.encode(body)
        except (TypeError, ValueError, RecursionError):
            raise ProviderRefused("The message cannot be written as JSON.", is_permanent=True) from None

    async def call(self, method: str, url: str, content: bytes, headers: Mapping[str, str]) -> Answer:
        """Redirects are not followed, so that a key goes nowhere else."""
        try:
            async with self._outside.egress.request(
                method,
                url,
                timeout_s=self._outside.timeout_s,
                headers={"Accept": "application/json", **headers},
                content=content,
                max_bytes=_MAX_ANSWER_BYTES,
                require_https=True,
            ) as response:
                return Answer(response.status, dict(response.headers), await _read(response))
        except EgressTimeout:
            message = f"{self._name} did not answer within {self._outside.timeout_s:g} seconds."
            raise ProviderRefused(message) from None
        except EgressRefused as error:
            message = f"{self._name} cannot be called: {error.message}"
            raise ProviderRefused(message, is_permanent=True) from None
        except RetinueError as error:
            raise ProviderRefused(f"{self._name} failed: {error.message}") from None

    def refuse(self, answer: Answer, said: Any = "", *, is_permanent: bool | None = None) -> NoReturn:
        """Raise what the answer amounts to; `said` are the provider's own words."""
        if 300 <= answer.status < 400:
            raise ProviderRefused(f"{self._name} answers with a redirect, which is not followed.")
        if is_permanent is None:
            is_permanent = answer.status in _REQUEST_FAULTS
        quoted = self.quote(said)
        raise ProviderRefused(
            f"{self._name} answered {answer.status}: {quoted}"
            if quoted
            else f"{self._name} answered {answer.status}.",
            is_permanent=is_permanent,
            retry_after_s=self._retry_after(answer.headers),
        )

    def quote(self, said: Any) -> str:
        """Somebody else's words: without secrets, on one line, and not too many."""
        if not self._may_quote or not isinstance(said, str):
            return ""
        # Cut after redaction: half a secret would not be found.
        clean = scrub(self._redactor.text(said))
        return " ".join(_UNPRINTABLE.sub(" ", clean).split())[:_LONGEST_QUOTE]

    def _retry_after(self, headers: Mapping[str, str]) -> float | None:
        """Seconds, or a date; nonsense counts for nothing."""
        told = next((value for name, value in headers.items() if name.lower() == "retry-after"), "").strip()
        try:
            seconds = (
                float(told) if told.isascii() and told.replace(".", "", 1).isdigit() else self._until(told)
            )
        except (ValueError, TypeError, OverflowError):
            return None
        return min(max(seconds, 0.0), _LONGEST_WAIT_S)

    def _until(self, date: str) -> float:
        return parsedate_to_datetime(date).timestamp() - self._outside.clock.time()


async def _read(response: Response) -> bytes:
    """A provider that has answered has decided; what it does with the rest of its answer changes nothing."""
    try:
        return await response.read()
    except RetinueError:
        return b""
