"""The recipes of CONTRIBUTING as files, and a program that uses what they make through HTTP.

`python -m tests.contract.recipes FOLDER` uses the domain in FOLDER, or the setting of an agent if the folder
holds a changed `src`. It is a program of its own, because records and events are declared for the whole
process.
"""

import asyncio
import importlib
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec
from sqlalchemy.schema import CreateColumn, CreateTable

import retinue
from retinue.agents.models import Agent
from retinue.app import Service
from retinue.domains import DOMAINS
from retinue.kit.clock import ManualClock
from retinue.kit.context.manifest import Manifest
from retinue.kit.db.statements import DIALECTS
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from tests.factories.agents import make_agent
from tests.factories.people import ADMIN_EMAIL, ADMIN_PASSWORD, People

ROOT = Path(__file__).parents[2]
AGENTS = Path("src/retinue/agents")
_DIFF = re.compile(r"^```diff\n(.*?)^```", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^( *)```python\n\1# src/retinue/(\S+)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)


def read_recipes(page: str) -> dict[str, str]:
    """Return the source of each file that the page shows, by its path below `src/retinue`."""
    return {path: textwrap.dedent(source) for _, path, source in _BLOCK.findall(page)}


def write_domain(folder: Path, files: dict[str, str]) -> None:
    for path, source in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source)


def apply_diff(folder: Path, page: str) -> None:
    """Write the files that the page's diff changes into the folder, as they are after it."""
    diff = "".join(_DIFF.findall(page))
    for path in re.findall(r"^--- a/(.*)$", diff, re.MULTILINE):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / path).read_bytes())
    subprocess.run(["git", "apply", "-"], cwd=folder, input=diff, text=True, check=True)


async def open_service(folder: Path, *manifests: Manifest) -> Service:
    settings = Settings(
        data_dir=folder / "data",
        base_url="http://127.0.0.1:8080",
        admin_email=ADMIN_EMAIL,
        admin_password=Secret(ADMIN_PASSWORD),
        password_cost=(8, 1, 1),
        worker="off",
    )
    service = Service(settings, ManualClock(), (*DOMAINS, *manifests))
    await service.start()
    return service


async def use_domain(folder: Path) -> list[object]:
    """Return what the calls of the recipes' endpoints answer, and what they leave behind."""
    retinue.__path__.append(str(folder))
    manifest = importlib.import_module("retinue.boxes.manifest").manifest
    service = await open_service(folder, manifest)
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


async def use_setting(folder: Path) -> list[object]:
    """Return the setting as an agent, its version, its export, its import and the tenant's file show it."""
    service = await open_service(folder)
    column = CreateColumn(Agent.__table__.c.stop_sequences).compile(dialect=DIALECTS["sqlite"])
    await service.instance.database.apply([(f"ALTER TABLE agents ADD COLUMN {column}", [[]])])
    admin = await People(service).super_admin()
    made = await make_agent(admin, stop_sequences=["END"])
    path = f"/api/v1/agents/{made['id']}"
    refused = await admin.put(path, {"stop_sequences": ["END"] * 5})
    version = await admin.get(f"{path}/versions/1")
    exported = await admin.get(f"{path}/export")
    imported = await admin.post("/api/v1/agents/import", exported.json())
    file = await admin.get("/api/v1/tenant/export?format=json")
    emptied = await admin.put(path, {"stop_sequences": None})
    await service.stop()
    shown = [made, version.json()["snapshot"], exported.json()["agent"], imported.json()["agent"]]
    shown += [next(iter(file.json()["agents"].values())), emptied.json()]
    return [refused.status, *(each["stop_sequences"] for each in shown)]


if __name__ == "__main__":
    target = Path(sys.argv[1])
    if (target / AGENTS).exists():
        found = asyncio.run(use_setting(target))
    else:
        found = asyncio.run(use_domain(target))
    sys.stdout.write(msgspec.json.encode(found).decode())
