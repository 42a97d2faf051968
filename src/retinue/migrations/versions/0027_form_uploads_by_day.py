"""The uploads of a form by time, for its quota of a day."""

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_form_uploads_tenant_id_form_id_created_at", "form_uploads", ["tenant_id", "form_id", "created_at"]
    )
