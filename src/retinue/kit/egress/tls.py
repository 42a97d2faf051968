"""TLS to a pinned address, for drivers that would take the address for the server's name."""

import ssl
from typing import Any, Self


class NamedContext(ssl.SSLContext):
    """Libraries take the address they connect to for the server's name; this context knows better."""

    server_name = ""

    @classmethod
    def of(cls, server_name: str) -> Self:
        """A context that verifies certificate and name."""
        context = cls(ssl.PROTOCOL_TLS_CLIENT)
        context.server_name = server_name
        return context

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,  # noqa: ARG002 - the driver's idea of the name
        session: Any = None,
    ) -> ssl.SSLObject:
        return super().wrap_bio(incoming, outgoing, server_side, self.server_name, session)


def is_certificate_failure(error: BaseException | None) -> bool:
    """Whether a driver's error, or what it came from, is a certificate that is not good for the server."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
