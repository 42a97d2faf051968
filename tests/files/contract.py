"""Objects and calls of files for the contract tests."""

from collections.abc import Collection

from retinue.files.models import File
from tests.client import Api
from tests.contract.knowledge import Call, DomainContract, Scene, World
from tests.factories.uploads import upload_file


async def _make(world: World) -> dict[str, str]:
    file = File(filename=world.name, mime_type="text/plain", size_bytes=1, sha256="x", purpose="tool")
    return {"file_id": (await world.ctx.db.insert(file)).id}


async def _upload(person: Api, wanted: Collection[str]) -> dict[str, str]:
    return {"file_id": await upload_file(person)} if "file_id" in wanted else {}


CONTRACT = DomainContract(records=(File,), make=_make, upload=_upload)


@CONTRACT.writes()
async def create_file_url(scene: Scene) -> Call:
    return Call(scene.me, {"expires_in": 60}, {"file_id": await upload_file(scene.me)})
