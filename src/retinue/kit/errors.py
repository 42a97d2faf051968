"""Every refusal is a class: status and code beside it, the docstring is the message."""

from collections.abc import Mapping
from typing import Any, ClassVar


class CannotStart(RuntimeError):
    """What the process was pointed at is not fit to run on; the message says why."""


class RetinueError(Exception):
    """Something went wrong on our side."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"

    def __init__(
        self,
        message: str | None = None,
        *,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.message = message or (self.__doc__ or "").strip().partition("\n")[0]
        self.details = dict(details) if details else None
        self.headers = dict(headers) if headers else {}
        super().__init__(self.message)


class InvalidJson(RetinueError):
    """The request body is not valid JSON."""

    status, code = 400, "invalid_json"


class Unauthorized(RetinueError):
    """Authentication is required."""

    status, code = 401, "unauthorized"

    def __init__(self, reason: str, message: str | None = None) -> None:
        super().__init__(message, details={"reason": reason}, headers={"WWW-Authenticate": "Bearer"})


class Forbidden(RetinueError):
    """You are not allowed to do this."""

    status, code = 403, "forbidden"

    def __init__(
        self, required: str, your_role: str, *, reason: str | None = None, message: str | None = None
    ) -> None:
        details = {"required": required, "your_role": your_role}
        if reason:
            details["reason"] = reason
        super().__init__(message, details=details)


class NotFound(RetinueError):
    """There is nothing at this address."""

    status, code = 404, "not_found"


class MethodNotAllowed(RetinueError):
    """This address does not take that method."""

    status, code = 405, "method_not_allowed"


class Conflict(RetinueError):
    """The request conflicts with the current state."""

    status, code = 409, "conflict"


class InvalidTransition(Conflict):
    """That change of state is not possible."""

    code = "invalid_transition"

    def __init__(self, from_: str, to: str, allowed: list[str]) -> None:
        super().__init__(details={"from": from_, "to": to, "allowed": allowed})


class PayloadTooLarge(RetinueError):
    """The request body is too large."""

    status, code = 413, "payload_too_large"


class FileTooLarge(RetinueError):
    """The uploaded file is too large."""

    status, code = 413, "file_too_large"


class UnsupportedMediaType(RetinueError):
    """This media type is not accepted here."""

    status, code = 415, "unsupported_media_type"


class UnsupportedFileType(RetinueError):
    """This type of file is not accepted here."""

    status, code = 415, "unsupported_file_type"


class Invalid(RetinueError):
    """The request is not valid."""

    status, code = 422, "validation_error"

    def __init__(self, fields: Mapping[str, str], message: str | None = None) -> None:
        super().__init__(message, details=fields)


class RateLimited(RetinueError):
    """Too many requests; try again later."""

    status, code = 429, "rate_limited"

    def __init__(
        self, *, limit: int, window: int | str, retry_after: int, reset: int, message: str | None = None
    ) -> None:
        """`reset` is the Unix second at which the refusing window has room again."""
        super().__init__(
            message or f"Too many requests; try again in {retry_after} seconds.",
            details={"limit": limit, "window": window, "retry_after": retry_after},
            headers={
                "Retry-After": str(retry_after),
                "X-RateLimit-Limit": str(limit),
                "X-RateLimit-Remaining": "0",
                "X-RateLimit-Reset": str(reset),
                "X-RateLimit-Window": str(window),
            },
        )


class VaultSealed(RetinueError):
    """The vault is sealed: the master key is missing or is not this database's key."""

    status, code = 503, "vault_sealed"


class Unavailable(RetinueError):
    """The service is temporarily unable to answer."""

    status, code = 503, "unavailable"

    def __init__(self, message: str | None = None, *, retry_after: int = 1) -> None:
        super().__init__(message, headers={"Retry-After": str(retry_after)})
