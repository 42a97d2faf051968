"""Our side: the whole product plus the domain of bench/notes.py.

python -m bench.ours PORT
"""

import asyncio
import os
import sys
from pathlib import Path

import uvloop
from sqlalchemy.schema import CreateIndex, CreateTable

from bench.notes import Note, manifest
from retinue.app import Service
from retinue.domains import DOMAINS
from retinue.kit.db.databases import database_for
from retinue.kit.db.engine import Database
from retinue.kit.db.statements import DIALECTS
from retinue.kit.http.server import ConnectionLimits, serve
from retinue.kit.logging import configure_logging
from retinue.kit.setting_loader import load_settings
from retinue.kit.settings import Settings
from retinue.wiring import server_settings


async def create_table(database: Database) -> None:
    dialect = DIALECTS[database.dialect]
    connection = await database.begin()
    await connection.execute("DROP TABLE IF EXISTS bench_notes", [])
    await connection.execute(str(CreateTable(Note.__table__).compile(dialect=dialect)), [])
    for index in Note.__table__.indexes:
        await connection.execute(str(CreateIndex(index).compile(dialect=dialect)), [])
    await database.commit(connection)


async def main(port: int, settings: Settings) -> None:
    database = database_for(settings)
    await database.open()
    await create_table(database)
    await database.close()
    service = Service(server_settings(settings, [("127.0.0.1", port)]), manifests=(*DOMAINS, manifest))
    await serve(
        service,
        host="127.0.0.1",
        port=port,
        limits=ConnectionLimits(uncounted_peers=("127.0.0.0/8",)),
        on_bound=lambda _addresses: None,
        shutting_down=asyncio.Event(),
    )


if __name__ == "__main__":
    settings, _ = load_settings(os.environ)
    Path(settings.data_dir).mkdir(parents=True, exist_ok=True)
    configure_logging(settings)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main(int(sys.argv[1]), settings))
