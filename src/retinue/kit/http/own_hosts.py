"""The hosts that a development instance answers to.

Only this machine reaches it, so a browser on this machine is the way in: a page whose name an attacker lets
resolve to 127.0.0.1 (DNS rebinding) is of the same origin as the instance. Its requests name the attacker's
host. Other instances have probes, proxies and names that they cannot know, and answer to every host.
"""

import re
from urllib.parse import urlsplit

from retinue.kit.errors import RetinueError
from retinue.kit.settings import Settings, is_loopback

_MAX_REMEMBERED = 1024
_HOST = re.compile(r"(\[[0-9a-f:.]*:[0-9a-f:.]*\]|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.?)(?::[0-9]{0,5})?")


class MisdirectedRequest(RetinueError):
    """This development instance answers to localhost only. Set RETINUE_BASE_URL to use another host."""

    status, code = 421, "misdirected_request"

    def __init__(self) -> None:
        super().__init__(details={"setting": "RETINUE_BASE_URL"})


class OwnHosts:
    """Decides about `Host` headers; accepted ones are remembered as they were sent."""

    def __init__(self, settings: Settings) -> None:
        self._base_host = (urlsplit(settings.base_url).hostname or "").rstrip(".")
        self._accepted: set[bytes] = set()

    @classmethod
    def of(cls, settings: Settings) -> "OwnHosts | None":
        """Return the rule of a development instance; other instances have none."""
        return cls(settings) if settings.is_development else None

    def __contains__(self, host: bytes | None) -> bool:
        """Return whether the host is this machine's or that of the base URL; a missing one is not."""
        if host in self._accepted:
            return True
        if host is None or not self._is_own(host):
            return False
        if len(self._accepted) >= _MAX_REMEMBERED:
            self._accepted.clear()
        self._accepted.add(host)
        return True

    def _is_own(self, host: bytes) -> bool:
        # Whatever is no plain name or address with a port is foreign: user names, zones, other alphabets.
        match = _HOST.fullmatch(host.decode("latin-1").lower())
        if match is None:
            return False
        name = match[1].rstrip(".")
        return name == self._base_host or name.endswith(".localhost") or is_loopback(name)
