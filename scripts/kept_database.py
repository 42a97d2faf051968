"""Makes what a release leaves to the upgrade suite: tests/upgrade/<version>/<kind>.tar.xz.

Run it once for each release, at its tag: `scripts/kept_database.py`, and for PostgreSQL with
`RETINUE_TEST_DATABASE_URL`. It starts the product, calls every operation that writes through the API, and
keeps a backup of the result. A kept file is never made again: it shows what that release wrote.
"""

import asyncio
import dataclasses
import lzma
import os
import sys
import tempfile
from pathlib import Path

from retinue import __version__
from retinue.app import Service
from retinue.cli.backups.create import create_backup
from retinue.cli.backups.manifest import BackupManifest
from retinue.kit.clock import ManualClock
from retinue.kit.errors import RetinueError
from retinue.kit.logging import configure_logging
from retinue.kit.secrets import Secret
from retinue.kit.settings import Settings
from retinue.tenants.models import Tenant
from tests.adapters.llm_server import provider_server
from tests.client import Api
from tests.contract.domains import WRITES
from tests.contract.knowledge import Scene, World
from tests.contract.routes import ROUTES, call
from tests.contract.world import fill_world
from tests.e2e.processes import drop_database, make_database
from tests.factories.people import ADMIN_EMAIL, ADMIN_PASSWORD, People
from tests.factories.uploads import upload_avatar
from tests.upgrade.kept import FOLDER, KEPT_AT, KEPT_CREDENTIAL, KEPT_EMAIL, KEPT_KEY, KEPT_SECRET

MAX_KEPT_BYTES = 200_000
configure_logging(Settings(log_level="error"))
SERVER = os.environ.get("RETINUE_TEST_DATABASE_URL", "")
# The budgets of the first tenant refuse a model without a price.
WITHOUT_BUDGET = {"chat", "chat_stream", "chat_async", "chat_tts", "rate_message", "rename_conversation"}
# They end sessions, or need an instance that nobody has set up.
LEFT_OUT = {"set_up_instance", "logout", "change_password", "delete_account"}


async def fill(service: Service, clock: ManualClock) -> list[str]:
    """Write rows of every domain; return the operations that refused, which others have covered."""
    people = People(service)
    admin = await people.super_admin()
    tenant = await people.tenant("Kept")
    other = await people.tenant("Kept as well")
    user = await people.user("tenant_admin", tenant, email=KEPT_EMAIL)
    me = await people.sign_in(user)
    await upload_avatar(me)
    await keep_secret(me)
    async with people.context(user.tenant_id) as ctx:
        await fill_world(World(ctx, user, user, "Kept"))
    refused = []
    async with provider_server() as provider:
        # Not the first one, whose second factor is made up.
        caller = await people.user("tenant_admin", tenant)
        scene = Scene(
            service, clock, people, people.api, admin, caller, await people.sign_in(caller), provider
        )
        for route in ROUTES:
            if route.name not in WRITES or route.name in LEFT_OUT or route.method == "DELETE":
                continue
            scene = await signed_in(scene, tenant if route.name not in WITHOUT_BUDGET else other)
            try:
                prepared = await WRITES[route.name].prepare(scene)
                answer = await call(prepared.caller, route, prepared.path, json=prepared.body)
            except (AssertionError, LookupError, TypeError, RetinueError) as error:
                refused.append(f"{route.name}: {error!r:.120}")
                continue
            if answer.status >= 300:
                refused.append(f"{route.name}: {answer!r:.160}")
        async with asyncio.timeout(120):
            await service.runner.drain()
    return refused


async def signed_in(scene: Scene, tenant: Tenant) -> Scene:
    """Return the scene with a caller of this tenant; some operations end every session of their caller."""
    answer = await scene.me.get("/api/v1/service-accounts")  # a role that some operation changed may not
    if scene.user.tenant_id == tenant.id and answer.status == 200:
        return scene
    user = await scene.people.user("tenant_admin", tenant)
    return dataclasses.replace(scene, user=user, me=await scene.people.sign_in(user))


async def keep_secret(person: Api) -> None:
    body = {"name": KEPT_CREDENTIAL, "type": "api_key", "secrets": {"api_key": KEPT_SECRET}}
    answer = await person.post("/v1/credentials", json=body)
    if answer.status != 201:
        raise SystemExit(f"the credential was not created: {answer}")


async def make(folder: Path, database_url: str) -> BackupManifest:
    clock = ManualClock(KEPT_AT)
    settings = Settings(
        data_dir=folder / "data",
        database_url=database_url,
        base_url="http://127.0.0.1:8080",
        admin_email=ADMIN_EMAIL,
        admin_password=Secret(ADMIN_PASSWORD),
        master_key=Secret(KEPT_KEY),
        password_cost=(8, 1, 1),
        worker="off",
    )
    service = Service(settings, clock)
    await service.start()
    try:
        for line in await fill(service, clock):
            print(f"refused: {line}")
        done = await asyncio.to_thread(create_backup, settings, folder / "kept.tar", None, 0)
    finally:
        await service.stop()
    return done.manifest


async def run(folder: Path) -> BackupManifest:
    if not SERVER:
        return await make(folder, "")
    name = f"retinue_kept_{os.getpid()}"
    try:
        return await make(folder, await make_database(SERVER, name))
    finally:
        await drop_database(SERVER, name)


def main() -> None:
    kind = "postgresql" if SERVER else "sqlite"
    target = FOLDER / __version__ / f"{kind}.tar.xz"
    if target.exists() and "--again" not in sys.argv:
        sys.exit(f"{target} exists: what a release wrote is never made again")
    with tempfile.TemporaryDirectory() as folder:
        manifest = asyncio.run(run(Path(folder)))
        content = lzma.compress(Path(folder, "kept.tar").read_bytes(), preset=9 | lzma.PRESET_EXTREME)
    empty = [table for table, rows in manifest.database.tables.items() if not rows]
    print(f"{manifest.row_count} rows, {len(manifest.files)} files, {len(content):,} bytes compressed")
    print(f"without rows: {', '.join(empty)}")
    if len(content) > MAX_KEPT_BYTES:
        sys.exit(f"larger than {MAX_KEPT_BYTES:,} bytes")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


if __name__ == "__main__":
    main()
