"""TLS to a pinned address; the certificate is verified for the host name."""

import ssl
from pathlib import Path
from typing import Any, Self


def http_context(ca_bundle: Path | None) -> ssl.SSLContext:
    """Return a context that trusts the system's authorities (or `SSL_CERT_FILE`) and those of the bundle."""
    context = ssl.create_default_context()
    if ca_bundle is not None:
        context.load_verify_locations(ca_bundle)
    context.set_alpn_protocols(["http/1.1"])
    return context


class ServerNameContext(ssl.SSLContext):
    """For drivers: verifies a fixed server name instead of the address that the driver connects to."""

    server_name = ""

    @classmethod
    def of(cls, server_name: str) -> Self:
        """Return a context that verifies the certificate and the name."""
        context = cls(ssl.PROTOCOL_TLS_CLIENT)
        context.server_name = server_name
        return context

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,  # noqa: ARG002 - the name the driver assumes
        session: Any = None,
    ) -> ssl.SSLObject:
        return super().wrap_bio(incoming, outgoing, server_side, self.server_name, session)


def is_certificate_failure(error: BaseException | None) -> bool:
    """Return whether a driver's error was caused by a certificate that is not valid for the server."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False
