"""Failures of a search; no message contains the key."""

from typing import Literal

from retinue.kit.errors import InternalError

SearchErrorCode = Literal["not_configured", "rate_limited", "provider_error", "timeout"]


class SearchError(InternalError):
    """The web could not be searched. Check the search engine's configuration, or try again later."""

    code = "provider_error"

    def __init__(self, code: SearchErrorCode, message: str) -> None:
        """The model and logs see `message`: redact anything that an engine wrote before passing it."""
        super().__init__(message)
        self.code = code  # type: ignore[misc]  # one class with four codes, as a tool result
