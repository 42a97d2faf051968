"""TLS to a pinned address; the certificate is verified for the host name."""

import ssl

from retinue.adapters.databases.connection import ConnectionSpec
from retinue.adapters.databases.errors import DatabaseNotConfigured, DatabaseUnreachable
from retinue.kit.egress.tls import ServerNameContext, is_certificate_failure


def tls_context(spec: ConnectionSpec, server_name: str) -> ssl.SSLContext | None:
    """Return the TLS context, or None for plain text; `prefer` and `require` do not verify the server."""
    if spec.tls == "disable":
        return None
    context = ServerNameContext.of(server_name)
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


def unreachable_error(error: BaseException) -> DatabaseUnreachable:
    """Return our error for a failed connection; the driver's own text may contain addresses."""
    if is_certificate_failure(error):
        return DatabaseUnreachable(
            "The server's certificate could not be verified. Use ssl_mode `require` to skip verification."
        )
    if isinstance(error, ssl.SSLError):
        return DatabaseUnreachable("A TLS connection to the database server failed.")
    return DatabaseUnreachable()
