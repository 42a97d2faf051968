"""How a model's provider can fail; no message holds the key it was asked with."""

from collections.abc import Mapping
from typing import Literal

from retinue.kit.errors import RetinueError

Kind = Literal[
    "auth",
    "rate_limited",
    "overloaded",
    "invalid_request",
    "timeout",
    "unreachable",
    "broken_stream",
    "bad_answer",
]

_MESSAGES: Mapping[Kind, str] = {
    "auth": "The model's provider refused the key",
    "rate_limited": "The model's provider takes no more requests for now",
    "overloaded": "The model's provider is failing or overloaded",
    "invalid_request": "The model's provider refused the request",
    "timeout": "The model's provider did not answer in time",
    "unreachable": "The model's provider could not be reached",
    "broken_stream": "The answer of the model's provider broke off",
    "bad_answer": "The answer of the model's provider is not what its protocol says",
}
_RETRYABLE = frozenset({"rate_limited", "overloaded", "timeout", "unreachable", "broken_stream"})
_OTHER_KEY_MAY_HELP = frozenset({"auth", "rate_limited", "overloaded", "timeout", "unreachable"})


class ModelError(RetinueError):
    """The model's provider failed."""

    status, code = 502, "model_error"

    def __init__(
        self,
        kind: Kind,
        explanation: str = "",
        *,
        provider_status: int | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        """`explanation` is shown to callers: what comes from a provider must be redacted before."""
        self.kind = kind
        self.provider_status = provider_status
        self.retry_after_s = retry_after_s
        status = f" ({provider_status})" if provider_status else ""
        reason = f": {explanation}" if explanation else "."
        super().__init__(f"{_MESSAGES[kind]}{status}{reason}", details={"kind": kind})

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed a little later."""
        return self.kind in _RETRYABLE

    @property
    def other_key_may_help(self) -> bool:
        """Whether the next key of the same provider is worth a try now."""
        return self.kind in _OTHER_KEY_MAY_HELP


class ModelTimeout(ModelError):
    """The model's provider did not answer in time."""

    status, code = 504, "model_timeout"

    def __init__(self, explanation: str = "", *, provider_status: int | None = None) -> None:
        super().__init__("timeout", explanation, provider_status=provider_status)


def is_retryable(error: BaseException) -> bool:
    return isinstance(error, ModelError) and error.retryable
