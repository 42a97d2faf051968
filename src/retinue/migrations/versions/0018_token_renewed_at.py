"""When an access token was got: one of a short life is renewed at half of it."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("credentials", sa.Column("token_renewed_at", types.Text, nullable=True))
