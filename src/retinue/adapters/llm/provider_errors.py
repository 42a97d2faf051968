"""Translate providers' errors, given by status, headers and body, into a ModelError."""

from collections.abc import Callable, Mapping

import msgspec

from retinue.adapters.error_bodies import decode_json, find_message
from retinue.adapters.llm.errors import ModelError, ModelErrorKind, ModelTimeout
from retinue.kit.egress.retry_after import parse_retry_after

# Redacts and shortens what a provider wrote.
_Quote = Callable[[str], str]

_MAX_RETRY_AFTER_SECONDS = 300.0
_KIND_BY_STATUS: Mapping[int, ModelErrorKind] = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "timeout",
    409: "overloaded",
    425: "overloaded",
    429: "rate_limited",
    498: "overloaded",
}
# What will not change by itself, whatever the status: used-up credit is 429 at OpenAI, 5xx behind gateways.
_PERMANENT_WORDS: Mapping[str, ModelErrorKind] = {
    "billing_hard_limit_reached": "quota",
    "billing_not_active": "quota",
    "content_policy_violation": "invalid_request",
    "context_length_exceeded": "invalid_request",
    "insufficient_quota": "quota",
    "invalid_api_key": "auth",
    "model_not_found": "invalid_request",
}
_KIND_BY_WORD: Mapping[str, ModelErrorKind] = {
    **_PERMANENT_WORDS,
    "authentication_error": "auth",
    "billing_error": "quota",
    "permission_error": "auth",
    "rate_limit_error": "rate_limited",
    "rate_limit_exceeded": "rate_limited",
    "timeout_error": "timeout",
    "badrequesterror": "invalid_request",
    "invalid_request_error": "invalid_request",
    "not_found_error": "invalid_request",
    "request_too_large": "invalid_request",
}


def error_from_response(
    status: int, headers: Mapping[str, str], body: bytes, quote: _Quote, *, now: float
) -> ModelError:
    """Return the error for a response with a failure status."""
    return _error(
        _permanent_kind(body) or error_kind_for_status(status),
        quote(_explanation(body)),
        status=status,
        retry_after_s=parse_retry_after(headers, now, max_seconds=_MAX_RETRY_AFTER_SECONDS),
    )


def error_from_object(error: object, quote: _Quote) -> ModelError:
    """Return the error for an error object in a successful response or inside a stream."""
    fields = error if isinstance(error, dict) else {}
    words = [str(fields.get(name)).lower() for name in ("type", "code", "status")]
    kind: ModelErrorKind | None = next((_KIND_BY_WORD[word] for word in words if word in _KIND_BY_WORD), None)
    code = fields.get("code")
    status = code if isinstance(code, int) and 400 <= code < 600 else None
    if kind is None:
        kind = error_kind_for_status(status) if status else "overloaded"
    return _error(kind, quote(_message(error)), status=status)


def _permanent_kind(body: bytes) -> ModelErrorKind | None:
    """Return the kind that an error body names, if it is one that no retry changes."""
    decoded = decode_json(body)
    outer = decoded[0] if isinstance(decoded, list) and decoded else decoded
    if not isinstance(outer, dict):
        return None
    inner = outer.get("error")
    words = [
        str(fields.get(name)).lower()
        for fields in (inner, outer)
        if isinstance(fields, dict)
        for name in ("code", "type")
    ]
    return next((_PERMANENT_WORDS[word] for word in words if word in _PERMANENT_WORDS), None)


def error_kind_for_status(status: int) -> ModelErrorKind:
    if status >= 500:
        return "overloaded"
    if status < 400:
        return "bad_answer"
    return _KIND_BY_STATUS.get(status, "invalid_request")


def _error(
    kind: ModelErrorKind, explanation: str, *, status: int | None, retry_after_s: float | None = None
) -> ModelError:
    if kind == "timeout":
        return ModelTimeout(explanation, provider_status=status)
    return ModelError(kind, explanation, provider_status=status, retry_after_s=retry_after_s)


def _explanation(body: bytes) -> str:
    """Return what an error body says; an HTML page would hardly explain the error."""
    decoded = decode_json(body)
    if decoded is not None:
        return _message(decoded)
    text = body.decode(errors="replace").strip()
    return "" if text.startswith("<") else text


def _message(error: object) -> str:
    """Return the message in an error, or the error itself as JSON if it has none."""
    found = find_message(error)
    if isinstance(found, str):
        return found
    return msgspec.json.encode(found).decode() if found else ""
