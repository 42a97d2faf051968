"""Give tenants a language for new accounts."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None
is_safe_beside_previous = True


def upgrade() -> None:
    op.add_column("tenants", sa.Column("language", types.Text, nullable=True))
