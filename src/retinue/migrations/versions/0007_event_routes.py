"""Events find their way: job lanes, and tenants that are listened to."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    ready = sa.text("state = 'ready'")
    op.drop_index("ix_jobs_lanes", "jobs")
    op.add_column("jobs", sa.Column("lane", types.Text, nullable=False, server_default=sa.text("''")))
    op.create_index(
        "ix_jobs_lanes",
        "jobs",
        ["queue", "tenant_id", "priority", "lane", "run_at"],
        sqlite_where=ready,
        postgresql_where=ready,
    )
    op.add_column(
        "tenants", sa.Column("is_listened_to", sa.Boolean(), nullable=False, server_default=sa.text("false"))
    )
    op.drop_index("ix_event_log_waiting", "event_log")
    op.create_index(
        "ix_event_log_waiting",
        "event_log",
        ["tenant_id", "created_at", "position"],
        sqlite_where=sa.text("is_dispatched = 0"),
        postgresql_where=sa.text("NOT is_dispatched"),
    )
