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
_EXPIRED: Statement[Any] = Statement(
    sa.select(_files.c.tenant_id, _files.c.id)
    .where(_files.c.expires_at < sa.bindparam("now", type_=sa.Text()))
    .order_by(_files.c.expires_at, _files.c.id)
    .limit(sa.bindparam("most", type_=sa.BigInteger()))
)


def sees_all(ctx: Context) -> bool:
    """Whether the caller handles everyone's files; others handle their own."""
    return ctx.principal.may("agents:write")


async def find_visible(ctx: Context, file_id: str) -> File | None:
    found = await ctx.db.get(File, file_id)
    return found if found is not None and (sees_all(ctx) or found.created_by == ctx.principal.id) else None


async def page_of_files(ctx: Context, query: FileList) -> Slice[File]:
    own_only = {} if sees_all(ctx) else {"created_by": ctx.principal.id}
    return await FILES.page(ctx.db, query, **own_only)


async def find_avatar(ctx: Context, file_id: str) -> File | None:
    """A picture that anyone may see; any other file is not found by its id alone."""
    return await ctx.system("an avatar's address names no tenant").find(File, id=file_id, purpose=AVATAR)


async def find_signed(ctx: Context, file_id: str) -> File | None:
    """For whoever has proved that the address is one of ours."""
    return await ctx.system("a signed address names no tenant").get(File, file_id)


async def find_expired(ctx: Context, most: int) -> list[tuple[str, str]]:
    """Tenant and id of files whose time is up, oldest first."""
    system = ctx.system("files of every tenant expire")
    return [(row[0], row[1]) for row in await system.rows(_EXPIRED, now=ctx.now, most=most)]


async def known_ids(ctx: Context, ids: Iterable[str]) -> set[str]:
    """Which of these ids are files of any tenant."""
    wanted = sa.select(_files.c.id).where(_files.c.id.in_([sa.literal(id) for id in ids]))
    rows: list[Any] = await ctx.system("the sweep compares every tenant's bytes").rows(Statement(wanted))
    return {row[0] for row in rows}
