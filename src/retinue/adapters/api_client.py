"""The base of clients for HTTP APIs: limits, translation of failures, and quotes without secrets."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType, TracebackType
from typing import NamedTuple, TypeVar
from urllib.parse import urlencode

import msgspec

from retinue.adapters.error_bodies import UNREADABLE
from retinue.kit.egress import Egress, EgressFailed, EgressRefused, EgressTimeout, Response, ResponseTooLarge
from retinue.kit.egress.exchange import EgressExchange
from retinue.kit.logging import scrub_secrets
from retinue.kit.secrets import Secret
from retinue.kit.text.redaction import Redactor

JSON_CONTENT_TYPE = "application/json"
FORM_CONTENT_TYPE = "application/x-www-form-urlencoded"

_CALL_FAILURES = (EgressRefused, EgressTimeout, EgressFailed, ResponseTooLarge, *UNREADABLE)
_ACCEPT_JSON = MappingProxyType({"Accept": JSON_CONTENT_TYPE})
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_MAX_QUOTE_LENGTH = 300
_encode_json = msgspec.json.Encoder().encode
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

T = TypeVar("T")


class ApiBody(NamedTuple):
    """The body of a request; an empty `content_type` leaves the header to the caller."""

    content: bytes
    content_type: str


def json_body(value: object) -> ApiBody:
    return ApiBody(_encode_json(value), JSON_CONTENT_TYPE)


def form_body(fields: Mapping[str, str]) -> ApiBody:
    return ApiBody(urlencode(fields).encode(), FORM_CONTENT_TYPE)


class ApiClient(ABC):
    """Calls one API; a subclass turns failures and bad statuses into the errors of its adapter."""

    def __init__(
        self,
        egress: Egress,
        secrets: Iterable[Secret],
        *,
        timeout_s: float,
        max_bytes: int,
        connect_timeout_s: float = 5,
        stall_timeout_s: float = 30,
        headers: Mapping[str, str] = _ACCEPT_JSON,
    ) -> None:
        """`secrets` are redacted from quotes; `headers` are sent with every request."""
        self._egress = egress
        self._secrets = tuple(secrets)
        self._timeout_s = timeout_s
        self._max_bytes = max_bytes
        self._connect_timeout_s = connect_timeout_s
        self._stall_timeout_s = stall_timeout_s
        self._headers = headers

    @abstractmethod
    def translate_failure(self, error: Exception) -> Exception:
        """Return the error to raise for a call that failed, or whose response is not the expected JSON."""

    def translate_broken_response(self, error: Exception) -> Exception:
        """Return the error to raise for a failure after the response has begun."""
        return self.translate_failure(error)

    @abstractmethod
    async def check_status(self, response: Response) -> None:
        """Raise the error for a status other than 2xx, or accept the response."""

    def open(
        self,
        method: str,
        url: str,
        body: ApiBody | None = None,
        headers: Mapping[str, str] = _NO_HEADERS,
        *,
        answer_timeout_s: float | None = None,
        max_bytes: int | None = None,
    ) -> "OpenResponse":
        """Return a context manager for a response.

        Redirects are not followed, so that a key goes nowhere else.
        """
        all_headers = {**self._headers, **headers}
        if body is not None and body.content_type:
            all_headers["Content-Type"] = body.content_type
        try:
            exchange = self._egress.request(
                method,
                url,
                timeout_s=self._timeout_s,
                headers=all_headers,
                content=None if body is None else body.content,
                connect_timeout_s=self._connect_timeout_s,
                answer_timeout_s=answer_timeout_s,
                stall_timeout_s=self._stall_timeout_s,
                max_bytes=max_bytes or self._max_bytes,
                require_https=True,
            )
        except EgressRefused as error:
            raise self.translate_failure(error) from None
        return OpenResponse(self, exchange)

    async def call(
        self,
        method: str,
        url: str,
        read: Callable[[bytes], T],
        body: ApiBody | None = None,
        headers: Mapping[str, str] = _NO_HEADERS,
        *,
        answer_timeout_s: float | None = None,
        max_bytes: int | None = None,
    ) -> T:
        """Return what `read` makes of the response's body."""
        async with self.open(
            method, url, body, headers, answer_timeout_s=answer_timeout_s, max_bytes=max_bytes
        ) as response:
            return read(await response.read())

    def quote(self, text: object) -> str:
        """Return an API's text as one short line without secrets; "" if it is not text."""
        if not isinstance(text, str):
            return ""
        # Cut after redaction: a partial secret would not be recognized.
        return " ".join(_UNPRINTABLE.sub(" ", self.redact(text)).split())[:_MAX_QUOTE_LENGTH]

    def redact(self, text: str) -> str:
        return scrub_secrets(self._redactor.text(text))

    @cached_property
    def _redactor(self) -> Redactor:
        """Return the redactor; built on first use, because most calls succeed and quote nothing."""
        return Redactor(secret.reveal() for secret in self._secrets)


class OpenResponse:
    """Context manager for a response. A class, because a generator-based one costs more."""

    __slots__ = ("_client", "_exchange")

    def __init__(self, client: ApiClient, exchange: EgressExchange) -> None:
        self._client = client
        self._exchange = exchange

    async def __aenter__(self) -> Response:
        try:
            response = await self._exchange.__aenter__()
        except _CALL_FAILURES as error:
            raise self._client.translate_failure(error) from None
        if not 200 <= response.status < 300:
            try:
                await self._client.check_status(response)
            except BaseException:
                await self._exchange.__aexit__(None, None, None)
                raise
        return response

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._exchange.__aexit__(kind, error, trace)
        if isinstance(error, _CALL_FAILURES):
            raise self._client.translate_broken_response(error) from None
