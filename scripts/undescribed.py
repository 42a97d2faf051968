"""List what the API reference does not describe yet: python scripts/undescribed.py agents chat."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.contract.descriptions import document, find_missing, packages


def main() -> None:
    wanted = set(sys.argv[1:])
    owners = packages()
    gaps = [
        f"{owners.get(name, 'kit')}: {gap}"
        for name, gap in find_missing(document())
        if not wanted or owners.get(name, "kit") in wanted
    ]
    print("\n".join([*gaps, f"{len(gaps)} gaps"]))


if __name__ == "__main__":
    main()
