"""TLS to a pinned address, with the certificate checked for the host's name."""

import ssl

from retinue.adapters.databases.connection import ConnectionSpec
from retinue.adapters.databases.errors import DatabaseNotConfigured, DatabaseUnreachable
from retinue.kit.egress.tls import NamedContext, is_certificate_failure


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
    if is_certificate_failure(error):
        return DatabaseUnreachable(
            "The server's certificate could not be verified; ssl_mode `require` encrypts without that."
        )
    if isinstance(error, ssl.SSLError):
        return DatabaseUnreachable("No secure connection to the database server could be made.")
    return DatabaseUnreachable()
