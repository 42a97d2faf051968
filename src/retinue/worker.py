"""A separate worker process: jobs, schedules and event dispatch, without HTTP."""

import asyncio
import signal

import structlog
import uvloop

from retinue.kit.durable_files import private_umask
from retinue.kit.jobs.runner import Runner
from retinue.kit.logging import configure_logging
from retinue.kit.settings import Settings
from retinue.kit.vault.key_refresh import KeyRefresher
from retinue.wiring import close_instance, command_settings, open_instance

log = structlog.get_logger("retinue.worker")


async def run_until_signal(settings: Settings) -> None:
    """Run jobs until SIGTERM or SIGINT."""
    instance = await open_instance(command_settings(settings))
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    refresher = KeyRefresher(instance)
    await refresher.start()
    runner = Runner(instance)
    await runner.start()
    log.info("worker ready", development=instance.settings.is_development)
    await stop.wait()
    instance.shutting_down.set()
    await runner.stop()
    await refresher.stop()
    await close_instance(instance)


def run_worker(settings: Settings) -> None:
    configure_logging(settings)
    with private_umask(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run_until_signal(settings))
