"""Addresses at which anyone can fetch one file for a while: signed, so that nothing of them is stored."""

import base64
import hashlib
import hmac
from urllib.parse import urlencode

from retinue.files.errors import FileNotFound
from retinue.files.events import FileShared
from retinue.files.models import File
from retinue.files.queries import find_signed
from retinue.files.schemas import FileUrl, SignedQuery
from retinue.kit.clock import instant_at
from retinue.kit.context import Context

PATH = "/api/v1/public/files"
_KEY_FOR = "file-urls"


def share(ctx: Context, file: File, expires_in: int) -> FileUrl:
    """The key's version goes into the address, which stays good after a rotation while that is kept."""
    expires, version = int(ctx.clock.time()) + expires_in, ctx.instance.ring.active
    query = {"expires": expires, "key": version, "signature": _signature(ctx, file.id, expires, version)}
    shown = instant_at(expires)
    ctx.emit(FileShared.about(file, expires_at=shown))
    return FileUrl(url=f"{ctx.settings.base_url}{PATH}/{file.id}?{urlencode(query)}", expires_at=shown)


async def fetch_shared(ctx: Context, file_id: str, query: SignedQuery) -> File:
    """Whatever is wrong with the address, and whether the file is there, looks the same from outside."""
    if query.expires <= ctx.clock.time() or not _is_ours(ctx, file_id, query):
        raise FileNotFound
    file = await find_signed(ctx, file_id)
    if file is None:
        raise FileNotFound
    return file


def _is_ours(ctx: Context, file_id: str, query: SignedQuery) -> bool:
    if query.key < 1 or not query.signature.isascii():
        return False
    try:
        expected = _signature(ctx, file_id, query.expires, query.key)
    except KeyError:
        return False  # the version of the key is retired, or none of ours
    return hmac.compare_digest(expected, query.signature)


def _signature(ctx: Context, file_id: str, expires: int, version: int) -> str:
    key = ctx.instance.ring.derive(_KEY_FOR, version)
    digest = hmac.new(key, f"{file_id}\n{expires}\n{version}".encode(), hashlib.sha256).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
