"""`retinue serve`: bind, start, tell where it is."""

import asyncio
import sys

import structlog
import typer
import uvloop

from retinue.app import Service
from retinue.kit.http.server import Limits, NotStarted
from retinue.kit.http.server import serve as serve_http
from retinue.kit.logging import configure
from retinue.kit.settings import Settings
from retinue.kit.vault import root_keys
from retinue.wiring import with_base_url

log = structlog.get_logger("retinue")


class Serving:
    """The service begins once the socket is bound: only then is the public address known."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.service: Service | None = None
        self.shutting_down = asyncio.Event()

    def bound(self, host: str, port: int) -> None:
        self.settings = with_base_url(self.settings, host, port)
        self.service = Service(self.settings, shutting_down=self.shutting_down)

    def ready(self) -> None:
        assert self.service is not None
        settings = self.settings
        typer.echo(f"Retinue is ready at {settings.base_url} (reference: {settings.base_url}/docs)")
        if self.service.new_password is not None:
            typer.echo(f"First administrator: {settings.admin_email}")
            typer.echo(f"Password (shown once): {self.service.new_password.reveal()}")
        sys.stdout.flush()
        self.service.probe_sandboxes()
        allowed = settings.egress_allowed()
        if settings.egress_allow is None and allowed:
            log.info("development instance: outgoing calls may reach this machine", egress_allow=allowed)

    async def __call__(self, scope: object, receive: object, send: object) -> None:
        assert self.service is not None
        await self.service(scope, receive, send)

    async def run(self, host: str, port: int) -> None:
        """Serve until a signal, or until somebody sets `shutting_down`."""
        await serve_http(
            self,
            host=host,
            port=port,
            limits=Limits(uncounted_peers=_uncounted(self.settings)),
            on_bound=self.bound,
            on_ready=self.ready,
            shutting_down=self.shutting_down,
        )


def _uncounted(settings: Settings) -> tuple[str, ...]:
    """A trusted proxy stands for many, and so does this machine while it is the only one that can call."""
    return settings.trusted_proxies or ("127.0.0.0/8", "::1/128")


def run_server(settings: Settings, host: str, port: int) -> None:
    configure(settings)
    root_keys(settings, may_create=False)
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(Serving(settings).run(host, port))
    except NotStarted:
        raise typer.Exit(1) from None
    except OSError as error:
        typer.echo(f"retinue: cannot listen on {host}:{port}: {error.strerror}", err=True)
        raise typer.Exit(1) from None
