"""Accounts that wait for approval, who was vouched for, factors that wait, one form for mail addresses."""

import unicodedata
from typing import Any

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_ADDRESSED = ("id", "tenant_id", "email")
_USERS = sa.table("users", *map(sa.column, _ADDRESSED), sa.column("is_vouched_for", sa.Boolean()))
_INVITATIONS = sa.table("invitations", *map(sa.column, _ADDRESSED))


def upgrade() -> None:
    for column in ("is_pending", "is_vouched_for"):
        op.add_column(
            "users", sa.Column(column, sa.Boolean(), nullable=False, server_default=sa.text("false"))
        )
    for table in ("mfa_devices", "recovery_codes"):
        op.add_column(
            table, sa.Column("trusted_from", types.Text, nullable=False, server_default=sa.text("''"))
        )
    op.create_index(
        "ix_users_is_pending",
        "users",
        ["tenant_id"],
        unique=False,
        sqlite_where=sa.text("is_pending = 1"),
        postgresql_where=sa.text("is_pending"),
    )
    # Whoever has an account already is trusted as before.
    op.execute(sa.update(_USERS).values(is_vouched_for=sa.true()))
    _normalise_addresses(_USERS)
    _normalise_addresses(_INVITATIONS)


def _normalise_addresses(table: Any) -> None:
    """Write addresses in the form in which they are compared from now on.

    Two addresses that become one are left as they are: an administrator has to decide which account stays.
    """
    connection = op.get_bind()
    rows = connection.execute(sa.select(table.c.id, table.c.email, table.c.tenant_id)).all()
    # Users are unique on the instance, invitations in their tenant.
    taken = {_unique_key(table, row.tenant_id, row.email) for row in rows}
    for row in rows:
        email = _kept_form(row.email)
        key = _unique_key(table, row.tenant_id, email)
        if key not in taken:
            taken.add(key)
            connection.execute(
                sa.update(table)
                .where(table.c.id == row.id, table.c.tenant_id == row.tenant_id)
                .values(email=email)
            )


def _kept_form(email: str) -> str:
    """Return what `users.addresses.kept_form` returned when this was written."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", email).strip().lower())
    local, _, domain = text.rpartition("@")
    try:
        return text if domain.isascii() else f"{local}@{domain.encode('idna').decode()}"
    except UnicodeError:
        return text


def _unique_key(table: Any, tenant_id: str, email: str) -> tuple[str, str]:
    return ("" if table is _USERS else tenant_id, email)
