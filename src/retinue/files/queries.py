from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from retinue.files.models import File
from retinue.kit.context import Context
from retinue.kit.db.statements import Statement

AVATAR = "avatar"

_files = File.__table__


async def find_avatar(ctx: Context, file_id: str) -> File | None:
    """A picture that anyone may see; any other file is not found by its id alone."""
    return await ctx.system("an avatar's address names no tenant").find(File, id=file_id, purpose=AVATAR)


async def known_ids(ctx: Context, ids: Iterable[str]) -> set[str]:
    """Which of these ids are files of any tenant."""
    wanted = sa.select(_files.c.id).where(_files.c.id.in_([sa.literal(id) for id in ids]))
    rows: list[Any] = await ctx.system("the sweep compares every tenant's bytes").rows(Statement(wanted))
    return {row[0] for row in rows}
