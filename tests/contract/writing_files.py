"""How the routes of files that take a body are called so that they succeed, and what that may change."""

from tests.contract.world import upload_file
from tests.contract.writing import Call, Scene, writes


@writes()
async def create_file_url(scene: Scene) -> Call:
    return Call(scene.me, {"expires_in": 60}, {"file_id": await upload_file(scene.me)})
