"""The hop count of a causal chain, sent with every outgoing call so that loops through other services end."""

HOPS_HEADER = "X-Service-Hops"

_MAX_PARSED_HOPS = 1000


def parse_hops(text: str) -> int:
    """Return the hop count in an incoming header; 0 if it is not a small number."""
    return min(int(text), _MAX_PARSED_HOPS) if text.isascii() and text.isdigit() and len(text) <= 9 else 0
