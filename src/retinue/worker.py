"""A worker of its own: jobs, schedules and event dispatch, without the way in."""

import asyncio
import signal

import structlog
import uvloop

from retinue.kit.jobs.runner import Runner
from retinue.kit.logging import configure
from retinue.kit.settings import Settings
from retinue.kit.vault.refresh import Refresher
from retinue.wiring import close_instance, open_instance, with_base_url

log = structlog.get_logger("retinue.worker")


async def work(settings: Settings) -> None:
    """Run jobs until SIGTERM or SIGINT."""
    instance = await open_instance(with_base_url(settings, "127.0.0.1", 8080))
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    refresher = Refresher(instance)
    await refresher.start()
    runner = Runner(instance)
    await runner.start()
    log.info("worker ready")
    await stop.wait()
    instance.shutting_down.set()
    await runner.stop()
    await refresher.stop()
    await close_instance(instance)


def run_worker(settings: Settings) -> None:
    configure(settings)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work(settings))
