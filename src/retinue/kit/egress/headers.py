"""Checks of outgoing headers: no framing headers and no header injection."""

import re
from collections.abc import Mapping

from retinue.kit import hop_count
from retinue.kit.egress.errors import EgressRefused
from retinue.kit.tracing.recorder import outgoing_traceparent

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
# A redirect to another origin keeps only headers that cannot be credentials.
_HARMLESS = frozenset({"accept", "content-type", hop_count.HOPS_HEADER.lower()})


def check_headers(headers: Mapping[str, str]) -> None:
    """Raise `EgressRefused` for headers that would change the framing or destination of the request."""
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise EgressRefused("header", "A header name is not valid in HTTP.")
        if name.lower() in _FRAMING:
            raise EgressRefused("header", f"The header {name} is set by the server. Remove it.")
        if not value.replace("\t", " ").isprintable():
            raise EgressRefused("header", f"The value of the header {name} contains a control character.")


def check_custom_headers(headers: Mapping[str, str]) -> None:
    """Check headers configured by users, which must not imitate our signatures either."""
    check_headers(headers)
    for name in headers:
        if name.lower().startswith(_OUR_SIGNATURES):
            raise EgressRefused("header", f"The header {name} is set by the server. Remove it.")


def without_credentials(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() in _HARMLESS}


def with_traceparent(headers: Mapping[str, str], *, to_providers: bool) -> Mapping[str, str]:
    """Return the headers with the current trace, unless the caller chose one."""
    traceparent = outgoing_traceparent(to_providers=to_providers)
    if traceparent is None or any(name.lower() == "traceparent" for name in headers):
        return headers
    return {**headers, "traceparent": traceparent}
