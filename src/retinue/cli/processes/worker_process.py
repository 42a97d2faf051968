"""A worker process: the server of one slot, on sockets that the supervisor keeps."""

import asyncio
import dataclasses
import importlib
import socket

import typer
import uvloop

from retinue.cli.processes.listeners import stop_listening
from retinue.cli.processes.orders import WorkerOrder
from retinue.cli.serve_command import ServeCommand
from retinue.kit.db.databases import is_postgres
from retinue.kit.errors import CannotStart, RetinueError
from retinue.kit.http.server import NotStarted
from retinue.kit.logging import configure_logging
from retinue.kit.peers.link import PeerLink
from retinue.kit.peers.packets import PacketSocket
from retinue.kit.settings import Settings
from retinue.kit.vault import root_keys


def preload(settings: Settings) -> None:
    """Import what is usually imported on demand, and raise what would keep every worker from starting."""
    configure_logging(settings)
    root_keys(settings, may_create=False)
    importlib.import_module("alembic.command")
    if is_postgres(settings):
        importlib.import_module("retinue.kit.db.postgres")
    if settings.redis_url:
        importlib.import_module("retinue.kit.limits.redis")
    if settings.metrics:
        importlib.import_module("prometheus_client.mmap_dict")


def run_worker_process(
    settings: Settings, sockets: list[socket.socket], order: WorkerOrder, link: int
) -> int:
    """Serve until the supervisor wants this process to end; return the exit code."""
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(_settings_of_slot(settings, order.slot), sockets, order, link))
    except NotStarted:
        return 1
    except (CannotStart, RetinueError) as error:
        typer.echo(f"retinue: {error}", err=True)
        return int(getattr(error, "exit_code", 1))
    return 0


async def _serve(settings: Settings, sockets: list[socket.socket], order: WorkerOrder, link: int) -> None:
    endpoint = PacketSocket(socket.socket(fileno=link))
    peers = PeerLink(endpoint, slot=order.slot, expected=order.expected, opened_at=order.opened_at)
    command = ServeCommand(settings, peers, is_first=order.is_first)
    command.when_ready = peers.report_ready
    peers.when_drained = command.drain

    def lose_supervisor() -> None:
        stop_listening([sockets])
        command.orphaned.set()

    peers.when_lost = lose_supervisor
    try:
        await command.run(sockets=sockets)
    finally:
        peers.close()


def _settings_of_slot(settings: Settings, slot: int) -> Settings:
    """On SQLite only the first process runs background jobs: writers would wait for each other."""
    if slot == 0 or is_postgres(settings) or settings.worker != "inline":
        return settings
    return dataclasses.replace(settings, worker="off", is_worker_in_first_process=True)
