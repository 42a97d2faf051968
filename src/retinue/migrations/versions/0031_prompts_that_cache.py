"""The calls that a model asked for, an agent's cache and time limits, and values that are not sent."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("messages", sa.Column("rounds", types.Json(), nullable=True))
    op.add_column("agents", sa.Column("cache_ttl", types.Text, nullable=False, server_default="5m"))
    op.add_column("agents", sa.Column("timeouts", types.Json(), nullable=False, server_default="{}"))
    _make_nullable("temperature", sa.Double())
    _make_nullable("max_tokens", sa.BigInteger())


def _make_nullable(column: str, type: sa.Double[float] | sa.BigInteger) -> None:
    """Replace the column: SQLite cannot change whether one may be empty."""
    op.add_column("agents", sa.Column(f"new_{column}", type, nullable=True))
    op.execute(f"UPDATE agents SET new_{column} = {column}")  # noqa: S608  no input
    op.drop_column("agents", column)
    op.execute(f"ALTER TABLE agents RENAME COLUMN new_{column} TO {column}")
