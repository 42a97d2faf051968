"""Failures of sending a notification."""

from collections.abc import Mapping

from retinue.kit.errors import InternalError, RetinueError


class ProviderRefused(InternalError):
    """The provider did not accept the message. Check the channel's configuration and the recipient."""

    code = "provider_error"
    shown_in = "notification logs"

    def __init__(
        self, message: str | None = None, *, is_permanent: bool = False, retry_after_s: float | None = None
    ) -> None:
        """`is_permanent` means that the message or its recipient is at fault, so a retry is useless."""
        super().__init__(message)
        self.is_permanent = is_permanent
        self.retry_after_s = retry_after_s


class InvalidConfig(RetinueError):
    """The channel's configuration is invalid. Correct the listed keys."""

    status, code = 422, "invalid_config"

    def __init__(self, fields: Mapping[str, str], message: str | None = None) -> None:
        """`fields` maps each invalid key to its problem."""
        super().__init__(message, details=fields)
