"""How a search can fail; no message holds the key it was made with."""

from typing import Literal

from retinue.kit.errors import RetinueError

Code = Literal["not_configured", "rate_limited", "provider_error", "timeout"]


class SearchError(RetinueError):
    """The web could not be searched."""

    status, code = 502, "provider_error"

    def __init__(self, code: Code, message: str) -> None:
        """`message` is shown to the model and in logs: what comes from an engine must be redacted before."""
        super().__init__(message)
        self.code = code  # type: ignore[misc]  # one class, four codes: it is the answer of a tool call
