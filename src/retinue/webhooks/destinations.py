"""Validation of a webhook's URL and headers when they are stored."""

from collections.abc import Mapping

from retinue.kit.context import Context
from retinue.kit.egress import Egress, EgressRefused, check_custom_headers
from retinue.kit.errors import Invalid

_RESERVED_HEADERS = frozenset({"content-type", "user-agent", "x-correlation-id"})


def check_url(ctx: Context, url: str, field: str = "url") -> None:
    """Require https or a destination that the operator allows; host names are resolved when sending."""
    ctx.adapter(Egress).check_field(url, field)


def check_headers(headers: Mapping[str, str], field: str = "headers") -> None:
    try:
        check_custom_headers(headers)
    except EgressRefused as refused:
        raise Invalid({field: refused.message}) from None
    for name in headers:
        if name.lower() in _RESERVED_HEADERS:
            raise Invalid({field: f"The header {name} is set by the server itself."})


def without_query(url: str) -> str:
    """Remove the query, which may hold a key, for records that outlive the webhook."""
    return url.partition("#")[0].partition("?")[0]
