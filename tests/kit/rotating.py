"""Rotations in processes of their own, to be killed: each line in is one, each line out says how it ended.

Everything is imported once; a process is forked for each rotation, before there is any thread or connection.
"""

import asyncio
import os
import select
import signal
import sys
from pathlib import Path

import msgspec

from retinue.kit.crypto import RootKey
from retinue.kit.logging import configure_logging
from retinue.kit.settings import Settings
from retinue.kit.vault.root_rotation import rotate_root
from retinue.kit.vault.rotation import Rotation, RotationTiming, rotate_key
from retinue.wiring import close_instance, open_instance

PACE = RotationTiming(learn_s=0.6, settle_s=1.0)


class Order(msgspec.Struct):
    """`what` is `key` or `root`; it is killed after `kill_after_s`, by a failpoint, or not at all."""

    what: str
    data_dir: str
    database_url: str
    failpoints: str = ""
    kill_after_s: float | None = None


class Ended(msgspec.Struct):
    is_killed: bool
    is_done: bool
    rotation: Rotation | None = None


def carry_out(order: Order) -> Ended:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            os.write(writing, asyncio.run(rotate(order)))
        finally:
            os._exit(1)
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], order.kill_after_s)
    if not ready:
        os.kill(child, signal.SIGKILL)
    with os.fdopen(reading, "rb") as pipe:
        result = pipe.read()
    _, status = os.waitpid(child, 0)
    rotation = msgspec.json.decode(result, type=Rotation | None) if result else None
    return Ended(os.WIFSIGNALED(status), bool(result), rotation)


async def rotate(order: Order) -> bytes:
    settings = Settings(
        data_dir=Path(order.data_dir),
        database_url=order.database_url,
        failpoints=order.failpoints,
        base_url="http://127.0.0.1:8080",
    )
    configure_logging(settings)
    instance = await open_instance(settings)
    try:
        if order.what == "key":
            return msgspec.json.encode(await rotate_key(instance, pace=PACE))
        await rotate_root(instance, RootKey.generate())
        return b"null"
    finally:
        await close_instance(instance)


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(
            msgspec.json.encode(carry_out(msgspec.json.decode(line, type=Order))).decode() + "\n"
        )
        sys.stdout.flush()
