"""Discovery of model servers on this machine (Ollama, LM Studio, vLLM, llama.cpp) on their usual ports.

Only a development instance probes, and only fixed ports of 127.0.0.1. Any program may listen there, so a
response that is too large, too late or not a list of names is ignored.
"""

import asyncio
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import msgspec
import structlog

from retinue.adapters.error_bodies import UNREADABLE
from retinue.kit.clock import Clock
from retinue.kit.egress import Egress
from retinue.kit.errors import RetinueError
from retinue.kit.settings import Settings

log = structlog.get_logger("retinue.models")

PORTS = (11434, 1234, 8000, 8080, 8081)
PROBE_TIMEOUT_SECONDS = 0.3
PROBE_INTERVAL_SECONDS = 60.0
# Between probes that people ask for, with a button.
MIN_PROBE_INTERVAL_SECONDS = 2.0
MAX_RESPONSE_BYTES = 256 * 1024
MAX_MODELS_PER_SERVER = 100
MAX_MODEL_NAME_LENGTH = 200

_FIRST_PROBE_DELAY_SECONDS = 2.0
_HOST = "127.0.0.1"
_NAME = re.compile(r"[\w.:/@+-]+", re.ASCII)
_OLLAMA, _OPENAI_COMPATIBLE = "ollama", "openai_compatible"


class DiscoveredServer(msgspec.Struct, frozen=True):
    """A server without a key, in the form `POST /api/v1/api-keys` accepts, and the models it offers."""

    provider: str
    base_url: str
    models: tuple[str, ...]


class _Tags(msgspec.Struct):
    """Ollama's response to `/api/tags`."""

    models: list[Any]


class _Listing(msgspec.Struct):
    """The response of OpenAI-compatible servers to `/v1/models`."""

    data: list[Any]


class LocalServers:
    """Caches the servers that were found and probes again once the result is older than a minute."""

    def __init__(self, egress: Egress, settings: Settings, clock: Clock) -> None:
        """Disable probing if the bound ports are unknown, because a probe could then call our own port."""
        self.ports: tuple[int, ...] = PORTS
        self._egress = egress
        self._clock = clock
        self._own_ports = frozenset({*settings.bound_ports, urlsplit(settings.base_url).port or 0})
        self._may_probe = settings.is_development and bool(settings.bound_ports)
        self._probed_at: float | None = None
        self._found: tuple[DiscoveredServer, ...] = ()
        self._probe_task: asyncio.Task[None] | None = None
        self._scheduled_probe: asyncio.Task[None] | None = None

    def schedule_probe(self) -> None:
        """Probe once startup is over, so that the first administrator does not wait for it."""
        if self._may_probe:
            self._scheduled_probe = asyncio.create_task(self._probe_later())

    @property
    def may_probe(self) -> bool:
        """Whether this instance looks for servers at all."""
        return self._may_probe

    async def found(self, max_age_s: float = PROBE_INTERVAL_SECONDS) -> tuple[DiscoveredServer, ...]:
        """Return the servers that respond, from the cache if it is recent; a probe takes at most 300 ms."""
        if not self._may_probe:
            return ()
        now = self._clock.monotonic()
        if self._probed_at is None or now - self._probed_at >= max_age_s:
            if self._probe_task is None or self._probe_task.done():
                self._probe_task = asyncio.create_task(self._probe())
            await asyncio.shield(self._probe_task)
        return self._found

    def models_at(self, base_url: str | None) -> list[str]:
        """Return the models last found at an address; sends no request."""
        wanted = base_url and canonical_base_url(base_url)
        return [name for server in self._found if server.base_url == wanted for name in server.models]

    async def close(self) -> None:
        for task in (self._scheduled_probe, self._probe_task):
            if task is not None:
                task.cancel()
                await asyncio.wait([task])

    async def _probe_later(self) -> None:
        await asyncio.sleep(_FIRST_PROBE_DELAY_SECONDS)
        await self.found()

    async def _probe(self) -> None:
        ports = [port for port in self.ports if port not in self._own_ports]
        probed = await asyncio.gather(*map(self._server_at, ports))
        servers = tuple(server for server in probed if server is not None)
        if servers != self._found:
            log.info("local_model_servers_found", found=[server.base_url for server in servers])
        self._found, self._probed_at = servers, self._clock.monotonic()

    async def _server_at(self, port: int) -> DiscoveredServer | None:
        """Return the server at a port, if any; both URLs are requested at once to share the timeout."""
        address = f"http://{_HOST}:{port}"
        paths = ("/api/tags", "/v1/models")
        # A foreign response may cause any exception; none may leave this function.
        tags, listing = await asyncio.gather(
            *(self._fetch(address + path) for path in paths), return_exceptions=True
        )
        for provider, body, read in (
            (_OLLAMA, tags, _ollama_names),
            (_OPENAI_COMPATIBLE, listing, _openai_names),
        ):
            try:
                names = read(body) if isinstance(body, bytes) else ()
            except UNREADABLE:
                continue
            if names:
                return DiscoveredServer(provider, f"{address}/v1", names)
        return None

    async def _fetch(self, url: str) -> bytes | None:
        """Return the body of a 200 response, else None; redirects are not followed."""
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_SECONDS):
                request = self._egress.request(
                    "GET",
                    url,
                    timeout_s=PROBE_TIMEOUT_SECONDS,
                    connect_timeout_s=PROBE_TIMEOUT_SECONDS,
                    max_bytes=MAX_RESPONSE_BYTES,
                )
                async with request as response:
                    return await response.read() if response.status == 200 else None
        except (RetinueError, TimeoutError, OSError):
            return None


def _ollama_names(body: bytes) -> tuple[str, ...]:
    listed = msgspec.json.decode(body, type=_Tags).models
    return _names(entry.get("model") or entry.get("name") for entry in listed if isinstance(entry, dict))


def _openai_names(body: bytes) -> tuple[str, ...]:
    listed = msgspec.json.decode(body, type=_Listing).data
    return _names(entry.get("id") for entry in listed if isinstance(entry, dict))


def _names(candidates: Iterable[Any]) -> tuple[str, ...]:
    """Return the names that are safe to show, since an unknown server chose them."""
    usable = dict.fromkeys(
        name
        for name in candidates
        if isinstance(name, str) and len(name) <= MAX_MODEL_NAME_LENGTH and _NAME.fullmatch(name)
    )
    return tuple(usable)[:MAX_MODELS_PER_SERVER]


def canonical_base_url(base_url: str) -> str:
    """Return an address in the form in which discovered servers are stored."""
    return base_url.rstrip("/").replace("://localhost:", f"://{_HOST}:", 1)
