"""${message.capitalize()}."""

import sqlalchemy as sa
from alembic import op

from retinue.kit.db import types
${imports if imports else ""}

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None
# True only if servers of the version before go on working beside this schema: it adds, and removes nothing.
is_safe_beside_previous = False


def upgrade() -> None:
    ${upgrades if upgrades else "pass"}
