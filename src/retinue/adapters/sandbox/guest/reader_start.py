"""Starts a process that reads one file: `python -I -S reader_start.py SOURCE LIBRARIES PROGRAM PARENT …`.

PROGRAM is a module such as `retinue.adapters.sheets.child.program`; its `main` gets the arguments after it.
"""

import importlib
import os
import sys
from types import ModuleType


def main() -> None:
    # uvloop passes on every inheritable descriptor of the server.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    source, libraries, program, *arguments = sys.argv[1:]
    sys.path += [source, *libraries.split(os.pathsep)]
    # Importing these packages normally would load the server's side of them.
    for name in (program.rsplit(".", 2)[0], "retinue.adapters.sandbox"):
        package = ModuleType(name)
        package.__path__ = [os.path.join(source, *name.split("."))]  # noqa: PTH118 - pathlib is slow to load
        sys.modules[name] = package
    importlib.import_module(program).main(*arguments)


if __name__ == "__main__":
    main()
