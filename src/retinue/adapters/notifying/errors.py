"""How the sending of a notification can end badly."""

from collections.abc import Mapping

from retinue.kit.errors import RetinueError


class ProviderRefused(RetinueError):
    """The provider did not take the message."""

    status, code = 502, "provider_error"

    def __init__(
        self, message: str | None = None, *, is_permanent: bool = False, retry_after_s: float | None = None
    ) -> None:
        """`is_permanent` says that the message or its recipient is at fault: sending it again is no use."""
        super().__init__(message)
        self.is_permanent = is_permanent
        self.retry_after_s = retry_after_s


class InvalidConfig(RetinueError):
    """The configuration of the channel is not valid."""

    status, code = 422, "invalid_config"

    def __init__(self, fields: Mapping[str, str], message: str | None = None) -> None:
        """`fields` says of each key what is wrong with it."""
        super().__init__(message, details=fields)
