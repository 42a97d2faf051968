"""Error classes: each has a status, a code, and a docstring that is its default message to clients."""

from collections.abc import Mapping
from typing import Any, ClassVar


class CannotStart(RuntimeError):
    """The process cannot start with its settings or data; the message says why."""


class RetinueError(Exception):
    """Something went wrong on the server. Try again later."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    body_shape: ClassVar[Any] = None
    """The shape of `body()` if a protocol prescribes another one than the envelope."""

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

    def body(self) -> dict[str, Any]:
        """Return the body of the response: the envelope that every error has."""
        content: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details is not None:
            content["details"] = self.details
        return {"error": content}


class InternalError(RetinueError):
    """Something failed inside the service."""

    # No response carries it: a caller, a job or the command line handles it. A `status` below 500 tells
    # jobs that a retry would fail as well. `shown_in` names the records whose `code` it may be.
    shown_in: ClassVar[str] = ""


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


class PersonRequired(Forbidden):
    """This is for people only. A service account has no profile, second factor or inbox."""

    def __init__(self, your_role: str) -> None:
        super().__init__("user", your_role, reason="person_required", message=type(self).__doc__)


class NotFound(RetinueError):
    """The resource does not exist. Check the path and the id."""

    status, code = 404, "not_found"


class TenantNotFound(RetinueError):
    """There is no such tenant."""

    status, code = 404, "tenant_not_found"


class MethodNotAllowed(RetinueError):
    """This path does not support the method. The Allow header lists the supported ones."""

    status, code = 405, "method_not_allowed"


class Conflict(RetinueError):
    """The request conflicts with the current state."""

    status, code = 409, "conflict"


class InvalidTransition(Conflict):
    """This change of state is not allowed. The details list the states that are."""

    code = "invalid_transition"

    def __init__(self, from_: str, to: str, allowed: list[str]) -> None:
        super().__init__(details={"from": from_, "to": to, "allowed": allowed})


class VersionConflict(RetinueError):
    """The object has changed since it was read. Read it again and repeat the change."""

    status, code = 412, "version_conflict"

    def __init__(self, current: str, **more: Any) -> None:
        """Take the current entity tag, which `If-Match` should have named."""
        super().__init__(details={"current": current, **more})


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
    """Too many requests. Try again later."""

    status, code = 429, "rate_limited"

    def __init__(
        self, *, limit: int, window: int | str, retry_after: int, reset: int, message: str | None = None
    ) -> None:
        """Take `reset` as the Unix second at which the refusing window has capacity again.

        A concurrency limit has no window in seconds; its window header carries `retry_after` instead.
        """
        super().__init__(
            message or f"Too many requests. Try again in {retry_after} seconds.",
            details={"limit": limit, "window": window, "retry_after": retry_after},
            headers={
                "Retry-After": str(retry_after),
                "X-RateLimit-Limit": str(limit),
                "X-RateLimit-Remaining": "0",
                "X-RateLimit-Reset": str(reset),
                "X-RateLimit-Window": str(window if isinstance(window, int) else retry_after),
            },
        )


class VaultSealed(RetinueError):
    """The vault is sealed: the master key is missing or does not match the database."""

    status, code = 503, "vault_sealed"


class ServerShutdown(RetinueError):
    """The server is shutting down. Try again in a moment."""

    status, code = 503, "server_shutdown"

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "5"})


class Unavailable(RetinueError):
    """The service is temporarily unavailable. Try again later."""

    status, code = 503, "unavailable"

    def __init__(self, message: str | None = None, *, retry_after: int = 1) -> None:
        super().__init__(message, headers={"Retry-After": str(retry_after)})
