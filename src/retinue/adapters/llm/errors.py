"""Failures of model providers; no message contains the API key."""

import math
from collections.abc import Mapping
from typing import Literal

from retinue.kit.errors import RetinueError

ModelErrorKind = Literal[
    "auth",
    "quota",
    "rate_limited",
    "overloaded",
    "invalid_request",
    "timeout",
    "unreachable",
    "broken_stream",
    "bad_answer",
]

_MESSAGES: Mapping[ModelErrorKind, str] = {
    "auth": "The model provider rejected the API key",
    "quota": "The credit or quota at the model provider is used up",
    "rate_limited": "The model provider's rate limit is reached",
    "overloaded": "The model provider failed or is overloaded",
    "invalid_request": "The model provider rejected the request",
    "timeout": "The model provider did not respond in time",
    "unreachable": "The model provider could not be reached",
    "broken_stream": "The model provider's response ended early",
    "bad_answer": "The model provider returned an unexpected response",
}
_RETRYABLE = frozenset({"rate_limited", "overloaded", "timeout", "unreachable", "broken_stream"})
_OTHER_KEY_MAY_HELP = frozenset({"auth", "quota", "rate_limited", "overloaded", "timeout", "unreachable"})


class ModelError(RetinueError):
    """The model provider failed. Try again later, or check the provider key and the model."""

    status, code = 502, "model_error"

    def __init__(
        self,
        kind: ModelErrorKind,
        explanation: str = "",
        *,
        provider_status: int | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        """Clients see `explanation`: redact anything that a provider wrote before passing it."""
        self.kind = kind
        self.provider_status = provider_status
        self.retry_after_s = retry_after_s
        status = f" ({provider_status})" if provider_status else ""
        reason = f": {explanation}" if explanation else "."
        headers = {"Retry-After": str(math.ceil(retry_after_s))} if retry_after_s else None
        super().__init__(f"{_MESSAGES[kind]}{status}{reason}", details={"kind": kind}, headers=headers)

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.kind in _RETRYABLE

    @property
    def other_key_may_help(self) -> bool:
        """Whether another key of the same provider may succeed now."""
        return self.kind in _OTHER_KEY_MAY_HELP


class ModelTimeout(ModelError):
    """The model provider did not respond in time. Try again later."""

    status, code = 504, "model_timeout"

    def __init__(self, explanation: str = "", *, provider_status: int | None = None) -> None:
        super().__init__("timeout", explanation, provider_status=provider_status)


def is_retryable(error: BaseException) -> bool:
    return isinstance(error, ModelError) and error.retryable
