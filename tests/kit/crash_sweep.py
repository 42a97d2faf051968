"""Kill a worker at a failpoint, let another one finish, and report what became of the work, case by case.

Run as a program: it forks a process for every worker, so that nothing is imported twice and nothing survives.
"""

import asyncio
import json
import os
import sys
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from retinue.app import close_instance
from retinue.kit import failpoints
from retinue.kit.clock import ManualClock
from retinue.kit.logging import configure_logging
from retinue.kit.settings import Settings
from tests.kit import workshop as here
from tests.kit.workshop import Workshop

START = 1_800_000_000.0
NAMES = ("one", "two", "three")

Life = Callable[[Workshop], Awaitable[None]]


async def work_until_killed(workshop: Workshop, armed: str = "") -> None:
    for kind in (here.leave_mark, here.call_outside, here.do_nothing):
        await workshop.ask(kind, *NAMES)
    failpoints.arm(armed)
    await workshop.drain(default=4)


async def finish_and_report(workshop: Workshop) -> None:
    """All leases of the other worker are over: this one comes later."""
    workshop.clock.advance(100)
    await workshop.drain(default=4)
    outside = workshop.instance.settings.data_dir / "outside"
    events = await workshop.events()
    found = {
        "marks": Counter(await workshop.marks()),
        "outside": Counter(outside.read_text().split()),
        "jobs": len(await workshop.jobs()),
        "events": Counter(f"{entry.type} {entry.data['name']}" for entry in events),
        "waiting": sum(not entry.is_dispatched for entry in events),
    }
    print(json.dumps(found), flush=True)  # noqa: T201  this is what the test reads
    for table in ("test_marks", "event_log", "audit_log", "audit_heads"):
        await workshop.change(f"DELETE FROM {table}")
    outside.unlink()


async def live(folder: Path, url: str, life: Life) -> None:
    workshop = await here.open_workshop(folder, url, ManualClock(START))
    await life(workshop)
    await close_instance(workshop.instance)


def in_a_process(folder: Path, url: str, life: Life) -> int:
    """Run a worker in a forked process; return its exit code, or minus the signal that killed it."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        asyncio.run(live(folder, url, life))
    except BaseException:  # noqa: BLE001  a forked process must not return into the loop of its parent
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def main() -> None:
    folder, url = Path(sys.argv[1]), sys.argv[2]
    configure_logging(Settings(log_level="error"))
    for life in (work_until_killed, finish_and_report):
        # Once unharmed and in this process, so that the forked ones find their statements compiled.
        asyncio.run(live(folder, url, life))
    for armed in sys.argv[3:]:
        killed = in_a_process(folder, url, partial(work_until_killed, armed=f"{armed}:kill"))
        finished = in_a_process(folder, url, finish_and_report)
        print(json.dumps({"armed": armed, "ends": [killed, finished]}), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
