"""Names of people and of what acts in their place, by the ids that records hold or by a part of the name."""

from collections.abc import Iterable
from typing import Any

import sqlalchemy as sa

from retinue.access.models import Role
from retinue.kit.context import Context
from retinue.kit.db.in_list import in_list, list_parameter
from retinue.kit.db.statements import Statement, record_statement
from retinue.kit.db.text_match import contains_text, contains_text_parameters
from retinue.kit.errors import Invalid
from retinue.kit.text.search import fold_case
from retinue.users.admission import admitted_users
from retinue.users.models import User
from retinue.users.schemas import MAX_FOUND_NAMES, MAX_NAMES, MIN_SEARCH_LENGTH, NamedKind, NameOut, NameQuery

_KINDS: dict[str, NamedKind] = {"usr": "user", "sac": "service_account", "ek": "embed_key"}
"""The kinds of actors that have a name, by the prefix of their ids."""

_users = User.__table__
_SUPER_ADMINS = record_statement(
    User, sa.select(_users).where(in_list(_users.c.id, "ids"), _users.c.role == Role.super_admin.value)
)


async def find_names(ctx: Context, query: NameQuery) -> list[NameOut]:
    """Return the names of the tenant's users, service accounts and embed keys with these ids.

    Super administrators act in every tenant, so their names are found in every one. Other ids are left out.
    With `search`, return the users of the tenant whose name contains it.
    """
    if query.search is not None:
        return await _find_colleagues(ctx, query)
    ids = list(dict.fromkeys(part.strip() for part in query.ids.split(",") if part.strip()))
    if not 0 < len(ids) <= MAX_NAMES:
        raise Invalid({"ids": f"must be 1 to {MAX_NAMES} ids, separated by commas"})
    names = [NameOut.from_record(user, "user") for user in await _find_super_admins(ctx, ids)]
    for record in ctx.instance.registry.records:
        kind = _KINDS.get(record.__prefix__)
        if kind is not None:
            found = await _find(ctx, record, [id for id in ids if id.startswith(f"{record.__prefix__}_")])
            names += [NameOut.from_record(one, kind) for one in found]
    by_id = {name.id: name for name in names}
    return [by_id[id] for id in ids if id in by_id]


async def _find_colleagues(ctx: Context, query: NameQuery) -> list[NameOut]:
    """Return active users by a part of the name that they are shown with."""
    text = (query.search or "").strip()
    if query.ids:
        raise Invalid({"search": "cannot be combined with ids"})
    if len(text) < MIN_SEARCH_LENGTH:
        raise Invalid({"search": f"must be at least {MIN_SEARCH_LENGTH} characters"})
    full_name = _users.c.first_name + " " + _users.c.last_name
    is_nameless = sa.and_(_users.c.first_name == "", _users.c.last_name == "")
    statement: Statement[User] = record_statement(
        User,
        sa.select(_users)
        .where(
            admitted_users(ctx.settings),
            sa.or_(
                contains_text(full_name, "name"), sa.and_(is_nameless, contains_text(_users.c.email, "name"))
            ),
        )
        .order_by(_users.c.first_name, _users.c.last_name, _users.c.email)
        .limit(MAX_FOUND_NAMES),
    )
    found = await ctx.db.rows(statement, **contains_text_parameters("name", text))
    names = [NameOut.from_record(user, "user") for user in found]
    # An account without a name is found by the part of its address that is shown, not by the rest of it.
    return [one for one in names if fold_case(text) in fold_case(one.name)]


async def _find(ctx: Context, record: Any, ids: list[str]) -> list[Any]:
    if not ids:
        return []
    table = record.__table__
    statement = record_statement(record, sa.select(table).where(in_list(table.c.id, "ids")))
    return await ctx.db.rows(statement, ids=list_parameter(ids))


async def _find_super_admins(ctx: Context, ids: Iterable[str]) -> list[User]:
    system = ctx.system("super administrators act in every tenant")
    return await system.rows(_SUPER_ADMINS, ids=list_parameter(ids))
