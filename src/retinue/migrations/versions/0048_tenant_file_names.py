"""The names that a tenant's file gives to records."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

_TABLE = "tenant_file_names"


def upgrade() -> None:
    names = ("id", "created_at", "updated_at", "tenant_id", "section", "name", "record_id")
    op.create_table(
        _TABLE,
        *(sa.Column(name, types.Text, nullable=False) for name in names),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f(f"pk_{_TABLE}")),
        sa.UniqueConstraint("tenant_id", "section", "name", name=op.f(f"uq_{_TABLE}_tenant_id_section_name")),
        sa.UniqueConstraint(
            "tenant_id", "section", "record_id", name=op.f(f"uq_{_TABLE}_tenant_id_section_record_id")
        ),
    )


def downgrade() -> None:
    op.drop_table(_TABLE)
