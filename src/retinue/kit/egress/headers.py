"""Headers a caller may send: none that frames the message, none that carries another header inside."""

import re
from collections.abc import Mapping

from retinue.kit import hops
from retinue.kit.egress.errors import EgressRefused

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}", re.ASCII)
_FRAMING = frozenset(
    {
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "expect",
        "host",
        "http2-settings",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
_OUR_SIGNATURES = ("x-service-", "webhook-")
# On the way to another origin a header stays only if it cannot be a credential.
_HARMLESS = frozenset({"accept", "content-type", hops.HEADER.lower()})


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuse headers that would change the framing of the request or its destination."""
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise EgressRefused("header", "A header has a name that is not allowed in HTTP.")
        if name.lower() in _FRAMING:
            raise EgressRefused("header", f"The header {name} is set by the server itself.")
        if not value.replace("\t", " ").isprintable():
            raise EgressRefused("header", f"The value of the header {name} has a control character.")


def check_custom_headers(headers: Mapping[str, str]) -> None:
    """The same for headers users store, which must not look like our own signatures either."""
    check_headers(headers)
    for name in headers:
        if name.lower().startswith(_OUR_SIGNATURES):
            raise EgressRefused("header", f"The header {name} is set by the server itself.")


def without_credentials(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() in _HARMLESS}
