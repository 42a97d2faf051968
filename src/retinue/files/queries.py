from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from retinue.files.models import File, Purpose
from retinue.files.schemas import FileList
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.lists import Listing, Slice

AVATAR = Purpose.avatar.value

_files = File.__table__

FILES = Listing(
    File,
    searches=("filename",),
    sorts=("created_at", "filename", "size_bytes", "expires_at"),
    filters=("purpose", "mime_type"),
    from_={"from_": "created_at"},
    until={"to": "created_at"},
)
_EXPIRED = Statement(
    sa.select(_files.c.tenant_id, _files.c.id)
    .where(_files.c.expires_at < sa.bindparam("now", type_=sa.Text()))
    .order_by(_files.c.expires_at, _files.c.id)
    .limit(sa.bindparam("limit", type_=sa.BigInteger()))
)


def may_manage_all(ctx: Context) -> bool:
    """Return whether the caller may manage all files of the tenant, not only their own."""
    return ctx.principal.may("agents:write")


async def find_visible(ctx: Context, file_id: str) -> File | None:
    file = await ctx.db.get(File, file_id)
    return file if file is not None and (may_manage_all(ctx) or file.created_by == ctx.principal.id) else None


async def page_of_files(ctx: Context, query: FileList) -> Slice[File]:
    own_only = {} if may_manage_all(ctx) else {"created_by": ctx.principal.id}
    return await FILES.page(ctx.db, query, **own_only)


async def find_avatar(ctx: Context, file_id: str) -> File | None:
    """Return a picture that anyone may see. Other files cannot be fetched by their id alone."""
    return await ctx.system("an avatar's address names no tenant").find(File, id=file_id, purpose=AVATAR)


async def find_signed(ctx: Context, file_id: str) -> File | None:
    """Return a file of any tenant; the caller has verified the signature of the URL."""
    return await ctx.system("a signed address names no tenant").get(File, file_id)


async def find_expired(ctx: Context, limit: int) -> list[tuple[str, str]]:
    """Return tenant and id of expired files, oldest first."""
    system = ctx.system("files of every tenant expire")
    return [(row[0], row[1]) for row in await system.rows(_EXPIRED, now=ctx.now, limit=limit)]


async def known_ids(ctx: Context, ids: Iterable[str]) -> set[str]:
    """Return those of the ids that are files of any tenant."""
    wanted = sa.select(_files.c.id).where(_files.c.id.in_([sa.literal(id) for id in ids]))
    rows: list[Any] = await ctx.system("the sweep compares every tenant's bytes").rows(Statement(wanted))
    return {row[0] for row in rows}
