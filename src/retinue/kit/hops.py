"""How far a chain of causes has come: every outgoing call tells, so that a chain ends outside of us too."""

HEADER = "X-Service-Hops"

_FARTHEST = 1000


def told(text: str) -> int:
    """From the header of an incoming call; what is no small number says nothing."""
    return min(int(text), _FARTHEST) if text.isascii() and text.isdigit() and len(text) <= 9 else 0
