"""Prices of speech by characters and of transcriptions by minutes, beside those of tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None
is_safe_beside_previous = True

_TABLES = ("model_prices", "instance_model_prices")
_COLUMNS = ("speech_price_per_mchar", "transcription_price_per_minute")


def upgrade() -> None:
    for table in _TABLES:
        for column in _COLUMNS:
            op.add_column(table, sa.Column(column, sa.Double(), nullable=True))


def downgrade() -> None:
    for table in _TABLES:
        for column in _COLUMNS:
            op.drop_column(table, column)
