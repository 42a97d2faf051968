"""This version with one more migration: what an operator installs beside a server that still runs."""

from pathlib import Path

import retinue
from retinue.migrations.upgrade import head

REVISION = "9001"
_MIGRATION = '''"""A column that nobody reads."""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{previous}"
branch_labels = None
depends_on = None
is_safe_beside_previous = {is_safe}


def upgrade() -> None:
    op.add_column("tenants", sa.Column("planted", sa.Text(), nullable=True))
'''


def make_newer_version(folder: Path, *, is_safe: bool) -> dict[str, str]:
    """Return the environment in which Python imports a newer version: links, and one more migration."""
    source, copy = Path(retinue.__file__).parent, folder / "newer" / "retinue"
    _link_all(source, copy, but="migrations")
    _link_all(source / "migrations", copy / "migrations", but="versions")
    versions = copy / "migrations" / "versions"
    _link_all(source / "migrations" / "versions", versions)
    text = _MIGRATION.format(revision=REVISION, previous=head(), is_safe=is_safe)
    (versions / f"{REVISION}_planted.py").write_text(text)
    return {"PYTHONPATH": str(copy.parent)}


def _link_all(source: Path, target: Path, but: str = "") -> None:
    target.mkdir(parents=True)
    for path in source.iterdir():
        if path.name not in {but, "__pycache__"}:
            (target / path.name).symlink_to(path)
