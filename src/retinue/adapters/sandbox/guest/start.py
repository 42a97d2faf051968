"""Runs a program in this folder, wherever the folder is mounted: `python -I -B start.py NAME`."""

import importlib.util
import sys
from pathlib import Path


def main() -> None:
    here = Path(__file__).parent
    spec = importlib.util.spec_from_file_location(
        "retinue_guest", here / "__init__.py", submodule_search_locations=[str(here)]
    )
    assert spec
    assert spec.loader
    package = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = package
    spec.loader.exec_module(package)
    importlib.import_module(f"{spec.name}.{sys.argv[1]}").main()


if __name__ == "__main__":
    main()
