"""Refused tokens are counted, and received payloads know the conversations that they quote.

What was stored before is marked as far as it can be told: names of files that were uploaded, and events of a
tenant that its own webhook delivered to it, quote a conversation that is not named (`*`).
"""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None
# Servers of the version before write file names and own deliveries without the mark that hides them, and on
# PostgreSQL they wait while the whole event log is read.
is_safe_beside_previous = False

_UNNAMED = """UPDATE {table} SET conversation_ids = '["*"]' WHERE conversation_ids IS NULL AND {condition}"""
# The body of a delivery as it was received: it begins with the event's id and names the tenant.
_OWN_EVENT = (
    """substr(payload, 1, 11) = '{"id":"evt_' """
    """AND replace(payload, '"tenant_id":"' || tenant_id || '"', '') <> payload"""
)
_LARGE_OWN = f"SELECT id FROM incoming_large_payloads WHERE {_OWN_EVENT}"  # noqa: S608  no input
_OWN_PAYLOADS = "SELECT {column} FROM incoming_events WHERE conversation_ids IS NOT NULL"
_QUOTED_BEFORE = (
    ("event_log", "type IN ('system.file.uploaded', 'system.file.deleted')"),
    ("incoming_events", _OWN_EVENT),
    ("incoming_events", f"id IN ({_LARGE_OWN})"),
    ("event_log", f"id IN ({_OWN_PAYLOADS.format(column='event_id')})"),
    (
        "workflow_executions",
        f"\"trigger\" = 'webhook' AND trigger_id IN ({_OWN_PAYLOADS.format(column='id')})",
    ),
)


def upgrade() -> None:
    op.add_column("incoming_events", sa.Column("conversation_ids", types.Json(), nullable=True))
    for statement in marks():
        op.execute(statement)
    op.create_table(
        "token_refusals",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("account_id", types.Text, nullable=False),
        sa.Column("error", types.Text, nullable=False),
        sa.Column("reason", types.Text, nullable=False),
        sa.Column("hour", types.Text, nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("since", types.Text, nullable=False),
        sa.Column("ip_address", types.Text, nullable=False),
        sa.Column("user_agent", types.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "account_id"],
            ["service_accounts.tenant_id", "service_accounts.id"],
            name=op.f("fk_token_refusals_tenant_id_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_token_refusals")),
        sa.UniqueConstraint(
            "tenant_id", "account_id", "reason", name=op.f("uq_token_refusals_tenant_id_account_id_reason")
        ),
    )


def marks() -> list[str]:
    """Return the statements that mark what was stored before, in their order."""
    return [_UNNAMED.format(table=table, condition=condition) for table, condition in _QUOTED_BEFORE]


def downgrade() -> None:
    op.drop_column("incoming_events", "conversation_ids")
    op.drop_table("token_refusals")
