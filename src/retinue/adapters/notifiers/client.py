"""HTTP calls to a provider with their limits; every failure becomes a ProviderRefused."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

import msgspec

from retinue.adapters.api_client import ApiBody, ApiClient
from retinue.adapters.error_bodies import decode_json, find_message
from retinue.adapters.notifiers.errors import ProviderRefused
from retinue.adapters.notifiers.notifier import SendContext
from retinue.kit.egress import EgressRefused, EgressTimeout, Response
from retinue.kit.egress.retry_after import parse_retry_after
from retinue.kit.errors import RetinueError
from retinue.kit.json_types import JsonObject
from retinue.kit.secrets import Secret

_MAX_ANSWER_BYTES = 64 * 1024
_MIN_SECRET_LENGTH = 4
_MAX_RETRY_AFTER_SECONDS = 24 * 3600.0
# Statuses that blame the request or its recipient; a wrong key or a limit can be fixed without them.
_PERMANENT_STATUSES = frozenset({400, 404, 405, 406, 410, 411, 413, 414, 415, 422})


@dataclass(frozen=True)
class NotifierResponse:
    """A provider's response; `body` is empty if it was too large or incomplete."""

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
    def fields(self) -> JsonObject:
        """Return the JSON object in the body, or {} if there is none."""
        decoded = decode_json(self.body)
        return decoded if isinstance(decoded, dict) else {}

    @property
    def explanation(self) -> str:
        """Return the message for people in the body, or else the whole text."""
        message = find_message(self.fields)
        return message if isinstance(message, str) else self.text


class NotifierClient(ApiClient):
    """Calls one provider and redacts its secrets from the responses."""

    def __init__(self, context: SendContext, name: str, *secrets: str) -> None:
        super().__init__(
            context.egress,
            map(Secret, secrets),
            timeout_s=context.timeout_s,
            max_bytes=_MAX_ANSWER_BYTES,
        )
        self._clock = context.clock
        self._name = name
        # A very short secret looks like an ordinary word, so nothing is quoted then.
        self._may_quote = all(len(secret) >= _MIN_SECRET_LENGTH for secret in secrets if secret)

    async def post_json(
        self, url: str, value: object, headers: Mapping[str, str] | None = None
    ) -> NotifierResponse:
        body = ApiBody(self.as_json(value), "application/json; charset=utf-8")
        return await self.send("POST", url, body, headers or {})

    def as_json(self, value: object) -> bytes:
        try:
            return msgspec.json.encode(value)
        except (TypeError, ValueError, RecursionError):
            raise ProviderRefused("The message cannot be written as JSON.", is_permanent=True) from None

    async def send(
        self, method: str, url: str, body: ApiBody, headers: Mapping[str, str]
    ) -> NotifierResponse:
        async with self.open(method, url, body, headers) as response:
            return NotifierResponse(response.status, response.headers, await _read(response))

    def translate_failure(self, error: Exception) -> ProviderRefused:
        if isinstance(error, EgressTimeout):
            return ProviderRefused(f"{self._name} did not respond within {self._timeout_s:g} seconds.")
        if isinstance(error, EgressRefused):
            return ProviderRefused(f"{self._name} cannot be called: {error.message}", is_permanent=True)
        return ProviderRefused(f"{self._name} failed: {error}")

    async def check_status(self, response: Response) -> None:
        """Accept every status: the senders know what their provider's errors mean, and call `refuse`."""

    def refuse(
        self, response: NotifierResponse, error_text: object = "", *, is_permanent: bool | None = None
    ) -> NoReturn:
        """Raise the error that a response means; `error_text` is the provider's own explanation."""
        if 300 <= response.status < 400:
            raise ProviderRefused(f"{self._name} responded with a redirect, which is not followed.")
        if is_permanent is None:
            is_permanent = response.status in _PERMANENT_STATUSES
        quoted = self.quote(error_text)
        raise ProviderRefused(
            f"{self._name} answered {response.status}{f': {quoted}' if quoted else '.'}",
            is_permanent=is_permanent,
            retry_after_s=parse_retry_after(
                response.headers, self._clock.time(), max_seconds=_MAX_RETRY_AFTER_SECONDS
            ),
        )

    def quote(self, text: object) -> str:
        return super().quote(text) if self._may_quote else ""


async def _read(response: Response) -> bytes:
    """Read the body; failures are ignored, because the status has already decided."""
    try:
        return await response.read()
    except RetinueError:
        return b""
