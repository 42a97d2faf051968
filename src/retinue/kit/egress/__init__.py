"""The client for all outgoing calls: addresses are checked and pinned, responses are bounded (ADR 13)."""

from retinue.kit.egress.client import MAX_PAGE_REDIRECTS, MAX_REDIRECTS, Egress
from retinue.kit.egress.destination import Destination, parse_destination, read_destination
from retinue.kit.egress.errors import EgressFailed, EgressRefused, EgressTimeout, ResponseTooLarge
from retinue.kit.egress.headers import check_custom_headers, check_headers
from retinue.kit.egress.policy import AllowList, is_public
from retinue.kit.egress.resolver import PinnedAddress, Resolver
from retinue.kit.egress.response import Response
from retinue.kit.egress.system_resolver import SystemResolver

__all__ = [
    "MAX_PAGE_REDIRECTS",
    "MAX_REDIRECTS",
    "AllowList",
    "Destination",
    "Egress",
    "EgressFailed",
    "EgressRefused",
    "EgressTimeout",
    "PinnedAddress",
    "Resolver",
    "Response",
    "ResponseTooLarge",
    "SystemResolver",
    "check_custom_headers",
    "check_headers",
    "is_public",
    "parse_destination",
    "read_destination",
]
