"""TLS to a pinned address, with the certificate checked for the host's name."""

import ssl
from typing import Any, Self

from retinue.adapters.databases.connection import ConnectionSpec
from retinue.adapters.databases.errors import DatabaseNotConfigured, DatabaseUnreachable


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


def context_for(spec: ConnectionSpec, server_name: str) -> ssl.SSLContext | None:
    """None for a plain connection; `prefer` and `require` encrypt without asking who is at the other end."""
    if spec.tls == "disable":
        return None
    context = NamedContext.of(server_name)
    context.check_hostname = spec.tls == "verify-full"
    if spec.tls in {"prefer", "require"}:
        context.verify_mode = ssl.CERT_NONE
    elif spec.ca_certificates:
        try:
            context.load_verify_locations(cadata=spec.ca_certificates)
        except (ssl.SSLError, ValueError):
            raise DatabaseNotConfigured("The CA certificates are not valid PEM.") from None
    else:
        context.load_default_certs()
    return context


def unreachable(error: BaseException) -> DatabaseUnreachable:
    """Our error for a connection that failed; the driver's own text may name addresses."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return DatabaseUnreachable(
                "The server's certificate could not be verified; ssl_mode `require` encrypts without that."
            )
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, ssl.SSLError):
        return DatabaseUnreachable("No secure connection to the database server could be made.")
    return DatabaseUnreachable()
