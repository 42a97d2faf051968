"""Errors as providers say them, in status, header and body, read into our own."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from retinue.adapters.llm.errors import Kind, ModelError, ModelTimeout
from retinue.kit.logging import scrub
from retinue.kit.redaction import Redactor

LONGEST_RETRY_AFTER_S = 300.0

_LONGEST_EXPLANATION = 300
_KIND_BY_STATUS: Mapping[int, Kind] = {
    401: "auth",
    402: "auth",
    403: "auth",
    408: "timeout",
    409: "overloaded",
    425: "overloaded",
    429: "rate_limited",
    498: "overloaded",
}
_KIND_BY_WORD: Mapping[str, Kind] = {
    "authentication_error": "auth",
    "billing_error": "auth",
    "invalid_api_key": "auth",
    "permission_error": "auth",
    "insufficient_quota": "rate_limited",
    "rate_limit_error": "rate_limited",
    "rate_limit_exceeded": "rate_limited",
    "timeout_error": "timeout",
    "badrequesterror": "invalid_request",
    "context_length_exceeded": "invalid_request",
    "invalid_request_error": "invalid_request",
    "not_found_error": "invalid_request",
    "request_too_large": "invalid_request",
}
_SECONDS = re.compile(r"\d{1,64}(\.\d{1,9})?", re.ASCII)


def refusal(status: int, headers: Mapping[str, str], body: bytes, redactor: Redactor) -> ModelError:
    """The error for an answer whose status says that there is nothing good in it."""
    answer = _decoded(body)
    return _error(
        kind_of_status(status),
        redactor.text(_message_in(answer)),
        status=status,
        retry_after_s=retry_after_s(headers),
    )


def reported(error: Any, redactor: Redactor) -> ModelError:
    """The error for an error object that came with a good status or in the middle of a stream."""
    fields = error if isinstance(error, dict) else {}
    words = [str(fields.get(name)).lower() for name in ("type", "code", "status")]
    known: Kind | None = next((_KIND_BY_WORD[word] for word in words if word in _KIND_BY_WORD), None)
    code = fields.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    if known is None:
        known = kind_of_status(status) if status else "overloaded"
    return _error(known, redactor.text(_message_in({"error": error})), status=status)


def kind_of_status(status: int) -> Kind:
    if status >= 500:
        return "overloaded"
    if status < 400:
        return "bad_answer"
    return _KIND_BY_STATUS.get(status, "invalid_request")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """How long the provider asks to wait, never more than we are ready to; None when it does not say."""
    asked = headers.get("Retry-After", "").strip()
    millis = _number(headers.get("Retry-After-Ms", "").strip())
    seconds = _number(asked) if millis is None else millis / 1000
    if seconds is None:
        seconds = _seconds_between(headers.get("Date", ""), asked)
    return None if seconds is None else min(max(seconds, 0.0), LONGEST_RETRY_AFTER_S)


def _error(
    kind: Kind, redacted: str, *, status: int | None, retry_after_s: float | None = None
) -> ModelError:
    explanation = " ".join(scrub(redacted).split())[:_LONGEST_EXPLANATION]
    if kind == "timeout":
        return ModelTimeout(explanation, provider_status=status)
    return ModelError(kind, explanation, provider_status=status, retry_after_s=retry_after_s)


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        text = body.decode(errors="replace").strip()
        return "" if text.startswith("<") else text


def _message_in(answer: Any) -> str:
    """The sentence for people in an error body, of which every provider has its own form."""
    if isinstance(answer, list) and answer:
        answer = answer[0]
    for name in ("error", "message", "detail"):
        if isinstance(answer, dict) and answer.get(name):
            answer = answer[name]
    if isinstance(answer, str):
        return answer
    return msgspec.json.encode(answer).decode() if answer else ""


def _number(text: str) -> float | None:
    return float(text) if _SECONDS.fullmatch(text) else None


def _seconds_between(sent: str, until: str) -> float | None:
    """Both dates are the provider's own, so its clock need not agree with ours."""
    start, end = _date(sent), _date(until)
    return None if start is None or end is None else (end - start).total_seconds()


def _date(text: str) -> datetime | None:
    from email.utils import parsedate_to_datetime

    try:
        read = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)
