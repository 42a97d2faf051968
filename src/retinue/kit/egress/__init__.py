"""The one way out of the server: addresses are checked and pinned, answers are bounded."""

from retinue.kit.egress.client import MAX_REDIRECTS, Egress
from retinue.kit.egress.destination import Destination, parse_destination, read_destination
from retinue.kit.egress.errors import EgressFailed, EgressRefused, EgressTimeout, ResponseTooLarge
from retinue.kit.egress.headers import check_custom_headers, check_headers
from retinue.kit.egress.policy import AllowList, is_public
from retinue.kit.egress.resolver import PinnedAddress, Resolver, SystemResolver
from retinue.kit.egress.response import Response

__all__ = [
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
