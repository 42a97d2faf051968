"""Content that was converted before, and the vectors by which an agent's functions are found."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None
is_safe_beside_previous = True


def upgrade() -> None:
    op.add_column("file_derivatives", sa.Column("content_key", types.Text, nullable=False, server_default=""))
    op.create_index(
        "ix_file_derivatives_tenant_id_content_key",
        "file_derivatives",
        ["tenant_id", "content_key"],
        unique=False,
    )
    op.create_table(
        "function_vectors",
        sa.Column("id", types.Text, nullable=False),
        sa.Column("created_at", types.Text, nullable=False),
        sa.Column("updated_at", types.Text, nullable=False),
        sa.Column("tenant_id", types.Text, nullable=False),
        sa.Column("model", types.Text, nullable=False),
        sa.Column("text_key", types.Text, nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", "tenant_id", name=op.f("pk_function_vectors")),
        sa.UniqueConstraint(
            "tenant_id", "model", "text_key", name=op.f("uq_function_vectors_tenant_id_model_text_key")
        ),
    )
    op.create_index(op.f("ix_function_vectors_created_at"), "function_vectors", ["created_at"], unique=False)


def downgrade() -> None:
    op.drop_table("function_vectors")
    op.drop_index("ix_file_derivatives_tenant_id_content_key", "file_derivatives")
    with op.batch_alter_table("file_derivatives") as changes:
        changes.drop_column("content_key")
