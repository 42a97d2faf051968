"""Display names of records of any domain, found by their id."""

from typing import Any

from retinue.kit.context import Context
from retinue.kit.db.models import TenantRecord

# Users have no `name` and are shown by their address.
_FIELDS = ("name", "email")


async def find_display_name(ctx: Context, id: str | None) -> str | None:
    """Return the name of the tenant's record with this id; None if it was deleted or has no name."""
    if not id:
        return None
    record = _record_of(ctx, id.partition("_")[0])
    found = await ctx.db.get(record, id) if record is not None else None
    named = (getattr(found, field) for field in _FIELDS if found is not None and hasattr(found, field))
    # On one line, so that a name cannot add lines to the text around it.
    return next((" ".join(str(name).split()) for name in named), None)


def _record_of(ctx: Context, prefix: str) -> Any:
    return next(
        (
            record
            for record in ctx.instance.registry.records
            if issubclass(record, TenantRecord) and record.__prefix__ == prefix
        ),
        None,
    )
