"""A rotation in a process of its own, to be killed; its arguments: an operation, and the settings as JSON."""

import asyncio
import sys
from pathlib import Path

import msgspec

from retinue.kit.crypto import RootKey
from retinue.kit.logging import configure
from retinue.kit.settings import Settings
from retinue.kit.vault.root_rotation import rotate_root
from retinue.kit.vault.rotation import Pace, rotate_key
from retinue.wiring import close_instance, open_instance

PACE = Pace(learn_s=0.6, settle_s=1.0)


async def main(operation: str, given: dict[str, str]) -> None:
    data_dir = Path(given.pop("data_dir"))
    settings = Settings(data_dir=data_dir, base_url="http://127.0.0.1:8080", **given)
    configure(settings)
    instance = await open_instance(settings)
    try:
        if operation == "key":
            rotation = await rotate_key(instance, pace=PACE)
            sys.stdout.write(msgspec.json.encode(rotation).decode())
        else:
            await rotate_root(instance, RootKey.generate())
    finally:
        await close_instance(instance)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], msgspec.json.decode(sys.argv[2])))
