from typing import Annotated

from retinue.adapters.blobs import BlobMissing
from retinue.files import service as files
from retinue.files.errors import FileNotFound
from retinue.files.models import File
from retinue.files.queries import find_avatar
from retinue.kit.context import Context
from retinue.kit.http.replies import Download
from retinue.kit.http.routing import PUBLIC, Loaded, Routes

routes = Routes("/api/v1/public", tag="files")

AvatarById = Annotated[File, Loaded("file_id", find_avatar, FileNotFound)]


@routes.get("/avatars/{file_id}", requires=PUBLIC, errors=(BlobMissing,))
async def get_avatar(ctx: Context, file: AvatarById) -> Download:
    return await files.content(ctx, file, inline=True, cache="public, max-age=31536000, immutable")
