"""Signed URLs from which anyone can download one file for a limited time. Nothing is stored for them."""

import base64
import hashlib
import hmac
from urllib.parse import urlencode

from retinue.files.errors import FileNotFound
from retinue.files.events import FileShared
from retinue.files.models import File
from retinue.files.queries import find_signed
from retinue.files.schemas import FileUrl, SignedQuery
from retinue.kit.clock import instant_from_timestamp
from retinue.kit.context import Context

PATH = "/api/v1/public/files"
_KEY_PURPOSE = "file-urls"


def share(ctx: Context, file: File, expires_in: int) -> FileUrl:
    """Create a URL that names its key version, so that it outlives a rotation while that version is kept."""
    expires, version = int(ctx.clock.time()) + expires_in, ctx.instance.ring.active
    query = {"expires": expires, "key": version, "signature": _signature(ctx, file.id, expires, version)}
    expires_at = instant_from_timestamp(expires)
    ctx.emit(FileShared.about(file, expires_at=expires_at))
    return FileUrl(url=f"{ctx.settings.base_url}{PATH}/{file.id}?{urlencode(query)}", expires_at=expires_at)


async def fetch_shared(ctx: Context, file_id: str, query: SignedQuery) -> File:
    """Return the file of a signed URL. A bad URL and a missing file raise the same error."""
    if query.expires <= ctx.clock.time() or not _is_valid_signature(ctx, file_id, query):
        raise FileNotFound
    file = await find_signed(ctx, file_id)
    if file is None:
        raise FileNotFound
    return file


def _is_valid_signature(ctx: Context, file_id: str, query: SignedQuery) -> bool:
    if query.key < 1 or not query.signature.isascii():
        return False
    try:
        expected = _signature(ctx, file_id, query.expires, query.key)
    except KeyError:
        return False  # this key version is retired or unknown
    return hmac.compare_digest(expected, query.signature)


def _signature(ctx: Context, file_id: str, expires: int, version: int) -> str:
    key = ctx.instance.ring.derive(_KEY_PURPOSE, version)
    digest = hmac.new(key, f"{file_id}\n{expires}\n{version}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
