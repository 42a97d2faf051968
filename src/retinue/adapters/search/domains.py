"""Domain filters of a search; a domain includes its subdomains, but never matches part of a name."""

from collections.abc import Iterable, Sequence

from retinue.kit.egress.hosts import parse_host

# More would not fit beside the words of a query.
_MAX_DOMAINS_IN_QUERY = 5


def parse_domain(text: str) -> str:
    """Return a domain in canonical form; `EgressRefused` explains what is wrong."""
    return parse_host(text.strip()).text


def is_within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")


def is_domain_allowed(host: str, *, allowed: Iterable[str], blocked: Iterable[str]) -> bool:
    """Return whether results of a host may be passed on; `blocked` takes precedence over `allowed`."""
    if any(is_within(host, domain) for domain in blocked):
        return False
    limits = tuple(allowed)
    return not limits or any(is_within(host, domain) for domain in limits)


def site_terms(allowed: Sequence[str]) -> str:
    """Return query terms that limit a search to these domains; empty if there are too many."""
    if not 0 < len(allowed) <= _MAX_DOMAINS_IN_QUERY:
        return ""
    sites = " OR ".join(f"site:{domain}" for domain in allowed)
    return sites if len(allowed) == 1 else f"({sites})"
