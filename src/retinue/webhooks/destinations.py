"""Where a webhook may point and what headers it may bring, judged by their text when they are stored."""

from collections.abc import Mapping

from retinue.kit.context import Context
from retinue.kit.egress import Egress, EgressRefused, check_custom_headers
from retinue.kit.errors import Invalid

_SET_BY_US = frozenset({"content-type", "user-agent", "x-correlation-id"})


def check_url(ctx: Context, url: str, field: str = "url") -> None:
    """https, or a destination the operator allows; nothing is resolved before something is sent."""
    try:
        ctx.adapter(Egress).check(url, require_https=True)
    except EgressRefused as refused:
        message = "must be https" if refused.reason == "https_required" else refused.message
        raise Invalid({field: message}) from None


def check_headers(headers: Mapping[str, str], field: str = "headers") -> None:
    try:
        check_custom_headers(headers)
    except EgressRefused as refused:
        raise Invalid({field: refused.message}) from None
    for name in headers:
        if name.lower() in _SET_BY_US:
            raise Invalid({field: f"The header {name} is set by the server itself."})


def without_query(url: str) -> str:
    """For records that outlive the webhook: a query may hold a key."""
    return url.partition("#")[0].partition("?")[0]
