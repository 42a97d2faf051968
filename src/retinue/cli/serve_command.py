"""`retinue serve`: bind, start and print the address."""

import asyncio
import socket
import sys
from collections.abc import Callable

import structlog
import typer

from retinue.adapters.llm.local_servers import LocalServers
from retinue.app import Service
from retinue.console.files import is_built
from retinue.kit.http.page_scripts import NOT_BUILT, find_script
from retinue.kit.http.server import ConnectionLimits
from retinue.kit.http.server import serve as serve_http
from retinue.kit.peers import Peers
from retinue.kit.settings import Settings
from retinue.wiring import server_settings

log = structlog.get_logger("retinue")


class ServeCommand:
    """Creates the service once the socket is bound: only then is the public address known."""

    def __init__(self, settings: Settings, peers: Peers | None = None, *, is_first: bool = True) -> None:
        """Only the process that `is_first` prints the address."""
        self.settings = settings
        self._peers = peers
        self._is_first = is_first
        self.when_ready: Callable[[], None] = lambda: None
        self.when_stopping: Callable[[], None] = lambda: None
        self._has_base_url = bool(settings.base_url)
        self.service: Service | None = None
        self.shutting_down = asyncio.Event()
        self.orphaned = asyncio.Event()
        self._draining = asyncio.Event()

    def bound(self, addresses: list[tuple[str, int]]) -> None:
        self.settings = server_settings(self.settings, addresses)
        self.service = Service(
            self.settings, shutting_down=self.shutting_down, peers=self._peers, is_first=self._is_first
        )

    def ready(self) -> None:
        assert self.service is not None
        if self._is_first:
            self._print_addresses()
            self._log_reach()
        self.service.probe_sandboxes()
        self.service.instance.adapters[LocalServers].schedule_probe()
        self.when_ready()

    def drain(self) -> None:
        """Finish what this process does; another one takes over."""
        assert self.service is not None
        self._draining.set()
        self.service.drain()

    async def _finish_work(self) -> None:
        """Begin nothing new; the server manager learns how long the rest may take."""
        assert self.service is not None
        self.when_stopping()
        await self.service.finish_work()

    def _log_reach(self) -> None:
        """Log what this instance can reach, and who can reach it."""
        settings = self.settings
        allowed = settings.egress_allowed()
        if settings.egress_allow is None and allowed:
            log.info("egress_to_this_machine_allowed", egress_allow=allowed)
        elif allowed:
            log.info("egress_to_private_addresses_allowed", egress_allow=allowed)
        else:
            log.info("egress_to_public_addresses_only")
        if settings.https_proxy or settings.http_proxy:
            guard = "the proxy" if settings.proxy_resolves else "this instance"
            log.info("egress_through_proxy", addresses_checked_by=guard, except_for=settings.no_proxy)
        if not settings.is_development:
            log.info("instance_reachable_by_others", signup=settings.signup_policy())
            if not self._has_base_url:
                log.warning(
                    "base_url_not_set",
                    setting="RETINUE_BASE_URL",
                    base_url=settings.base_url,
                    effect="links in mails may lead where others cannot follow",
                )
            if settings.metrics and settings.metrics_token is None:
                log.warning(
                    "metrics_open_to_everybody",
                    setting="RETINUE_METRICS_TOKEN",
                    effect="everybody who reaches this instance can read /metrics",
                )
        if settings.signup_policy() == "open" and not settings.is_development:
            log.warning(
                "signup_open_to_everybody",
                setting="RETINUE_SIGNUP=open",
                instead="RETINUE_SIGNUP=pending",
                effect="everybody who reaches this instance can register and join the default tenant",
            )

    def _print_addresses(self) -> None:
        """Print where to go; what opens the instance appears here only, never in a log line."""
        assert self.service is not None
        base_url = self.settings.base_url
        typer.echo(f"Retinue is ready at {base_url} (reference: {base_url}/docs)")
        if is_built():
            typer.echo(f"Console: {base_url}/console/")
        if any(find_script(name) is None for name in ("widget.js", "form.js")):
            typer.echo(NOT_BUILT)
        if is_built() and self.service.setup_token is not None:
            # Browsers keep the fragment to themselves, so the token reaches no access log.
            link = f"{base_url}/console/welcome#{self.service.setup_token.reveal()}"
            typer.echo(f"Set up in the browser (the link works once): {link}")
        if self.service.new_password is not None:
            typer.echo(f"First administrator: {self.settings.admin_email}")
            typer.echo(f"Password (shown once): {self.service.new_password.reveal()}")
        sys.stdout.flush()

    async def __call__(self, scope: object, receive: object, send: object) -> None:
        assert self.service is not None
        await self.service(scope, receive, send)

    async def run(self, host: str = "", port: int = 0, *, sockets: list[socket.socket] | None = None) -> None:
        """Serve until a signal arrives, `shutting_down` is set, or this process has drained."""
        await serve_http(
            self,
            host=host,
            port=port,
            sockets=sockets,
            limits=ConnectionLimits(uncounted_peers=_uncounted_peers(self.settings)),
            on_bound=self.bound,
            on_ready=self.ready,
            shutting_down=self.shutting_down,
            draining=self._draining,
            max_drain_s=self.settings.turn_seconds,
            orphaned=self.orphaned,
            finish_work=self._finish_work,
            shutdown_grace_s=self.settings.shutdown_grace,
        )


def _uncounted_peers(settings: Settings) -> tuple[str, ...]:
    """Return the peers exempt from limits per client: proxies, or this machine if only it can call."""
    return settings.trusted_proxies or ("127.0.0.0/8", "::1/128")
