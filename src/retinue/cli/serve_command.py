"""`retinue serve`: bind, start and print the address."""

import asyncio
import socket
import sys
from collections.abc import Callable

import structlog
import typer
import uvloop

from retinue.adapters.llm.local_servers import LocalServers
from retinue.app import Service
from retinue.console.files import is_built
from retinue.kit.durable_files import private_umask
from retinue.kit.http.server import ConnectionLimits, NotStarted
from retinue.kit.http.server import serve as serve_http
from retinue.kit.logging import configure_logging
from retinue.kit.peers import Peers
from retinue.kit.settings import Settings
from retinue.kit.systemd import ServiceNotifier
from retinue.kit.vault import root_keys
from retinue.wiring import server_settings

log = structlog.get_logger("retinue")


class ServeCommand:
    """Creates the service once the socket is bound: only then is the public address known."""

    def __init__(self, settings: Settings, peers: Peers | None = None, *, is_first: bool = True) -> None:
        """Of several processes only the one that `is_first` prints where to go."""
        self.settings = settings
        self._peers = peers
        self._is_first = is_first
        self.when_ready: Callable[[], None] = lambda: None
        self._has_base_url = bool(settings.base_url)
        self.service: Service | None = None
        self.shutting_down = asyncio.Event()
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

    def _log_reach(self) -> None:
        """Log what this instance can reach, and who can reach it."""
        settings = self.settings
        allowed = settings.egress_allowed()
        if settings.egress_allow is None and allowed:
            log.info("development instance: outgoing calls may reach this machine", egress_allow=allowed)
        elif allowed:
            log.info("outgoing calls may reach private addresses", egress_allow=allowed)
        else:
            log.info("outgoing calls reach public addresses only")
        if settings.https_proxy or settings.http_proxy:
            guard = "the proxy" if settings.proxy_resolves else "this instance"
            log.info("outgoing calls use a proxy", addresses_checked_by=guard, except_for=settings.no_proxy)
        if not settings.is_development:
            log.info("others can reach this instance", signup=settings.signup_policy())
            if not self._has_base_url:
                log.warning(
                    "RETINUE_BASE_URL is not set: links in mails may lead where others cannot follow",
                    base_url=settings.base_url,
                )
            if settings.metrics and settings.metrics_token is None:
                log.warning(
                    "everybody who reaches this instance can read /metrics", setting="RETINUE_METRICS_TOKEN"
                )
        if settings.signup_policy() == "open" and not settings.is_development:
            log.warning(
                "everybody who reaches this instance can register and join the default tenant",
                setting="RETINUE_SIGNUP=open",
                instead="RETINUE_SIGNUP=pending",
            )

    def _print_addresses(self) -> None:
        """Print where to go; what opens the instance appears here only, never in a log line."""
        assert self.service is not None
        base_url = self.settings.base_url
        typer.echo(f"Retinue is ready at {base_url} (reference: {base_url}/docs)")
        if is_built():
            typer.echo(f"Console: {base_url}/console/")
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
            shutdown_grace_s=self.settings.shutdown_grace,
        )


def _uncounted_peers(settings: Settings) -> tuple[str, ...]:
    """Return the peers exempt from limits per client: proxies, or this machine if only it can call."""
    return settings.trusted_proxies or ("127.0.0.0/8", "::1/128")


async def _serve_alone(settings: Settings, host: str, port: int) -> None:
    notifier, command = ServiceNotifier.from_environment(), ServeCommand(settings)

    def tell_ready() -> None:
        notifier.ready()
        notifier.start_watchdog()

    command.when_ready = tell_ready
    telling_end = asyncio.create_task(_tell_stopping(notifier, command.shutting_down))
    try:
        await command.run(host, port)
    finally:
        notifier.stop_watchdog()
        telling_end.cancel()


async def _tell_stopping(notifier: ServiceNotifier, shutting_down: asyncio.Event) -> None:
    await shutting_down.wait()
    notifier.stopping()


def run_server(settings: Settings, host: str, port: int) -> None:
    configure_logging(settings)
    root_keys(settings, may_create=False)
    try:
        with private_umask(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve_alone(settings, host, port))
    except NotStarted:
        raise typer.Exit(1) from None
    except OSError as error:
        typer.echo(f"retinue: cannot listen on {host}:{port}: {error.strerror}", err=True)
        raise typer.Exit(1) from None
