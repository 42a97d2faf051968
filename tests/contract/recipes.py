"""The domain of CONTRIBUTING's recipes, as files, and a program that uses it through HTTP.

`python -m tests.contract.recipes FOLDER` runs with the domain in FOLDER; it is a program of its own, because
records and events are declared for the whole process.
"""

import asyncio
import importlib
import re
import sys
import textwrap
from pathlib import Path

import msgspec
from sqlalchemy.schema import CreateTable

import retinue
from retinue.app import Service
from retinue.domains import DOMAINS
from retinue.kit.clock import ManualClock
from retinue.kit.db.statements import DIALECTS
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from tests.factories.people import ADMIN_EMAIL, ADMIN_PASSWORD, People

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^( *)```python\n\1# src/retinue/(\S+)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


def read_recipes(page: str) -> dict[str, str]:
    """Return the source of each file that the page shows, by its path below `src/retinue`."""
    return {path: textwrap.dedent(source) for _, path, source in _BLOCK.findall(page)}


def write_domain(folder: Path, files: dict[str, str]) -> None:
    for path, source in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source)


async def use_domain(folder: Path) -> list[object]:
    """Return what the calls of the recipes' endpoints answer, and what they leave behind."""
    retinue.__path__.append(str(folder))
    manifest = importlib.import_module("retinue.boxes.manifest").manifest
    settings = Settings(
        data_dir=folder / "data",
        base_url="http://127.0.0.1:8080",
        admin_email=ADMIN_EMAIL,
        admin_password=Secret(ADMIN_PASSWORD),
        password_cost=(8, 1, 1),
        worker="off",
    )
    service = Service(settings, ManualClock(), (*DOMAINS, manifest))
    await service.start()
    database = service.instance.database
    ddl = str(CreateTable(manifest.records[0].__table__).compile(dialect=DIALECTS["sqlite"]))
    await database.apply([(ddl, [[]])])
    admin = await People(service).super_admin()
    made = await admin.post("/api/v1/boxes", {"name": "Nails"})
    path = f"/api/v1/boxes/{made.json()['id']}"
    renamed = await admin.patch(path, {"name": "Tools"})
    await service.runner.drain()
    sealed = await admin.patch(path, {"name": "Screws"})
    unknown = await admin.patch("/api/v1/boxes/box_none", {"name": "Screws"})
    event_types = [row[0] for row in await database.fetch("SELECT type FROM event_log", [])]
    await service.stop()
    return [
        made.status,
        renamed.json()["name"],
        sealed.code,
        unknown.code,
        "system.box.renamed" in event_types,
    ]


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode(asyncio.run(use_domain(Path(sys.argv[1])))).decode())
