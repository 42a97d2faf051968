"""An environment with the packages of `pip install retinue` and no others, made from those of this one."""

import os
import shutil
import sys
import venv
from importlib import metadata
from importlib.util import cache_from_source
from pathlib import Path

from scripts.installed_sizes import packages


def make_base_environment(folder: Path) -> Path:
    """Return its Python; the files are hard links where the folder is on the same disk."""
    venv.create(folder, symlinks=True)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    target = folder / "lib" / version / "site-packages"
    for name in packages():
        for file in metadata.distribution(name).files or ():
            # Programs stand outside of the folder of packages.
            if ".." not in file.parts and file.suffix != ".pyc":
                source = Path(str(file.locate()))
                _link(source, target / file)
                # What is compiled already makes the first start as fast as a second one.
                compiled = Path(cache_from_source(str(source)))
                if source.suffix == ".py" and compiled.exists():
                    _link(compiled, Path(cache_from_source(str(target / file))))
    return folder / "bin" / "python"


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
