"""Mail to people outside the tenant: off until the tenant allows their domains, and limited per day."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from retinue.kit.context import Context
from retinue.kit.db.statements import Statement
from retinue.kit.errors import Invalid
from retinue.kit.ids import new_id
from retinue.notifications.errors import OutsiderLimitReached, RecipientNotAllowed
from retinue.notifications.models import OutsiderMailCount
from retinue.tenants.models import MailToOutsiders
from retinue.tenants.queries import own_tenant
from retinue.users.email_addresses import normalize_email, validate_email
from retinue.users.queries import find_verified_users

_DAY_LENGTH = len("2026-11-15")
_MAIL_IS_OFF = (
    "Mail to addresses outside the organization is off. "
    "Allow their domains with PATCH /api/v1/tenant and mail_to_outsiders."
)

_counts = OutsiderMailCount.__table__


def _count_statement() -> Statement[Any]:
    given = {
        name: sa.bindparam(name, type_=_counts.c[name].type)
        for name in OutsiderMailCount.__struct_fields__
        if name != "tenant_id"
    }
    insert = postgresql.insert(_counts).values(given)
    total = _counts.c.mails + insert.excluded.mails
    return Statement(
        insert.on_conflict_do_update(
            index_elements=["tenant_id", "day"],
            set_={"mails": total, "updated_at": insert.excluded.updated_at},
            where=total <= sa.bindparam("per_day", type_=sa.BigInteger()),
        ).returning(_counts.c.mails)
    )


_COUNT = _count_statement()


async def find_outsiders(ctx: Context, addresses: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the ids of the users with these addresses, and the normalized addresses that are no user's."""
    wanted = []
    for address in addresses:
        wanted.append(normalize_email(address))
        try:
            validate_email(wanted[-1])
        except Invalid:
            raise RecipientNotAllowed(f"{address[:100]!r} is not an email address.") from None
    users = await find_verified_users(ctx, wanted) if wanted else {}
    return [*users.values()], [address for address in dict.fromkeys(wanted) if address not in users]


async def require_allowed(ctx: Context, outsiders: Sequence[str]) -> MailToOutsiders:
    """Return the tenant's rule; refuse addresses that it does not allow."""
    rule = (await own_tenant(ctx)).mail_to_outsiders
    if rule is None:
        raise RecipientNotAllowed(_MAIL_IS_OFF)
    refused = [address for address in outsiders if not _is_allowed(address, rule)]
    if refused:
        raise RecipientNotAllowed(
            f"The organization allows no mail to {', '.join(refused[:5])}. "
            "Add the domain with PATCH /api/v1/tenant and mail_to_outsiders."
        )
    return rule


def _is_allowed(address: str, rule: MailToOutsiders) -> bool:
    domain = address.rpartition("@")[2]
    return any(
        allowed in ("*", domain) or (allowed.startswith("*.") and domain.endswith(allowed.removeprefix("*")))
        for allowed in rule.domains
    )


async def count_mails(ctx: Context, mails: int, rule: MailToOutsiders) -> None:
    """Count mails of this day in the caller's transaction; refuse all of them where the limit is exceeded."""
    now = ctx.now
    counted = mails <= rule.per_day and await ctx.db.execute(
        _COUNT,
        id=new_id(OutsiderMailCount.__prefix__),
        created_at=now,
        updated_at=now,
        day=now[:_DAY_LENGTH],
        mails=mails,
        per_day=rule.per_day,
    )
    if not counted:
        raise OutsiderLimitReached(f"The organization allows {rule.per_day} mails a day to outsiders.")
