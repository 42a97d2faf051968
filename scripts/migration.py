"""Write the next migration from the difference between the migrations and the declared records.

    make migration NAME="add agents"

The file is a draft: read it, and write what a machine cannot see (renames, data) by hand.
"""

import re
import sys
import tempfile
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.script import Script

from retinue import domains
from retinue.migrations.upgrade import alembic_config, head

VERSIONS = Path(domains.__file__).parent / "migrations" / "versions"


def main(name: str) -> None:
    slug = re.sub(r"\W+", "_", name.lower()).strip("_")
    number = f"{int(head()) + 1:04d}"
    with tempfile.TemporaryDirectory() as folder:
        engine = sa.create_engine(f"sqlite:///{folder}/draft.db")
        with engine.connect() as connection:
            config = alembic_config(connection)
            command.upgrade(config, "head")
            made = command.revision(config, message=name, autogenerate=True, rev_id=number)
        engine.dispose()
    assert isinstance(made, Script)
    written = Path(made.path)
    written.rename(VERSIONS / f"{number}_{slug}.py")
    sys.stdout.write(f"wrote {VERSIONS / f'{number}_{slug}.py'}\n")


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
