"""Files of the tenant: listed by age, and removed when their time is up."""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(op.f("ix_files_tenant_id_created_at"), "files", ["tenant_id", "created_at"], unique=False)
    op.create_index(op.f("ix_files_expires_at"), "files", ["expires_at"], unique=False)
