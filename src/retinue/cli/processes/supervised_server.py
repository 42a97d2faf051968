"""`retinue serve --processes N`: a supervisor on sockets that are bound once (ADR 33)."""

import asyncio

import typer
import uvloop

from retinue.cli.processes.listeners import Listeners, bind_patiently, close_listeners, open_listeners
from retinue.cli.processes.run_file import find_supervisors
from retinue.cli.processes.supervisor import Supervisor
from retinue.kit.durable_files import private_umask
from retinue.kit.logging import configure_logging
from retinue.kit.settings import Settings
from retinue.kit.systemd import ServiceNotifier, survive_hangups


def run_supervisor(settings: Settings, host: str, port: int) -> None:
    """Serve with several processes until a signal ends them."""
    configure_logging(settings)
    survive_hangups()
    notifier = ServiceNotifier.from_environment()
    try:
        listeners = bind_patiently(lambda: open_listeners(host, port, settings.processes), settings.data_dir)
    except OSError as error:
        typer.echo(f"retinue: cannot listen on {host}:{port}: {error.strerror}", err=True)
        raise typer.Exit(1) from None
    # Files of killed servers are of no use once the address is bound.
    list(find_supervisors(settings.data_dir))
    try:
        with private_umask(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            code = runner.run(_supervise(settings, listeners, notifier))
    finally:
        close_listeners(listeners)
    raise typer.Exit(code)


async def _supervise(settings: Settings, listeners: list[Listeners], notifier: ServiceNotifier) -> int:
    return await Supervisor(settings, listeners, notifier).run()
