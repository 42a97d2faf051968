"""The processes of one `retinue serve --processes N`: shared limits, wake-ups, and who is alive (ADR 33).

Each worker process holds one end of a socket pair, the supervisor the other. The supervisor answers for the
rate limits and passes topics on; it never sees a request.
"""

from retinue.kit.peers.base import FirstReport, Peers

__all__ = ["FirstReport", "Peers"]
