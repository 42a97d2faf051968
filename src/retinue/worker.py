"""A separate worker process: jobs, schedules and event dispatch, without HTTP."""

import asyncio
import signal

import structlog
import uvloop

from retinue.kit.context.instance import Instance
from retinue.kit.durable_files import private_umask
from retinue.kit.errors import CannotStart
from retinue.kit.http.server import ConnectionLimits, serve
from retinue.kit.jobs.runner import Runner
from retinue.kit.logging import configure_logging
from retinue.kit.metrics.endpoint import MetricsEndpoint
from retinue.kit.settings import Settings
from retinue.kit.systemd import ServiceNotifier, survive_hangups
from retinue.kit.vault.key_refresh import KeyRefresher
from retinue.wiring import close_instance, command_settings, open_instance, sampler_for

log = structlog.get_logger("retinue.worker")

_STOP_SECONDS_AFTER_GRACE = 5.0


async def run_until_signal(settings: Settings) -> None:
    """Run jobs until SIGTERM or SIGINT; a second signal does not wait for those that run."""
    notifier = ServiceNotifier.from_environment()
    instance = await open_instance(command_settings(settings))
    try:
        endpoint = await _serve_metrics(instance)
    except CannotStart:
        await close_instance(instance)
        raise
    _handle_signals(instance)
    refresher = KeyRefresher(instance)
    await refresher.start()
    runner = Runner(instance)
    await runner.start()
    instance.worker_status = lambda: runner.status().label
    sampler = sampler_for(instance)
    sampler.start(reads_database=True)
    log.info("worker_ready", development=instance.settings.is_development)
    notifier.ready()
    notifier.start_watchdog()
    await instance.stopping.wait()
    notifier.stopping(settings.shutdown_grace + _STOP_SECONDS_AFTER_GRACE)
    await runner.stop(settings.shutdown_grace, until=instance.shutting_down)
    instance.shutting_down.set()
    await sampler.stop()
    notifier.stop_watchdog()
    if endpoint is not None:
        await asyncio.wait([endpoint])
    await refresher.stop()
    await close_instance(instance)


def _handle_signals(instance: Instance) -> None:
    def stop() -> None:
        if instance.stopping.is_set():
            instance.shutting_down.set()
        instance.stopping.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    loop.add_signal_handler(
        signal.SIGHUP,
        lambda: log.warning("worker_not_reloaded", instead="restart it: its jobs end or go to others"),
    )


async def _serve_metrics(instance: Instance) -> asyncio.Task[None] | None:
    """Serve metrics and health at `RETINUE_METRICS_ADDRESS` until the worker stops."""
    if instance.settings.metrics_address is None:
        return None
    host, port = instance.settings.metrics_address

    is_ready = asyncio.Event()

    serving = serve(
        MetricsEndpoint(instance),
        host=host,
        port=port,
        limits=ConnectionLimits(),
        on_bound=lambda _addresses: None,
        on_ready=is_ready.set,
        shutting_down=instance.shutting_down,
        shutdown_grace_s=1,
        lifespan=False,
    )
    task = asyncio.create_task(serving)
    task.add_done_callback(lambda _: is_ready.set())
    await is_ready.wait()
    if task.done():
        raise CannotStart(f"RETINUE_METRICS_ADDRESS cannot be used: {task.exception()}")
    return task


def run_worker(settings: Settings) -> None:
    configure_logging(settings)
    survive_hangups()
    with private_umask(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(run_until_signal(settings))
