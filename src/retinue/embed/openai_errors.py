"""Errors as OpenAI's clients read them.

They show `message`, match on `type`, `param` and `code`, and repeat a request that failed with 408, 409, 429
or 5xx unless `X-Should-Retry` says that it will not help.
"""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import UNSET, UnsetType

from retinue.adapters.llm import ModelError
from retinue.agents.errors import AgentNotFound
from retinue.embed.errors import TokenBudgetSpent
from retinue.kit.errors import Invalid, RateLimited, RetinueError
from retinue.kit.http.error_format import ErrorFormat
from retinue.kit.http.idempotency import IdempotencyConflict
from retinue.kit.json_types import JsonObject
from retinue.kit.schema.base import Schema
from retinue.providers.errors import ModelNotConfigured
from retinue.usage.errors import BudgetExceeded

OpenAiErrorType = Literal[
    "authentication_error",
    "insufficient_quota",
    "invalid_request_error",
    "permission_error",
    "rate_limit_error",
    "server_error",
]

SHOULD_RETRY = "X-Should-Retry"
_TYPE_BY_STATUS: Mapping[int, OpenAiErrorType] = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}
# A budget that other requests hold is free again within seconds, a spent one not before its period ends.
_SOON_SECONDS = 60


class OpenAiErrorContent(Schema, kw_only=True):
    code: str
    message: str
    type: OpenAiErrorType
    param: str | None
    details: JsonObject | UnsetType = UNSET


class OpenAiError(Schema, kw_only=True):
    """An error with the fields of ours and those that OpenAI's clients read."""

    error: OpenAiErrorContent


def _is_spent(error: RetinueError) -> bool:
    if isinstance(error, BudgetExceeded):
        return bool((error.details or {}).get("retry_after", 0) > _SOON_SECONDS)
    return isinstance(error, TokenBudgetSpent)


def error_type(error: RetinueError) -> OpenAiErrorType:
    if _is_spent(error):
        return "insufficient_quota"
    if error.status >= 500:
        return "server_error"
    return _TYPE_BY_STATUS.get(error.status, "invalid_request_error")


def error_body(error: RetinueError) -> JsonObject:
    """Return the envelope with OpenAI's fields; the first reason of a refused body is in the message."""
    param, message = _param(error), error.message
    if isinstance(error, Invalid) and error.details:
        param, reason = next(iter(error.details.items()))
        message = _sentence(param, reason, len(error.details) - 1)
    content: dict[str, Any] = error.body()["error"]
    return {"error": {**content, "message": message, "type": error_type(error), "param": param}}


def is_permanent(error: RetinueError) -> bool:
    """Return whether the same request would fail again: only somebody can change that, not time."""
    if isinstance(error, ModelError):
        return not error.retryable
    if isinstance(error, ModelNotConfigured) or _is_spent(error):
        return True
    if isinstance(error, (IdempotencyConflict, RateLimited)):
        return False
    return error.status < 500 and error.status != 408


def error_headers(error: RetinueError) -> Mapping[str, str]:
    return {SHOULD_RETRY: "false"} if is_permanent(error) else {}


def _param(error: RetinueError) -> str | None:
    return "model" if isinstance(error, AgentNotFound | ModelNotConfigured) else None


def _sentence(path: str, reason: str, more: int) -> str:
    others = f" {more} more in `details`." if more else ""
    return f"{path}: {reason.removesuffix('.')}.{others}"


OPENAI_ERRORS = ErrorFormat(error_body, error_headers, OpenAiError)
