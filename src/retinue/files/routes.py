from typing import Annotated

from retinue.adapters.blobs import BlobMissing
from retinue.files import service as files
from retinue.files import signed_urls, uploads
from retinue.files.errors import FileInUse, FileNotFound, RangeNotSatisfiable
from retinue.files.models import File
from retinue.files.queries import find_avatar, find_visible, page_of_files
from retinue.files.schemas import FileDeleteQuery, FileList, FileOut, FileUrl, FileUrlCreate, SignedQuery
from retinue.kit.context import Context
from retinue.kit.errors import UnsupportedFileType, VaultSealed
from retinue.kit.http.replies import Download, Reply
from retinue.kit.http.request import Request
from retinue.kit.http.routing import PUBLIC, PathLoader, Routes, Upload
from retinue.kit.http.uploads import FormData
from retinue.kit.lists import Page

routes = Routes("/api/v1/files", tag="files", wrap=True)
public = Routes("/api/v1/public", tag="files")

FileById = Annotated[File, PathLoader("file_id", find_visible, FileNotFound)]
AvatarById = Annotated[File, PathLoader("avatar_id", find_avatar, FileNotFound)]


@routes.get("", requires="files:read", wrap=False)
async def list_files(ctx: Context, query: FileList) -> Page[FileOut]:
    """List stored files, newest first by default.

    Callers with `agents:write` see all files of the tenant, others the files they uploaded themselves.
    """
    return (await page_of_files(ctx, query)).to_page(FileOut.from_record)


@routes.post(
    "",
    requires="files:write",
    status=201,
    upload=Upload(max_file=uploads.MAX_FILE_BYTES, texts=("purpose",)),
    errors=(UnsupportedFileType,),
)
async def upload_file(ctx: Context, form: FormData) -> FileOut:
    """Upload a file for later use by its `file_id`.

    Its purpose decides size limit and lifetime. Empty files, executables, and files whose content contradicts
    their name are refused with 415.
    """
    return FileOut.from_record(await uploads.upload(ctx, form))


@routes.get("/{file_id}", requires="files:read")
async def get_file(ctx: Context, file: FileById) -> FileOut:  # noqa: ARG001
    """Return the metadata of a file; its content is a separate operation.

    Callers without `agents:write` see only files they uploaded themselves.
    """
    return FileOut.from_record(file)


@routes.get(
    "/{file_id}/content",
    requires="files:read",
    other_status=206,
    errors=(BlobMissing, RangeNotSatisfiable),
)
async def get_file_content(ctx: Context, file: FileById, request: Request) -> Reply[Download]:
    """Download a file as an attachment.

    `Range` and `If-Range` requests are supported; the `ETag` is the hash of the content.
    """
    return await files.serve(ctx, file, request)


@routes.post("/{file_id}/url", requires="files:read", errors=(VaultSealed,))
async def create_file_url(ctx: Context, file: FileById, body: FileUrlCreate) -> FileUrl:
    """Create a URL from which anyone can download the file for a limited time.

    It cannot be revoked, except by deleting the file.
    """
    return signed_urls.share(ctx, file, body.expires_in)


@routes.delete("/{file_id}", requires="files:write", status=204, errors=(FileInUse,))
async def delete_file(ctx: Context, file: FileById, query: FileDeleteQuery) -> None:
    """Delete a file and its content.

    If something uses it: 409 `file_in_use`, with the users in `details`, unless `force` is set.
    """
    await files.delete(ctx, file, is_forced=query.force)


@public.get(
    "/files/{file_id}",
    requires=PUBLIC,
    other_status=206,
    errors=(FileNotFound, BlobMissing, RangeNotSatisfiable, VaultSealed),
)
async def get_shared_file(
    ctx: Context, file_id: str, query: SignedQuery, request: Request
) -> Reply[Download]:
    """Download a file from a signed URL that `POST /api/v1/files/{file_id}/url` returned.

    Expired or altered URLs and deleted files all answer 404.
    """
    return await files.serve(ctx, await signed_urls.fetch_shared(ctx, file_id, query), request)


@public.get("/avatars/{avatar_id}", requires=PUBLIC, errors=(BlobMissing,))
async def get_avatar(ctx: Context, file: AvatarById) -> Download:
    """Return a profile picture for display in a page.

    The URL changes with the picture, so the response may be cached for a year.
    """
    return await files.content(ctx, file, inline=True, cache="public, max-age=31536000, immutable")
