"""Give embed keys a limit for each visitor, and widgets a logo, links and a second colour."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0066"
down_revision = "0065"
branch_labels = None
depends_on = None
is_safe_beside_previous = True

_WIDGET_COLUMNS = ("second_accent", "lead", "logo_url", "contact_url", "privacy_url", "imprint_url")


def upgrade() -> None:
    op.add_column("embed_keys", sa.Column("rate_limit_per_visitor", sa.BigInteger(), nullable=True))
    for name in _WIDGET_COLUMNS:
        op.add_column("widget_designs", sa.Column(name, types.Text, nullable=True))
