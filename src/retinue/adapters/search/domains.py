"""Sites a search is limited to or keeps out: a domain is itself and all below it, never a part of a name."""

from collections.abc import Iterable, Sequence

from retinue.kit.egress.hosts import parse_host

# More would not fit beside the words of a query.
_MOST_IN_QUERY = 5


def read_domain(written: str) -> str:
    """A domain in its one spelling; `EgressRefused` says what is wrong with what is none."""
    return parse_host(written.strip()).text


def is_within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def admits(host: str, *, allowed: Iterable[str], blocked: Iterable[str]) -> bool:
    """Whether results of a host may be passed on; what is blocked is so even where it is allowed."""
    if any(is_within(host, domain) for domain in blocked):
        return False
    limits = tuple(allowed)
    return not limits or any(is_within(host, domain) for domain in limits)


def site_terms(allowed: Sequence[str]) -> str:
    """What limits a query to these domains where an engine has no other way; nothing if they are many."""
    if not 0 < len(allowed) <= _MOST_IN_QUERY:
        return ""
    sites = " OR ".join(f"site:{domain}" for domain in allowed)
    return sites if len(allowed) == 1 else f"({sites})"
