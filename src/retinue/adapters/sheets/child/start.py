"""Starts the child: `python -I -S start.py SOURCE PARENT FORMAT SKIP`."""

import os
import sys
from types import ModuleType

# Packages whose own first module would load the server's side of them.
_HOLLOW = ("retinue.adapters.sheets", "retinue.adapters.sandbox")


def main() -> None:
    # uvloop hands on every inheritable descriptor the server was started with.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    source, *arguments = sys.argv[1:]
    sys.path.append(source)
    for name in _HOLLOW:
        package = ModuleType(name)
        package.__path__ = [os.path.join(source, *name.split("."))]  # noqa: PTH118 - pathlib is slow to load
        sys.modules[name] = package
    from retinue.adapters.sheets.child.program import main as read

    read(*arguments)


if __name__ == "__main__":
    main()
